"""The documentation: Markdown pages, shown at `/help` of every table and built as a site by MkDocs (`mkdocs.yml`)."""

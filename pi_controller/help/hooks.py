"""MkDocs hooks: the order of the pages from the index, pages from outside of `pages/`, links between them."""

from __future__ import annotations

import posixpath
from typing import Any

from mkdocs.structure.files import File

from pi_controller.help.contents import INDEX, list_files, list_pages, list_sections, read_page, rewrite_links


def uri_of(source: str) -> str:
    """Return the path of the page `source` in the site: a README is the index of its folder."""
    address = next(page.address for page in list_pages().values() if page.source == source)
    return f"{address}/index.md".lstrip("/") if source.endswith("README.md") or source == INDEX else f"{address}.md"


def on_config(config: Any) -> Any:
    """Set the navigation to the sections of the index."""
    sections = (
        {section.title: [{page.title: uri_of(page.source)} for page in section.pages]} for section in list_sections()
    )
    config.nav = [{"Help": "index.md"}, *sections]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not in the folder `pages`, and the pictures of all pages."""
    there = {file.src_uri for file in files}
    for page in list_pages().values():
        uri = uri_of(page.source)
        if uri not in there:
            files.append(File.generated(config, uri, content=read_page(page.source)))
    for path, file in list_files().items():
        files.append(File.generated(config, path, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead the links of a page to the site's own paths."""
    sources = {uri_of(one.source): one.source for one in list_pages().values()}
    uris = {source: uri for uri, source in sources.items()}
    here = page.file.src_uri

    def target_of(path: str) -> str | None:
        uri = uris.get(path) or (path if path in list_files() else None)
        return posixpath.relpath(uri, posixpath.dirname(here)) if uri else None

    return rewrite_links(sources[here], markdown, target_of)

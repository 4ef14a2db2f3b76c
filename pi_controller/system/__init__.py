"""Install a table on a machine: service, device rules, first settings; with a preview of all changes and an undo."""

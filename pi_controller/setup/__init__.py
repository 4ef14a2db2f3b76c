"""Installs a table on a machine: service, device rules, first settings; shows it all first and can take it back."""

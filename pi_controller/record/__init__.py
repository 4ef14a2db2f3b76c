"""The record: one open text file for a played game, readable and writable by hand."""

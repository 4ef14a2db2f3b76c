"""The machine that a table runs on: its files, its health, its places, and how it tells that it runs."""

"""Putting the firmware on a board, and looking which boards there are."""

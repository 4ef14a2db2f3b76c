"""Bageswin, the fish game."""

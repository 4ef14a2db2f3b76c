"""Slahal (Lahal), the bone game."""

"""Sensor recordings: every reading of a table in one file, replayed bit for bit, and scored against the truth."""

"""Sensor recordings: every reading of a table in one file, told again bit for bit, and scored against the truth."""

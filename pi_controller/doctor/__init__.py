"""Diagnostics: checks every part of a table and says whether it is well, and what to do if not."""

"""Looks at everything a table is made of and says of each part whether it is well, and what to do if not."""

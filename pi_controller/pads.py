"""How many pads a mat has. They lie in a row, numbered from the left of those at its near edge."""

PADS = 4
EVERY_PAD = (1, 2, 3, 4)
"""Their numbers."""

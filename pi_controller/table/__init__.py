"""The table: journal first, then show. The journal is the game."""

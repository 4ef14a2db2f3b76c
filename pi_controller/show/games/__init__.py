"""The light scenes of the games that are told by their score sheet: one module a game, view and time in, rows out."""

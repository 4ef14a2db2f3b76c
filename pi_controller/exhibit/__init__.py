"""The installation that a cultural centre leaves running: visitors play by themselves, with the mat or each other."""

"""The games, one folder each: rules, referee, display, console and simulated players. Copy one to add a game."""

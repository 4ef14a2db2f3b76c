"""How each game is shown, a module a game: its words, its lights, its lines in a terminal, its sentences."""

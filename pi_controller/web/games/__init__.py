"""Each game on the pages, a module a game: `PAGE`, a `GamePage`, and the template of its table beside it."""

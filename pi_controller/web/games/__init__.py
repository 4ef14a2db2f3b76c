"""Each game on the page, a module a game: `table` makes its table as HTML of a view and a language."""

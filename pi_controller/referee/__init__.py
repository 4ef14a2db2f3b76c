"""The story of a hide: mat events and the judge's word -> actions of the game, fouls and questions."""

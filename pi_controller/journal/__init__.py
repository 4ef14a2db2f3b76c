"""The journal of a game: every fact in order, on disk before anyone sees it; replay, export and recovery read it."""

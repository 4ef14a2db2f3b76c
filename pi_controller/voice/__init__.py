"""Audio of a table: the words called, as a community recorded them, and spoken sentences only where asked for."""

"""Builds a table or an installation from its settings and runs it: the only place that reads clocks and waits."""

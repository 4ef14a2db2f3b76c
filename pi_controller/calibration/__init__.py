"""Measures a mat with somebody beside it, step by step, and keeps what it found as a profile that a table can use."""

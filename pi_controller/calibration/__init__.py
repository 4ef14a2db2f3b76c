"""Guided calibration of a mat, step by step; it produces a profile that a table can use."""

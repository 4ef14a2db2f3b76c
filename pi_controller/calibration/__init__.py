"""Guided calibration of a mat, step by step; the result is a profile that a table can use."""

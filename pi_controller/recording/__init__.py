"""Sensor recordings: stores every reading of a table in one file, replays it bit for bit, and scores detectors."""

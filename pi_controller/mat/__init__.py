"""The feel of the mat: samples -> what happened on it. Knows no game."""

"""Simulated mat and players, each with recorded ground truth. It must never be the only evidence."""

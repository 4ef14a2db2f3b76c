"""Simulated mat and players, each with ground truth on record. It must never be the only evidence."""

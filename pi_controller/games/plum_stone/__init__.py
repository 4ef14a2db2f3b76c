"""The plum stone game."""

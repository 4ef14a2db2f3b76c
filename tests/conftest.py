"""Shared by all tests: hypothesis without deadlines, for cores here are slow and shared."""

from hypothesis import settings

settings.register_profile("mat", deadline=None)
settings.load_profile("mat")

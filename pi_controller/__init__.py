"""Controller of an instrumented mat for the Moccasin Game."""

__version__ = "0.2.0"

"""Choose how many cases a slow test takes: few by day, all of them if `MOCCASIN_NIGHTLY` is 1."""

import os

import pytest

NIGHTLY = os.environ.get("MOCCASIN_NIGHTLY") == "1"
by_night = pytest.mark.skipif(not NIGHTLY, reason="a slow test: MOCCASIN_NIGHTLY=1 runs it")
"""Marks a slow test that has a quicker one beside it."""


def cases(few: int, nightly: int) -> int:
    """Return `few`, which must still find a fault planted in what is tested, or `nightly`."""
    return nightly if NIGHTLY else few

"""Choose how many cases a slow test takes: few by day, all of them if `MOCCASIN_NIGHTLY` is 1."""

import os

NIGHTLY = os.environ.get("MOCCASIN_NIGHTLY") == "1"


def cases(few: int, nightly: int) -> int:
    """Return `few`, which must still find a fault planted in what is tested, or `nightly`."""
    return nightly if NIGHTLY else few

"""Choose how many cases a test takes: few by day, all of them with `--all`. Import it only from test modules."""

import os

ALL_CASES = os.environ.get("MOCCASIN_ALL") == "1"
"""True with pytest's `--all` (see `tests/conftest.py`)."""


def cases(few: int, every: int) -> int:
    """Return `few`, which must still find a fault planted in what is tested, or `every` with `--all`."""
    return every if ALL_CASES else few

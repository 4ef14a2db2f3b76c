"""What a test needs of the machine."""

import os

import pytest


def need(found, missing):
    """Return `found`; without it skip, saying what is `missing`, but fail if MOCCASIN_CI says that it must be there."""
    if found:
        return found
    if os.environ.get("MOCCASIN_CI"):
        pytest.fail(missing)
    pytest.skip(missing)

"""Fixtures of the link's tests."""

import pytest
from board_rig import Rig


@pytest.fixture
def rig():
    """Board and session in virtual time."""
    return Rig()

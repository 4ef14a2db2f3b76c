"""Fixtures of the link's tests."""

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture
def loader():
    """Load a module by its path in the tree."""
    spec = importlib.util.spec_from_file_location("rig", Path(__file__).with_name("rig.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load


@pytest.fixture
def rig(loader):
    """Board and session in virtual time."""
    return loader("tests/link/rig.py").Rig()

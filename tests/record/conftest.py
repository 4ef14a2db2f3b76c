"""Makers of records for the tests."""

import importlib.util
import sys
from pathlib import Path

import pytest

from pi_controller.record.file import read, write


@pytest.fixture(scope="session")
def fuzz():
    """Return the fuzzer's module."""
    spec = importlib.util.spec_from_file_location("fuzz_record", Path(__file__).with_name("fuzz_record.py"))
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


@pytest.fixture
def canonical():
    """`canonical(text)`: the body's lines as they are written again, and what was wrong."""

    def run(body, head="Game: dakota\n"):
        record = read((head + body).encode())
        lines = write(record).partition("\n\n")[2].splitlines()
        assert lines.pop().startswith("end")
        return [line.strip() for line in lines], [(fault.line, fault.message) for fault in record.faults]

    return run

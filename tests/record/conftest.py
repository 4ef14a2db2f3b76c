"""Makers of records for the tests."""

import pytest
from load_file import load_file

from pi_controller.record.file import read
from pi_controller.record.writing import write


@pytest.fixture(scope="session")
def fuzz():
    """Return the fuzzer's module."""
    return load_file("tests/record/fuzz_record.py")


@pytest.fixture
def canonical():
    """`canonical(text)`: the body's lines as they are written again, and what was wrong."""

    def run(body, head="Game: dakota\n"):
        record = read((head + body).encode())
        lines = write(record).partition("\n\n")[2].splitlines()
        assert lines.pop().startswith("end")
        return [line.strip() for line in lines], [(fault.line, fault.message) for fault in record.faults]

    return run

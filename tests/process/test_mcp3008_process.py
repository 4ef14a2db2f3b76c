"""The converter on gpiozero's mock pins, and its reader as the process it is."""

import sys
import time

import pytest

from pi_controller.board.chips import ReaderProcess
from pi_controller.errors import PortError

TELLS = """
import os, struct, time
t = time.monotonic()
os.write(1, b"".join(struct.pack("<dd4H", t + n / 1000, t + n / 1000, n, 2, 3, 4) for n in range(100)) + b"half")
time.sleep(60)
"""


def test_reader_process_delivers_whole_records_in_table_time():
    reader = ReaderProcess(lambda: time.monotonic() + 1000.0, (sys.executable, "-c", TELLS))
    try:
        scans = reader.take()
        while not len(scans):
            reader.wait(10.0)
            scans = reader.take()
        assert scans["counts"][:, 0].tolist() == list(range(len(scans)))
        assert abs(scans["began"][0] - time.monotonic() - 1000.0) < 20.0
        assert len(reader.take()) == 0
    finally:
        reader.close()
        reader.close()
    assert reader.process.returncode is not None


def ended(reader):
    def to_the_end():
        for _ in range(100):
            reader.wait(10.0)
            reader.take()

    with pytest.raises(PortError) as error:
        to_the_end()
    reader.close()
    return error.value


def test_the_real_reader_says_why_it_has_ended(monkeypatch):
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")  # pins with no chip on them
    error = ended(ReaderProcess(time.monotonic))
    assert (error.message, "GPIO8" in error.hint) == ("the MCP3008 does not answer", True)


def test_failed_reader_error_gives_its_last_line():
    error = ended(ReaderProcess(time.monotonic, (sys.executable, "-c", "raise SystemExit('no more')")))
    assert "has ended: no more" in error.message


def test_a_reader_that_is_not_there():
    with pytest.raises(PortError, match="cannot be started"):
        ReaderProcess(time.monotonic, ("/nowhere/python",))

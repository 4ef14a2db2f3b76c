"""The program `load.py` with few tables, for a second."""

import pytest
from brokers import needs_mosquitto
from load_file import load_file

program = load_file("tests/hub/load.py")
RATE = 30


@needs_mosquitto
@pytest.mark.slow
def test_load_count_ending_during_hide_loses_no_record(tmp_path):
    def played(count):
        folder = tmp_path / str(count)
        folder.mkdir()
        return len(program.played(folder, count)[0])

    count, sent = next((n, sent) for n in range(RATE, 2 * RATE) if (sent := played(n)) < n)
    figures = program.load(tmp_path, 2, RATE, (count + 0.5) / RATE, 0.7)
    assert program.whole(figures), figures
    assert figures["games"] == 2
    assert figures["records"] == 2 * sent

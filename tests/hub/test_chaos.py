"""The kills of `chaos.py`, fewer of them."""

import pytest
from brokers import needs_mosquitto
from load_file import load_file

program = load_file("tests/hub/chaos.py")

pytestmark = needs_mosquitto


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_kills_lose_and_duplicate_no_record(tmp_path):
    figures = program.chaos(tmp_path, tables=2, kills=6, every_s=0.1, seed=2)
    assert program.whole(figures), figures
    assert min(figures["kills"].values()) > 0
    assert figures["records"] > 0

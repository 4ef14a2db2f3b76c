"""A small tournament played whole by `whole_tournaments.py`: simulated sensors, and a browser for everybody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from headless import CHROMIUM

PROGRAM = Path(__file__).with_name("whole_tournaments.py")

if CHROMIUM is None and os.environ.get("MOCCASIN_CI"):
    raise RuntimeError("Chromium is missing: apt install chromium")


@pytest.mark.slow  # test_demo.py has one without people
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the path")
def test_small_tournament_runs_from_plan_to_champion():
    small = ["--teams", "4", "--tables", "1", "--points", "1", "--limit", "500"]
    done = subprocess.run(
        [sys.executable, PROGRAM, "dakota", *small], capture_output=True, text=True, check=False, timeout=560
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    for happened in ("has won", "protests 1", "withdrawn 1", "undone 1", "tables taken out 1"):
        assert happened in done.stdout

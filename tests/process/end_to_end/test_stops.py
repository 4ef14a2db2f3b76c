"""A signal ends the table, whenever it comes."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_signal_during_wait_ends_the_loop():
    command = [sys.executable, Path(__file__).with_name("stops.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

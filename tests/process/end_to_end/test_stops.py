"""A signal ends the table, whenever it comes.

`python tests/process/end_to_end/stops.py --stops 2000 --processes 40` sends as many as one likes.
"""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_signal_during_wait_ends_the_loop():
    command = [sys.executable, Path(__file__).with_name("stops.py"), "--stops", "300"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("300 loops stopped")

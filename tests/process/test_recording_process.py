"""A recording of a program that is killed."""

import os
import signal
import subprocess
import sys
import time

import pytest
from cases import cases

from pi_controller.recording.entries import StepBegan
from pi_controller.recording.store import Recording


def begun(recording):
    return [entry.t for entry in recording.entries() if isinstance(entry, StepBegan)]


CHILD = """
import sys
from pathlib import Path
from pi_controller.recording.entries import Header, RecordingGap, StepBegan, StepEnded, pack
from pi_controller.recording.store import create_recording
import random
file = create_recording(Path(sys.argv[1]), Header(7.0))
filler = random.Random(1).randbytes(30_000).hex()
n = 0
while True:
    for _ in range(4):
        file.add([pack([StepBegan(float(n)), StepEnded(), RecordingGap(0.0, 0.0, filler)])])
        n += 1
    file.commit()
    print(n, flush=True)
"""


@pytest.mark.parametrize("after", [1, 2, 5, 9, 14][:: cases(2, 1)])
def test_a_killed_program_leaves_every_committed_block(tmp_path, after):
    path = tmp_path / "x.sensors"
    with subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True) as child:
        for _ in range(after):
            done = int(child.stdout.readline())
        time.sleep(0.0007 * after)  # at any moment of a commit
        os.kill(child.pid, signal.SIGKILL)
        told = child.stdout.read().split()
    done = int(told[-1]) if told else done
    read = begun(Recording(path))
    assert read == [float(n) for n in range(len(read))]
    assert done <= len(read) <= done + 4
    assert len(read) % 4 == 0

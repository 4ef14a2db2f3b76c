"""A recording survives what happens to files: killed programs, readers meanwhile, damaged bytes, other programs."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from pi_controller.recording.format import Header, StepBegan, StepEnded, pack
from pi_controller.recording.store import Recording, RecordingWriter

BLOCKS = [pack([StepBegan(float(n)), StepEnded()], 30.0) for n in range(5)]


def begun(recording):
    return [entry.t for entry in recording.entries() if isinstance(entry, StepBegan)]


def test_open_reader_delays_commit_without_blocking_writer(tmp_path):
    with closing(RecordingWriter(tmp_path / "x.sensors", Header(7.0))) as file:
        file.add(BLOCKS[0])
        assert file.commit()
        with closing(sqlite3.connect(file.path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM blocks").fetchall()
            file.add(BLOCKS[1])
            began = time.perf_counter()
            assert not file.commit()
            assert time.perf_counter() - began < 0.1
            reader.execute("COMMIT")
        assert file.commit()
        entries = Recording(file.path).entries()
        next(entries)  # a recording that is being read keeps no lock
        file.add(BLOCKS[2])
        assert file.commit()
        assert begun(Recording(file.path)) == [0.0, 1.0, 2.0]


CHILD = """
import sys
from pathlib import Path
from pi_controller.recording.format import Header, StepBegan, StepEnded, pack
from pi_controller.recording.store import RecordingWriter
import random
file = RecordingWriter(Path(sys.argv[1]), Header(7.0))
filler = random.Random(1).randbytes(60_000)
n = 0
while True:
    for _ in range(4):
        file.add(pack([StepBegan(float(n)), StepEnded()], 30.0) + filler)
        n += 1
    file.commit()
    print(n, flush=True)
"""


@pytest.mark.parametrize("after", [1, 2, 5, 9, 14])
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

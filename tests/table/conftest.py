import random
import sqlite3
import subprocess
from contextlib import closing, suppress
from functools import partial

import pytest

from pi_controller.journal.journal import MemoryJournal
from pi_controller.referee.base import referee_for
from pi_controller.referee.judge import JudgeAction, JudgeUndo
from pi_controller.rules.registry import game
from pi_controller.table.table import Table


@pytest.fixture(scope="session")
def memory_journal():
    return partial(MemoryJournal, token=bytes)


@pytest.fixture
def small_disk(tmp_path):
    """A folder that is a disk of 800 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=800k", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can only be mounted by root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def fill():
    """Fill the disk by a file: `fill(small_disk / "photos")`."""

    def run(path):
        with path.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1024))

    return run


OLD_SCHEMA = """
CREATE TABLE facts(
  seq INTEGER PRIMARY KEY, batch INTEGER NOT NULL, t REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL
);
CREATE TRIGGER facts_stay BEFORE UPDATE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER facts_remain BEFORE DELETE ON facts BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
CREATE TRIGGER facts_follow BEFORE INSERT ON facts
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM facts)
  OR NEW.batch < (SELECT coalesce(max(batch), 1) FROM facts)
BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END;
PRAGMA application_id = 0x4D4D4154; PRAGMA user_version = 1;
"""


@pytest.fixture(scope="session")
def play_on():
    """Play a game of dakota in the journal, by the judge's word: some legal actions, now and then one taken back."""

    def play(journal, actions, seed=1, t=1000.0):
        chance, dakota = random.Random(seed), game("dakota", {"points": 50})
        table = Table(journal, dakota, {"A": "Red", "B": "Blå"}, referee_for(dakota, None, bytes), t)
        for n in range(1, actions + 1):
            if n % 40 == 0:
                table.judge(JudgeUndo(t + n, "misread"))
            else:
                legal = [
                    action for action in dakota.legal_actions(table.story.state) if n % 5 or action["do"] == "foul"
                ]
                action = chance.choice(legal or dakota.legal_actions(table.story.state))
                if action["do"] == "foul":
                    action = {"hide": "this", **action}  # between two hides the judge says in which
                table.judge(JudgeAction(t + n, action))
        return table

    return play


@pytest.fixture(scope="session")
def as_version_1():
    """Write the records of the journal at `path` as version 1 of the program would have, to `old`."""

    def write(path, old):
        with closing(sqlite3.connect(path)) as db:
            rows = db.execute("SELECT seq, batch, t, kind, body FROM facts").fetchall()
        with closing(sqlite3.connect(old)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(OLD_SCHEMA)
            with db:
                db.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?)", rows)
        return rows

    return write

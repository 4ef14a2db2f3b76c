"""A journal of version 1 goes on in this version: nothing is lost, the old one is kept, and no cut harms it."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from cases import cases

from pi_controller.errors import JournalError
from pi_controller.journal import journal as module
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import LinkSeen


@pytest.fixture
def old(tmp_path, play_on, as_version_1):
    """Return the path of a journal of version 1 and its rows."""
    with Journal(tmp_path / "made") as journal:
        play_on(journal, 6)
    path = tmp_path / "old" / "table.sqlite"
    path.parent.mkdir()
    return path, as_version_1(tmp_path / "made", path)


def plain(path):
    with Journal(path, read_only=True) as journal:
        return [tuple(row)[:5] for row in journal.rows()]


def test_looked_at_it_is_read_as_it_is(old):
    path, rows = old
    before = path.read_bytes()
    assert plain(path) == rows
    with Journal(path, read_only=True) as journal:
        assert journal.head == (len(rows), "")
        assert journal.meta is None
    found = verify_journal(path)
    assert (found.whole, found.chained, found.records) == (True, False, len(rows))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_migration_adds_chain_and_backs_up_version_1(old):
    path, rows = old
    before = path.read_bytes()
    with Journal(path) as journal:
        assert journal.seq == len(rows)
        assert journal.meta.origin == "a journal of version 1"
        assert journal.meta.created == rows[0][2]
        journal.append([LinkSeen(5000.0, up=True)])
    assert plain(path)[:-1] == rows
    assert verify_journal(path).whole
    copy = path.with_name("table.v1.sqlite")
    assert plain(copy) == rows
    with closing(sqlite3.connect(copy)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
    assert {one.name for one in path.parent.iterdir()} == {"table.sqlite", "table.v1.sqlite", "table.sqlite.lock"}
    assert before != path.read_bytes()


def test_migration_includes_log_of_killed_writer(old, tmp_path):
    path, rows = old
    killed = tmp_path / "killed.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        more = (len(rows) + 1, rows[-1][1] + 1, 9000.0, "link", '{"kind":"link","t":9000.0,"up":true}')
        db.execute("INSERT INTO facts VALUES (?, ?, ?, ?, ?)", more)
        shutil.copy(path, killed)
        shutil.copy(path.with_name("table.sqlite-wal"), tmp_path / "killed.sqlite-wal")
    with Journal(killed) as journal:
        assert journal.seq == len(rows) + 1
    assert plain(killed) == [*rows, more]
    assert plain(tmp_path / "killed.v1.sqlite") == [*rows, more]


def test_an_older_copy_is_never_replaced(old):
    path, rows = old
    copy = path.with_name("table.v1.sqlite")
    copy.write_text("somebody's notes")
    Journal(path).close()
    assert copy.read_text() == "somebody's notes"
    assert plain(path.with_name("table.v1-2.sqlite")) == rows


def test_a_damaged_one_is_left_as_it_is(old):
    path, _ = old
    path.write_bytes(path.read_bytes()[:-4096])
    before = path.read_bytes()
    with pytest.raises(JournalError, match="damaged"):
        Journal(path)
    assert path.read_bytes() == before


def test_one_that_somebody_holds_waits(old):
    path, rows = old
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM facts").fetchone()
        with pytest.raises(JournalError, match="another program is using it"):
            Journal(path)
    with Journal(path) as journal:
        assert journal.seq == len(rows)


KILL_AT_LINES = """
import os, shutil, sys
from pathlib import Path
from pi_controller.journal.journal import Journal
SKIPPED = ("_run", "open_read_only", "rows", "identity")
path, step, modules = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]

def opened(at):
    lines = 0
    def trace(frame, event, arg):
        nonlocal lines
        if frame.f_code.co_filename not in modules or frame.f_code.co_name in SKIPPED:
            return None
        if event == "line":
            lines += 1
            if lines == at:
                os._exit(9)
        return trace
    sys.settrace(trace)
    Journal(path.with_name(f"at{at}") / path.name)

at = 1
while True:
    shutil.copytree(path.parent, path.with_name(f"at{at}"), ignore=shutil.ignore_patterns("at*"))
    if (child := os.fork()) == 0:
        opened(at)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
    at += step
print(at)
"""


@pytest.mark.slow
def test_kill_at_any_line_leaves_one_whole_journal(old):
    path, rows = old
    step = cases(7, 1)
    home = Path(module.__file__).parent
    lines = [str(home / name) for name in ("journal.py", "file.py")]
    command = [sys.executable, "-c", KILL_AT_LINES, str(path), str(step), *lines]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    steps = int(done.stdout)
    assert steps > 60
    seen = set()
    for at in range(1, steps, step):
        left = path.with_name(f"at{at}") / path.name
        with closing(sqlite3.connect(f"{left.as_uri()}?mode=ro", uri=True)) as db:
            seen.add(db.execute("PRAGMA user_version").fetchone()[0])
        assert plain(left) == rows
        with Journal(left) as journal:
            journal.append([LinkSeen(9000.0, up=True)])
        assert verify_journal(left).whole
        assert plain(left.with_name("table.v1.sqlite")) == rows
    assert seen == {1, 2}


OLD_TRIGGER = """\
CREATE TRIGGER facts_follow BEFORE INSERT ON facts
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM facts)
  OR NEW.batch < (SELECT coalesce(max(batch), 1) FROM facts)
BEGIN SELECT RAISE(ABORT, 'the journal is append only'); END"""


def trigger(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT sql FROM sqlite_master WHERE name = 'facts_follow'").fetchone()[0]


def test_old_trigger_is_replaced_on_opening(tmp_path, play_on):
    path, fresh = tmp_path / "older.sqlite", tmp_path / "fresh.sqlite"
    with Journal(path) as journal:
        play_on(journal, 6)
        head = journal.head
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TRIGGER facts_follow")
        db.execute(OLD_TRIGGER)
    before = path.read_bytes()
    with Journal(path, read_only=True) as journal:
        assert journal.head == head
    assert path.read_bytes() == before, "who only looks changes nothing"
    with Journal(path) as journal, Journal(fresh):
        assert journal.head == head
        journal.append([LinkSeen(5000.0, up=True)])
    assert trigger(path) == trigger(fresh) != OLD_TRIGGER
    assert verify_journal(path).whole


def test_append_cost_is_independent_of_journal_length(tmp_path):
    """The steps of SQLite's machine for one append are as many after 60 records as after 600."""
    steps = []
    with Journal(tmp_path / "game.sqlite") as journal:
        for _ in range(2):
            while journal.seq < 60 * 10 ** len(steps):
                journal.append([LinkSeen(1.0, up=True)] * 20)
            count = []
            journal.database().set_progress_handler(partial(count.append, 1), 1)
            journal.append([LinkSeen(1.0, up=True)])
            journal.database().set_progress_handler(None, 0)
            steps.append(len(count))
    assert steps[0] > 10
    assert steps[1] < steps[0] + 10


@pytest.mark.parametrize(("seq", "batch"), [(3, 2), (1, 3), (2, 1), (None, 2), (-1, 2)])
def test_out_of_sequence_record_is_refused_by_trigger(tmp_path, seq, batch):
    with Journal(tmp_path / "game.sqlite") as journal:
        journal.append([])
        journal.append([LinkSeen(1.0, up=True)])
        (first,) = journal.rows()
        assert (first.seq, first.batch) == (1, 2)
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            journal.database().execute("INSERT INTO facts VALUES (?, ?, 1.0, 'link', '{}', '')", (seq, batch))

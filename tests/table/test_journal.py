"""The journal is the game: what it took is there whole, nothing is ever changed, and every failure says what to do."""

import errno
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from pi_controller.errors import DamagedJournalError, JournalError
from pi_controller.journal import file
from pi_controller.journal.chain import JournalRow, next_hash
from pi_controller.journal.file import APPLICATION_ID, DISK_FULL_HINT, advice, disk_full, insert
from pi_controller.journal.journal import Journal, MemoryJournal
from pi_controller.referee.facts import (
    ActionPlayed,
    Answer,
    BeadShown,
    Commit,
    CommitmentWithdrawn,
    FoulSeen,
    GameOpened,
    HandPass,
    HideAgain,
    LinkSeen,
    Question,
    Ready,
    Reveal,
    StrikeFelt,
    Undone,
)

OPENED = GameOpened(0.0, "dakota", "1", "booklet", {"points": 5, "hit_seconds": None}, {"A": "Red", "B": "Blå"})
EVERY_KIND = [
    [OPENED],
    [LinkSeen(0.5, up=True)],
    [ActionPlayed(1.0, {"do": "toss", "winner": "A"}, (), "sensor")],
    [HandPass(2.0, 1, 2.0)],
    [Ready(3.0), Commit(3.0, 1, "ab" * 32)],
    [StrikeFelt(4.0, (2, 3), 7.5), Question(4.0, "two_struck", ("2", "3", "none"), (2, 3))],
    [Answer(5.0, "two_struck", "2"), ActionPlayed(5.0, {"do": "hit", "found": True, "pad": 2}, ("x",), "judge")],
    [Reveal(5.0, 1, 2, "cd" * 32), BeadShown(6.0)],
    [FoulSeen(6.5, "no_bead", "hider"), CommitmentWithdrawn(7.0, "because")],
    [HideAgain(8.0, "restart", "restart")],
    [Undone(9.0, 3, "judge", "misread", 2)],
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "game.sqlite"


def filled(path, batches=EVERY_KIND):
    with Journal(path) as journal:
        for facts in batches:
            journal.append(facts)
    return path


def slip_in(path, row):
    """Write a record as another program would that knows the chain."""
    with closing(sqlite3.connect(path)) as db, db:
        (last,) = db.execute("SELECT hash FROM facts ORDER BY seq DESC LIMIT 1").fetchone()
        insert(db, [row._replace(hash=next_hash(last, row))])


def pairs(batches):
    return [(number, fact) for number, facts in enumerate(batches, 1) for fact in facts]


def test_journal_returns_every_fact_as_appended(path):
    with Journal(path) as journal:
        assert [journal.append(facts) for facts in EVERY_KIND] == list(range(1, len(EVERY_KIND) + 1))
        assert list(journal.read()) == pairs(EVERY_KIND)
    with Journal(path) as journal:
        assert list(journal.read()) == pairs(EVERY_KIND)
        assert (journal.seq, journal.batch) == (len(pairs(EVERY_KIND)), len(EVERY_KIND))
        assert journal.read_opening() == OPENED
        assert list(journal.read(to=3)) == pairs(EVERY_KIND)[:3]
        assert journal.append([Ready(10.0)]) == len(EVERY_KIND) + 1


def test_every_commit_is_on_disk_before_it_counts(path):
    with Journal(path) as journal:
        db = journal.database()
        assert db.execute("PRAGMA journal_mode").fetchone() == ("truncate",)
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)


def test_killed_writer_has_written_every_acknowledged_batch(path):
    code = (
        "import sys, os, signal; from pi_controller.journal.journal import Journal; "
        "from pi_controller.referee.facts import Ready; j = Journal(sys.argv[1]);\n"
        "for n in range(40):\n"
        "    j.append([Ready(float(n)), Ready(n + 0.5)]); print(n, flush=True)\n"
        "    if n == 25: os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    acknowledged = len(done.stdout.split())
    with Journal(path) as journal:
        assert journal.batch == acknowledged == 26
        assert journal.seq == 52


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET body = '{}' WHERE seq = 1",
        "DELETE FROM facts",
        "INSERT OR REPLACE INTO facts VALUES (2, 1, 0, 'shown', '{}', '')",
        "INSERT INTO facts VALUES (99, 99, 0, 'shown', '{}', '')",
        "INSERT INTO facts VALUES (3, 1, 0, 'shown', '{}', '')",
        "UPDATE meta SET value = '' WHERE key = 'epoch'",
        "DELETE FROM meta",
        "INSERT INTO meta VALUES ('winner', 'A')",
    ],
)
def test_statements_changing_records_or_meta_are_refused(path, statement):
    filled(path, EVERY_KIND[:2])
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append only"):
        db.execute(statement)
    db.close()


def test_two_tables_cannot_write_one_journal(path):
    with Journal(path), pytest.raises(JournalError, match="another table is writing"):
        Journal(path)
    Journal(path).close()


def test_two_processes_cannot_write_one_journal(path):
    code = "import sys; from pi_controller.journal.journal import Journal; Journal(sys.argv[1])"
    with Journal(path):
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert "another table is writing" in done.stderr


def test_append_to_a_locked_journal_is_refused(path, monkeypatch):
    monkeypatch.setattr(file, "WRITE_WAIT_S", 0.1)
    with Journal(path) as journal:
        journal.append([OPENED])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match="another program is using it"):
            journal.append([Ready(1.0)])
        other.execute("ROLLBACK")
        other.close()
        assert journal.append([Ready(1.0)]) == 2
        assert list(journal.read()) == [(1, OPENED), (2, Ready(1.0))]


def test_another_program_wrote_to_it(path):
    with Journal(path) as journal:
        journal.append([OPENED])
        slip_in(path, JournalRow(2, 2, 1.0, "ready", '{"kind":"ready","t":1.0}'))
        for _ in range(2):
            with pytest.raises(JournalError, match="does not follow the last one"):
                journal.append([Ready(2.0)])
        journal.reopen()
        assert journal.append([Ready(2.0)]) == 3
        assert [fact for _, fact in journal.read()] == [OPENED, Ready(1.0), Ready(2.0)]


def test_full_disk_writes_no_part_of_batch(path):
    with Journal(path) as journal:
        journal.append([OPENED])
        db = journal.database()
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
        with pytest.raises(JournalError, match="disk is full") as error:
            journal.append([CommitmentWithdrawn(float(n), "x" * 500) for n in range(50)])
        assert error.value.hint
        assert (journal.seq, journal.batch) == (1, 1)
        assert list(journal.read()) == [(1, OPENED)]
        db.execute("PRAGMA max_page_count = 1000000")
        journal.reopen()
        assert journal.append([Ready(1.0)]) == 2


def test_refused_write_writes_no_part_of_batch(path):
    """A limit on the size of files is the nearest to a disk that is full in the middle of a write."""
    code = (
        "import sys, resource; from pi_controller.journal.journal import Journal; from pi_controller.errors import *\n"
        "from pi_controller.referee.facts import CommitmentWithdrawn, Ready\n"
        "j = Journal(sys.argv[1]); j.append([Ready(0.0)])\n"
        "soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60000, hard))\n"
        "n = 1\n"
        "try:\n"
        "    while n < 1000: j.append([CommitmentWithdrawn(float(n), 'x' * 300)] * 5); n += 1\n"
        "except JournalError as error: print(n, error.message)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard)); j.reopen()\n"
        "assert j.batch == n, (j.batch, n)\n"
        "j.append([Ready(1.0)]); print('well', len(list(j.read())) == 1 + 5 * (n - 1) + 1)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert "it cannot be written: the disk" in done.stdout, done.stdout + done.stderr
    assert "well True" in done.stdout, done.stdout + done.stderr


@pytest.fixture
def public_folder():
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_write_protected_file_is_refused_for_writing(public_folder, as_nobody):
    path = filled(public_folder / "game.sqlite")
    path.chmod(0o444)
    (public_folder / "game.sqlite.lock").chmod(0o666)
    public_folder.chmod(0o777)

    def open_it():
        with pytest.raises(JournalError, match="read-only"):
            Journal(path)

    as_nobody(open_it)


def test_journal_on_write_protected_medium_is_readable(public_folder, as_nobody):
    path = filled(public_folder / "game.sqlite")
    path.chmod(0o444)
    public_folder.chmod(0o555)

    def look():
        with Journal(path, read_only=True) as journal:
            return list(journal.read())

    assert as_nobody(look) == pairs(EVERY_KIND)

    def write():
        with pytest.raises(JournalError, match="cannot be opened"):
            Journal(path)

    public_folder.chmod(0o755)
    path.with_name("game.sqlite.lock").unlink()
    public_folder.chmod(0o555)
    as_nobody(write)


def test_looking_while_a_table_writes(path):
    with Journal(path) as journal:
        journal.append([OPENED])
        with Journal(path, read_only=True) as looker:
            journal.append([Ready(1.0)])
            assert list(looker.read()) == [(1, OPENED)]
            looker.reopen()
            assert [fact for _, fact in looker.read()] == [OPENED, Ready(1.0)]
            with pytest.raises(JournalError, match="read-only"):
                looker.append([Ready(2.0)])


def test_journal_of_another_version_is_refused(path):
    filled(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA application_id = {APPLICATION_ID + 1}")
    for read_only in (False, True):
        with pytest.raises(JournalError, match="another version"):
            Journal(path, read_only=read_only)


def test_another_programs_file(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE photos(id)")
    db.close()
    with pytest.raises(JournalError, match="another program"):
        Journal(path)
    path.write_text("dear diary\n" * 200)
    before = path.read_bytes()
    with pytest.raises(JournalError, match="not a journal"):
        Journal(path)
    assert path.read_bytes() == before


def test_an_empty_file_is_a_fresh_journal(path):
    path.touch()
    with Journal(path) as journal:
        assert journal.read_opening() is None
        assert journal.database().execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_an_empty_file_cannot_be_looked_at(path):
    path.touch()
    with pytest.raises(JournalError, match="it is empty"):
        Journal(path, read_only=True)


def test_io_error_is_not_called_full_disk(path):
    assert advice(path, OSError(errno.EIO, "Input/output error"), [path], "check the disk") == "check the disk"
    assert advice(path, OSError(errno.ENOSPC, "No space left"), [path], "check the disk") == DISK_FULL_HINT


@pytest.mark.parametrize("name", ["none.sqlite", "."])
def test_reading_a_missing_file_is_refused(tmp_path, name):
    with pytest.raises(JournalError, match="no such file"):
        Journal(tmp_path / name, read_only=True)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(JournalError, match="cannot be opened"):
        Journal(tmp_path / "nowhere" / "game.sqlite")


def test_truncated(path):
    filled(path, [[OPENED], *([CommitmentWithdrawn(float(n), "x" * 200)] for n in range(200))])
    whole = path.read_bytes()
    assert len(whole) > 20000
    for left in (8192, len(whole) // 2, len(whole) - 4096):
        path.write_bytes(whole[:left])
        with pytest.raises(JournalError, match="damaged"):
            Journal(path)
    path.write_bytes(whole[:-100])
    with Journal(path) as journal, pytest.raises(JournalError, match="its hash does not match"):
        list(journal.read())
    path.write_bytes(whole)
    with Journal(path) as journal:
        assert journal.batch == 201


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [("user_version", 3, "states 3 records"), ("application_id", 7, "another program")],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_reopening_refuses_a_file_another_program_took(path, name, value, error, read_only):
    filled(path, [[OPENED]])
    with Journal(path, read_only=read_only) as journal:
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA {name} = {value}")
        with pytest.raises(JournalError, match=error):
            journal.reopen()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute(f"PRAGMA {name}").fetchone() == (value,)


def test_missing_record_is_found_though_the_chain_follows(path):
    filled(path, [[OPENED]])
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TRIGGER facts_follow")
    slip_in(path, JournalRow(3, 2, 1.0, "ready", '{"kind":"ready","t":1.0}'))
    with Journal(path, read_only=True) as journal, pytest.raises(DamagedJournalError, match="record 2 is missing"):
        list(journal.read())


def test_a_record_of_another_version(path):
    filled(path, [[OPENED]])
    slip_in(path, JournalRow(2, 2, 0.0, "dance", '{"kind": "dance", "t": 0}'))
    with Journal(path) as journal, pytest.raises(JournalError, match="record 2 cannot be read"):
        list(journal.read())


@pytest.mark.parametrize(("blocks", "free", "full"), [(100, 1, True), (100, 2, False), (0, 0, False)])
def test_disk_is_full_below_two_free_pages(path, monkeypatch, blocks, free, full):
    sizes = SimpleNamespace(total=4096 * blocks, free=4096 * free)
    monkeypatch.setattr("shutil.disk_usage", lambda _: sizes)
    assert disk_full(path) is full


def test_closed(path):
    journal = Journal(path)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="closed"):
        journal.append([OPENED])


def test_memory_journal_reads_as_a_file_does(path, tmp_path, monkeypatch):
    token = b"\x07".__mul__  # n bytes of 7
    with Journal(path, created=5.0, token=token) as journal:
        for facts in EVERY_KIND:
            journal.append(facts)
        expected = (journal.meta, journal.head, journal.batch, list(journal.records()))
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    with MemoryJournal(5.0, token) as memory:
        for facts in EVERY_KIND[:-1]:
            memory.buffer_batch(facts)
        assert (memory.seq, memory.next_batch) == (0, len(EVERY_KIND))
        memory.append(EVERY_KIND[-1])
        memory.reopen()
        memory.check_file()
        assert (memory.meta, memory.head, memory.batch, list(memory.records())) == expected
        assert list(memory.read(to=3)) == [(batch, fact) for _, batch, fact in expected[-1][:3]]
    assert not list(empty.iterdir())


def test_memory_journal_drops_the_finished_game():
    with MemoryJournal() as memory:
        for facts in EVERY_KIND:
            memory.append(facts)
        first = memory.meta
        memory.rotate([(1, OPENED)], memory.archive_path(), 9.0)
        assert (memory.seq, memory.batch, list(memory.read())) == (1, 1, [(1, OPENED)])
        assert memory.meta.epoch != first.epoch
        assert memory.meta.created == 9.0

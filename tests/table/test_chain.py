"""The hash chain: what was written cannot be changed unseen, and no two journals share a chain."""

import hashlib
import sqlite3
import struct
from contextlib import closing

import pytest

from pi_controller import __version__
from pi_controller.errors import JournalError
from pi_controller.journal.chain import JournalRow, chain_rows, genesis, next_hash
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import CommitmentWithdrawn, GameOpened, Ready

OPENED = GameOpened(0.0, "dakota", "1", "booklet", {}, {"A": "Red", "B": "Blå"})


def test_hash_matches_the_documented_format():
    """Written out once more, so that somebody else could check a journal with nothing of this program."""
    before = hashlib.sha256(b"moccasin-mat journal\0" + bytes(range(16))).hexdigest()
    body = '{"kind":"void","t":-0.5,"why":"Blå"}'
    numbers = struct.pack(">q", 1) + struct.pack(">q", 7) + struct.pack(">d", -0.5)
    texts = b"".join(len(text).to_bytes(8, "big") + text for text in (b"void", body.encode()))
    own = hashlib.sha256(b"moccasin-mat record\0" + bytes.fromhex(before) + numbers + texts).hexdigest()
    assert genesis(bytes(range(16)).hex()) == before
    assert next_hash(before, JournalRow(1, 7, -0.5, "void", body)) == own


@pytest.mark.parametrize(
    "change", [{"seq": 3}, {"batch": 3}, {"t": 2.0000000000000004}, {"kind": "readyx"}, {"kind": "read", "body": "y{}"}]
)
def test_every_part_of_a_record_counts(change):
    row = JournalRow(2, 2, 2.0, "ready", "{}")
    assert next_hash("00" * 32, row._replace(**change)) != next_hash("00" * 32, row)
    assert next_hash("01" * 32, row) != next_hash("00" * 32, row)


def test_negative_zero_time_hashes_as_zero():
    """SQLite keeps no sign of a zero, so neither may the hash."""
    assert next_hash("00" * 32, JournalRow(1, 1, -0.0, "ready", "{}")) == next_hash(
        "00" * 32, JournalRow(1, 1, 0.0, "ready", "{}")
    )


def test_the_head_proves_all_before_it(tmp_path):
    path = tmp_path / "game.sqlite"
    with Journal(path, created=1_700_000_000.5, token=lambda n: bytes(range(n))) as journal:
        assert journal.head == (0, genesis(bytes(range(16)).hex()))
        heads = [journal.head]
        for facts in ([OPENED], [Ready(-0.0), CommitmentWithdrawn(1.5, "x\0y \U0001f41f")], [Ready(2e300)]):
            journal.append(facts)
            heads.append(journal.head)
        rows = list(journal.rows())
    assert len({hash_ for _, hash_ in heads}) == 4
    with Journal(path) as journal:
        assert journal.head == heads[-1] == (4, rows[-1].hash)
        assert list(chain_rows(heads[0][1], journal.rows())) == rows
        assert journal.meta == (bytes(range(16)).hex(), __version__, 1_700_000_000.5, "")
        assert len(list(journal.read())) == 4


def test_no_two_journals_share_a_chain(tmp_path):
    with Journal(tmp_path / "a") as a, Journal(tmp_path / "b") as b:
        for journal in (a, b):
            journal.append([OPENED])
        assert a.head != b.head


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE facts SET body = replace(body, 'one', 'two') WHERE seq = 3",
        "UPDATE facts SET t = 3.25 WHERE seq = 3",
        "UPDATE facts SET batch = 2 WHERE seq = 3",
        "UPDATE facts SET hash = (SELECT hash FROM facts WHERE seq = 2) WHERE seq = 3",
        "DELETE FROM facts WHERE seq = 3",
        "DELETE FROM facts WHERE seq = 3; UPDATE facts SET seq = seq - 1 WHERE seq > 3; PRAGMA user_version = 5",
        "UPDATE meta SET value = '00112233445566778899aabbccddeeff' WHERE key = 'epoch'",
    ],
)
def test_changed_record_is_detected(tmp_path, change):
    path = tmp_path / "game.sqlite"
    with Journal(path) as journal:
        journal.append([OPENED])
        for n in range(5):
            journal.append([CommitmentWithdrawn(float(n), "one")])
    with closing(sqlite3.connect(path)) as db:
        for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {trigger}")
        db.executescript(change)
        assert db.total_changes
    with Journal(path) as journal, pytest.raises(JournalError, match=r"hash does not match|is missing") as error:
        list(journal.read())
    assert "recover" in error.value.hint


@pytest.mark.parametrize(
    ("trigger", "statement", "error"),
    [
        ("facts_remain", "DELETE FROM facts WHERE seq = 2", "states 2 records and its last record is 1"),
        ("meta_remains", "DELETE FROM meta WHERE key = 'epoch'", "does not name its journal"),
    ],
    ids=["last record", "epoch"],
)
def test_removed_row_is_detected_when_opening(tmp_path, trigger, statement, error):
    path = tmp_path / "game.sqlite"
    with Journal(path) as journal:
        journal.append([OPENED])
        journal.append([CommitmentWithdrawn(1.0, "one")])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"DROP TRIGGER {trigger}")
        db.execute(statement)
    for read_only in (False, True):
        with pytest.raises(JournalError, match=error):
            Journal(path, read_only=read_only)

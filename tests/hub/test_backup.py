"""Journals written out of the hub are those of the tables; a store of yesterday is brought back, and fills up again."""

import sqlite3
from contextlib import closing

import pytest
from inbox_messages import A, events, records, take

from pi_controller.cli.hub import hub as main
from pi_controller.errors import UsageError
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Hello, SentGame
from pi_controller.hub.store import Database, StoreError
from pi_controller.hub.store_copy import back_up, restore, summarize_store, write_journals
from pi_controller.journal import file
from pi_controller.journal.verify import verify_journal


@pytest.fixture
def filled(where):
    with Inbox(where) as inbox:
        take(inbox, Hello((SentGame(A, 20),)))
        take(inbox, events(A, 1, 20))
    return where


def test_exported_journal_has_the_tables_records(filled, tmp_path):
    for _ in range(2):
        ((path, count),) = write_journals(filled, tmp_path / "out").items()
    assert (path.name, count) == (f"t01-{A}.sqlite", 20)
    with closing(file.open_read_only(path)) as db:
        assert list(file.rows(db)) == [record.row() for record in records(A, 20)]
    assert path.stat().st_mode & 0o077 == 0
    assert [one.name for one in (tmp_path / "out").iterdir()] == [path.name]


def test_restored_hub_refills_from_tables_and_journals_verify(hall, tmp_path, capsys):
    table = hall.table("t01")
    table.do("toss A", "found")
    hall.await_records(table)
    assert main(["backup", str(hall.folder), str(tmp_path / "yesterday")]) == 0  # while it runs
    yesterday = table.journal.seq
    assert f": {yesterday} records, the last of 20" in capsys.readouterr().out
    table.do("found", "missed", "found", "close B forfeit gone")
    hall.await_records(table)
    hall.stop()
    with pytest.raises(StoreError, match="exists and is not overwritten"):
        main(["restore", str(hall.folder), str(tmp_path / "yesterday")])
    for path in hall.folder.glob("hub.sqlite*"):
        path.unlink()
    assert main(["restore", str(hall.folder), str(tmp_path / "yesterday")]) == 0
    said = capsys.readouterr().out
    assert f"restored: {yesterday} records, the last of 20" in said
    assert "Later decisions are not in it" in said
    with Inbox(hall.where) as inbox:
        assert inbox.record_counts()["t01"][table.epoch] == yesterday
    hall.start()
    hall.await_records(table)
    assert hall.inbox.alarms() == []
    assert main(["journals", str(hall.folder), str(tmp_path / "out")]) == 0
    (path,) = (tmp_path / "out").iterdir()
    found = verify_journal(path)
    assert found.whole
    assert (found.head, found.origin) == (verify_journal(table.path).head, "the hub's copy")


def test_backup_is_complete_and_overwrites_no_file(tmp_path):
    with Inbox(tmp_path / "hub.sqlite") as inbox:
        take(inbox, Hello((SentGame(A, 20),)))
        take(inbox, events(A, 1, 20))
        kept = back_up(tmp_path / "hub.sqlite", tmp_path / "copy")  # its log is not written back yet
    assert (kept.records, kept.decisions) == (20, 0)
    with pytest.raises(StoreError, match="exists already"):
        back_up(tmp_path / "hub.sqlite", tmp_path / "copy")
    assert restore(tmp_path / "copy", tmp_path / "again.sqlite") == kept
    with Inbox(tmp_path / "again.sqlite") as inbox:
        assert inbox.record_counts() == {"t01": {A: 20}}
        take(inbox, events(A, 21, 30))
    assert summarize_store(tmp_path / "copy").records == 20


def test_restore_of_no_backup_is_refused_without_files(tmp_path):
    other = tmp_path / "other"
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE records(t)")
    (tmp_path / "text").write_text("no database\n" * 100)
    for wrong in (other, tmp_path / "text", tmp_path / "gone", tmp_path):
        with pytest.raises(StoreError):
            restore(wrong, tmp_path / "hub.sqlite")
    assert not (tmp_path / "hub.sqlite").exists()
    for verb in ("backup", "journals"):
        with pytest.raises(UsageError, match="there is no hub"):
            main([verb, str(tmp_path), str(tmp_path / "new")])


def test_a_damaged_backup_is_refused(tmp_path):
    with Inbox(tmp_path / "hub.sqlite") as inbox:
        take(inbox, Hello((SentGame(A, 400),)))
        for first in range(1, 400, 50):
            take(inbox, events(A, first, first + 49))
    back_up(tmp_path / "hub.sqlite", tmp_path / "copy")
    data = bytearray((tmp_path / "copy").read_bytes())
    for page in range(3, len(data) // 4096):
        data[4096 * page : 4096 * page + 64] = b"\xff" * 64
    (tmp_path / "copy").write_bytes(data)
    with pytest.raises(StoreError):
        restore(tmp_path / "copy", tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()


def test_a_database_has_its_own_backups(tmp_path):
    with pytest.raises(StoreError) as caught:
        back_up(Database("postgresql://hub@192.0.2.9/mat", "hall"), tmp_path / "copy")
    assert "pg_dump --schema=mat_hall" in caught.value.hint

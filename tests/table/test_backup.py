"""The copy on the stick: whole, proven, made without holding up the game, and a stick that fails is said once."""

import logging
import shutil
import sqlite3
from contextlib import closing

import pytest

from pi_controller.config import Settings
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import GameOpened, Ready
from pi_controller.runtime.assembly import make_backup
from pi_controller.table import backup as module
from pi_controller.table.backup import Backup, BackupError, copy_of

OPENED = GameOpened(0.0, "dakota", "1", "booklet", {}, {"A": "Red", "B": "Blå"})


@pytest.fixture
def stick(tmp_path):
    folder = tmp_path / "stick"
    folder.mkdir()
    return folder


@pytest.fixture
def table(tmp_path, play_on):
    with Journal(tmp_path / "table.sqlite") as journal:
        yield play_on(journal, 10)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_copy_is_the_journal(table, stick):
    copy = copy_of(table.journal.path, stick)
    assert verify_journal(copy).whole
    with Journal(copy, read_only=True) as kept:
        assert kept.head == table.journal.head
        assert list(kept.rows()) == list(table.journal.rows())
    assert names(stick) == [f"table-{table.journal.meta.epoch[:8]}.sqlite"]
    table.journal.append([Ready(99.0)])
    assert copy_of(table.journal.path, stick) == copy
    assert verify_journal(copy).head == table.journal.head[1]
    shutil.copy(copy, stick / "go_on.sqlite")
    with Journal(stick / "go_on.sqlite") as journal:  # the stick put into another table
        journal.append([Ready(100.0)])


def test_two_journals_have_two_copies(table, stick, tmp_path):
    (tmp_path / "other").mkdir()
    with Journal(tmp_path / "other" / "table.sqlite") as other:
        other.append([OPENED])
        copies = {copy_of(table.journal.path, stick), copy_of(other.path, stick)}
    assert len(copies) == 2


def test_a_copy_that_holds_more_stays(table, stick, tmp_path):
    shutil.copytree(tmp_path, tmp_path.with_name("before"))
    table.journal.append([Ready(99.0)])
    copy = copy_of(table.journal.path, stick)
    held = copy.read_bytes()
    with Journal(tmp_path.with_name("before") / "table.sqlite") as older:
        second = copy_of(older.path, stick)
    assert copy.read_bytes() == held
    assert second.name == copy.name.replace(".sqlite", "-2.sqlite")


def test_a_torn_copy_is_replaced(table, stick):
    copy = copy_of(table.journal.path, stick)
    copy.write_bytes(copy.read_bytes()[:5000])
    assert copy_of(table.journal.path, stick) == copy
    assert verify_journal(copy).whole


def test_stick_with_wrong_readback_is_refused(table, stick, monkeypatch):
    copy = copy_of(table.journal.path, stick)
    before = copy.read_bytes()
    table.journal.append([Ready(99.0)])

    def lying(path):
        path.write_bytes(before)

    monkeypatch.setattr(module.file, "sync", lying)
    with pytest.raises(BackupError, match="differs from the journal"):
        copy_of(table.journal.path, stick)
    assert copy.read_bytes() == before


def test_damaged_journal_replaces_no_copy(table, stick):
    copy = copy_of(table.journal.path, stick)
    before = copy.read_bytes()
    with closing(sqlite3.connect(table.journal.path)) as db, db:
        db.execute("INSERT INTO facts VALUES (?, 999, 0, 'ready', '{}', '')", (table.journal.seq + 1,))
    with pytest.raises(BackupError, match="is of batch 999"):
        copy_of(table.journal.path, stick)
    assert copy.read_bytes() == before


def test_backup_continues_during_play(table, stick):
    keeper = Backup(table.journal.path, stick, every_s=60.0)
    keeper.on_step(0.0, table, armed=False)
    keeper.step()
    (name,) = names(stick)
    first = verify_journal(stick / name).records
    table.journal.append([Ready(1.0)])
    keeper.on_step(59.0, table, armed=False)
    keeper.step()
    assert verify_journal(stick / name).records == first == table.journal.seq - 1
    keeper.on_step(60.0, table, armed=False)
    keeper.step()
    assert verify_journal(stick / name).records == first + 1
    table.journal.append([Ready(61.0)])
    keeper.on_step(61.0, table, armed=False)
    keeper.close()
    assert verify_journal(stick / name).records == first + 2  # what was new when the table stopped
    assert names(stick) == [name]


def test_slow_stick_does_not_block_the_game(table, stick):
    copied = []
    keeper = Backup(table.journal.path, stick, every_s=1.0, copy=lambda *where: copied.append(where) or copy_of(*where))
    for t in range(100):
        keeper.on_step(float(t), table, armed=False)
        table.journal.append([Ready(float(t))])
    assert not copied
    keeper.step()
    keeper.close()
    assert len(copied) == 1
    assert verify_journal(stick / names(stick)[0]).records == table.journal.seq


def test_removed_stick_is_logged_once_and_retried(table, stick, caplog):
    caplog.set_level(logging.INFO, module.log.name)
    stick.rmdir()
    keeper = Backup(table.journal.path, stick, every_s=1.0)
    for t in range(5):
        keeper.on_step(float(t), table, armed=False)
        keeper.step()
    (said,) = caplog.messages
    assert said.endswith("No such file or directory; the game goes on, and the backup is retried")
    stick.mkdir()
    keeper.on_step(6.0, table, armed=False)
    keeper.step()
    assert "is copied to" in caplog.messages[1]
    keeper.close()
    assert verify_journal(stick / names(stick)[0]).records == table.journal.seq


def test_it_is_off_unless_the_host_says_so(tmp_path):
    from contextlib import ExitStack

    with ExitStack() as stack:
        assert make_backup(Settings(), stack) == []
        wanted = {"backup": {"folder": str(tmp_path)}, "table": {"journal": tmp_path / "j"}}
        (keeper,) = make_backup(Settings.model_validate(wanted), stack)
        assert isinstance(keeper, Backup)

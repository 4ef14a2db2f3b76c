"""A damaged log is found out before anything is written, a torn one goes on, and files that go away stop play."""

import logging
import random
import stat
import subprocess
import sys

import pytest
from corruptions import KINDS, killed_table, one_case, saved

from pi_controller.cli import main
from pi_controller.errors import JournalError
from pi_controller.journal import file
from pi_controller.journal.journal import Journal
from pi_controller.referee.base import referee_for
from pi_controller.referee.judge import JudgeAction
from pi_controller.rules.registry import game
from pi_controller.table.table import MAINTAIN_EVERY_S, Table

DAKOTA = game("dakota")
FRAME = 24 + 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder with the files of a killed table, and how many records it had acknowledged."""
    folder = tmp_path_factory.mktemp("killed") / "whole"
    return folder, killed_table(folder)


@pytest.fixture
def killed(whole, tmp_path):
    """Return the journal of a killed table, without the lock's file: as a copy, or after a power cut."""
    for ending in ("", "-wal"):
        (tmp_path / f"game.sqlite{ending}").write_bytes((whole[0] / f"game.sqlite{ending}").read_bytes())
    return tmp_path / "game.sqlite"


def turn_a_bit(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(data)


def log_of(path):
    return path.with_name(f"{path.name}-wal")


@pytest.mark.parametrize("target", ["-wal", ""])
@pytest.mark.parametrize("kind", KINDS)
def test_log_damage_is_always_detected(whole, tmp_path, target, kind):
    chance = random.Random(f"{target}{kind}")
    for n, witness in enumerate((True, False)):
        if (target, kind) != ("", "gone"):
            outcome = one_case(whole[0], tmp_path / str(n), target, kind, witness, chance)
            allowed = {"nothing lost", "refused", "said"} | ({"not to be seen"} if not witness else set())
            assert outcome[0] in allowed, outcome


@pytest.mark.parametrize("frame", [0, 20])
def test_damaged_log_refuses_start_and_is_copied(whole, killed, frame, capsys):
    turn_a_bit(log_of(killed), 32 + frame * FRAME + 2000)
    before = killed.read_bytes(), log_of(killed).read_bytes()
    with pytest.raises(JournalError, match=r"log is damaged.* event 121 is seen") as error:
        Journal(killed)
    assert "'moccasin-mat recover FILE -o NEW'" in error.value.hint
    assert (killed.read_bytes(), log_of(killed).read_bytes()) == before
    (copy,) = killed.parent.glob("game.damaged-????????.sqlite")
    assert copy.name in error.value.hint
    assert (copy.read_bytes(), log_of(copy).read_bytes()) == before
    with pytest.raises(JournalError, match="log is damaged"):
        Journal(killed)
    assert len([*killed.parent.glob("game.damaged-*.sqlite")]) == 1
    with pytest.raises(JournalError, match="log is damaged"):
        Journal(killed, read_only=True)
    assert main(["verify", str(killed)]) == 1
    assert "log is damaged" in capsys.readouterr().out
    assert saved(killed) == saved(copy) == whole[1]


def test_log_with_damaged_header_is_refused(killed):
    turn_a_bit(log_of(killed), 17)
    with pytest.raises(JournalError, match="log is damaged"):
        Journal(killed)


@pytest.mark.parametrize("left", [None, b""])
def test_no_game_begins_beside_a_log(killed, left):
    killed.unlink()
    if left is not None:
        killed.write_bytes(left)
    held = log_of(killed).read_bytes()
    with pytest.raises(JournalError, match="its log exists, but the journal itself is missing"):
        Journal(killed)
    assert log_of(killed).read_bytes() == held


def test_incomplete_last_event_is_dropped_and_reported(whole, killed, caplog, capsys):
    data = bytearray(log_of(killed).read_bytes())
    data[-512:] = bytes(512)  # the sector that the power cut came before
    log_of(killed).write_bytes(data)
    assert main(["verify", str(killed)]) == 0
    assert "its last event is incomplete" in capsys.readouterr().out
    with caplog.at_level(logging.WARNING), Journal(killed) as journal:
        assert whole[1] - 5 < journal.seq < whole[1]
    assert "a copy is kept in game.damaged-" in caplog.text


def test_the_last_record_acknowledged_is_known(whole, killed):
    """The last event of a killed table was acknowledged: where it is damaged, it is no half written one."""
    lock = whole[0] / "game.sqlite.lock"
    killed.with_name(lock.name).write_bytes(lock.read_bytes())
    turn_a_bit(log_of(killed), len(log_of(killed).read_bytes()) - 100)
    with pytest.raises(JournalError, match=f"{whole[1]} records were acknowledged, and it can be read up to record"):
        Journal(killed)
    killed.with_name(lock.name).write_bytes(lock.read_bytes()[:20])  # torn: it says nothing then
    Journal(killed).close()


def test_recovered_journal_continues_under_old_name(whole, killed):
    lock = whole[0] / "game.sqlite.lock"
    killed.with_name(lock.name).write_bytes(lock.read_bytes())
    log_of(killed).unlink()
    with pytest.raises(JournalError, match="were acknowledged"):
        Journal(killed)
    new = killed.with_name("new.sqlite")
    assert main(["recover", str(killed), "-o", str(new)]) == 0
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    new.replace(killed)
    with Journal(killed) as journal:
        assert 0 < journal.seq < whole[1]


def test_it_reads_as_many_frames_as_sqlite(killed):
    """The sums are those of the file format: SQLite counts the same frames, whatever one is damaged."""
    log, before = log_of(killed), log_of(killed).read_bytes()
    whole, behind = file.whole_frames(before)
    assert (whole, behind) == ((len(before) - 32) // FRAME, False)
    turn_a_bit(log, 32 + 10 * FRAME + 100)
    whole, behind = file.whole_frames(log.read_bytes())
    assert whole <= 10
    assert behind
    code = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); print(db.execute('PRAGMA wal_checkpoint').fetchone())"
    )
    done = subprocess.run([sys.executable, "-c", code, str(killed)], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == f"{whole},"


@pytest.fixture
def table(tmp_path):
    with Journal(tmp_path / "game.sqlite") as journal:
        yield Table(journal, DAKOTA, {"A": "Red", "B": "Blue"}, referee_for(DAKOTA, None, bytes), 0.0)


def test_moved_journal_halts_play_until_restored(table):
    path, elsewhere = table.journal.path, table.journal.path.with_name("elsewhere.sqlite")
    table.maintain(1.0)
    path.rename(elsewhere)
    table.maintain(1.0 + MAINTAIN_EVERY_S / 2)
    assert table.halted is None, "once a second"
    table.maintain(1.0 + MAINTAIN_EVERY_S)
    assert "it was deleted or moved away" in table.halted.message
    assert table.view.phase == "halted"
    with pytest.raises(JournalError):
        table.judge(JudgeAction(3.0, {"do": "toss", "winner": "A"}))
    assert not table.retry(3.0)
    assert not path.exists(), "no new one is begun"
    elsewhere.rename(path)
    assert table.retry(4.0)
    table.judge(JudgeAction(5.0, {"do": "toss", "winner": "A"}))
    assert table.halted is None


def test_deleted_journal_can_be_restored_from_rescue(table):
    path = table.journal.path
    table.judge(JudgeAction(0.5, {"do": "toss", "winner": "A"}))
    path.unlink()
    table.maintain(1.0)
    assert "game.rescued.sqlite, which holds all of it" in table.halted.hint
    assert not table.retry(2.0)
    path.with_name("game.rescued.sqlite").rename(path)
    assert table.retry(3.0)
    assert table.view.hider == "A"


def test_replaced_journal_is_not_written(table, tmp_path):
    with Journal(tmp_path / "other.sqlite") as other:
        Table(other, DAKOTA, {"A": "X", "B": "Y"}, referee_for(DAKOTA, None, bytes), 0.0)
    before = (tmp_path / "other.sqlite").read_bytes()
    (tmp_path / "other.sqlite").replace(table.journal.path)
    table.maintain(1.0)
    assert "another file lies in its place" in table.halted.message
    assert not table.retry(2.0)
    assert not table.retry(3.0)
    assert table.journal.path.read_bytes() == before


def test_deleted_log_is_recreated(table):
    log_of(table.journal.path).unlink()
    table.maintain(1.0)
    assert "its log was deleted" in table.halted.message
    assert table.retry(2.0)
    table.judge(JudgeAction(3.0, {"do": "toss", "winner": "A"}))
    with Journal(table.journal.path, read_only=True) as journal:
        assert journal.seq == table.journal.seq


def test_after_each_hide_the_log_is_empty(table):
    log = log_of(table.journal.path)
    table.judge(JudgeAction(0.5, {"do": "toss", "winner": "A"}))
    table.judge(JudgeAction(0.6, {"do": "hit", "found": True}))
    table.maintain(1.0)
    assert log.stat().st_size > 0
    table.judge(JudgeAction(1.1, {"do": "hit", "found": False}))  # the next hide
    with Journal(table.journal.path, read_only=True) as reader:
        reading = reader.read()
        next(reading)
        table.maintain(2.0)
        assert log.stat().st_size > 0, "somebody reads: it is not waited for"
        list(reading)
    table.maintain(3.0)
    assert log.stat().st_size == 0
    assert table.halted is None

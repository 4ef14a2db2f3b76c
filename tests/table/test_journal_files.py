"""Copies in mid-write and damaged -journal files are refused before any write; files that go away stop play."""

import random
import shutil
import stat

import pytest
from cases import cases
from corruptions import KINDS, TARGETS, hurt, one_case, play_journal, saved
from seats import sit

from pi_controller.cli import main
from pi_controller.errors import DamagedJournalError, JournalError
from pi_controller.journal.file import RECOVER_HINT
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import CommitmentWithdrawn, Ready
from pi_controller.referee.judge import JudgeAction
from pi_controller.table.table import MAINTAIN_EVERY_S

PAGE = 4096


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return the journal of a table and how many records it acknowledged; `game-killed.sqlite` is beside it."""
    folder = tmp_path_factory.mktemp("played") / "whole"
    return folder / "game.sqlite", play_journal(folder)


@pytest.fixture
def killed(played, tmp_path):
    """Return the journal of a table that was killed in the middle of a transaction."""
    for ending in ("", "-journal"):
        shutil.copy(played[0].with_name(f"game-killed.sqlite{ending}"), tmp_path / f"game.sqlite{ending}")
    return tmp_path / "game.sqlite"


def contents(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.suffix != ".lock"}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_damage_loses_nothing_or_is_refused(played, tmp_path, target, kind):
    if kind != "gone" or target == "killed-journal":
        for n in range(cases(1, 2)):
            found = one_case(played[0], tmp_path / str(n), target, kind, random.Random(f"{target}{kind}{n}"))
            assert found[0] in {"nothing lost", "refused"}, found


def test_readers_leave_the_unfinished_transaction(played, killed):
    before = contents(killed.parent)
    found = verify_journal(killed)
    assert (found.whole, found.records) == (True, played[1])
    with Journal(killed, read_only=True) as journal, Journal(played[0], read_only=True) as whole:
        assert list(journal.rows()) == list(whole.rows())
    assert contents(killed.parent) == before


def test_writer_rolls_back_the_unfinished_transaction(played, killed):
    with Journal(killed) as journal:
        assert journal.seq == played[1]
        journal.append([Ready(9.0)])
    assert verify_journal(killed).records == played[1] + 1
    assert set(contents(killed.parent)) == {"game.sqlite"}


@pytest.mark.parametrize("damage", ["bits", "gone"])
def test_damaged_rollback_refuses_start_and_is_recovered(played, killed, damage, capsys):
    hurt(killed.with_name("game.sqlite-journal"), damage, random.Random(3))
    before = contents(killed.parent)
    for read_only in (False, True):
        with pytest.raises(DamagedJournalError) as error, Journal(killed, read_only=read_only) as journal:
            list(journal.rows())
        assert "if it is a copy, copy the journal again, with its -journal file" in error.value.hint
    assert contents(killed.parent) == before
    assert main(["game", "verify", str(killed)]) == 1
    assert "if it is a copy, copy the journal again, with its -journal file" in capsys.readouterr().out
    assert saved(killed) == played[1]


def test_recovered_journal_continues_under_old_name(played, killed):
    killed.with_name("game.sqlite-journal").unlink()
    with pytest.raises(JournalError, match="or its -journal file was removed"):
        Journal(killed)
    new = killed.with_name("new.sqlite")
    assert main(["game", "recover", str(killed), "-o", str(new)]) == 0
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    new.replace(killed)
    with Journal(killed) as journal:
        assert journal.seq == played[1]


def test_copy_in_mid_write_is_refused_or_whole(tmp_path):
    """A copy takes pages from before and after a batch of one record, of three, and of a long one."""
    path, copy = tmp_path / "game.sqlite", tmp_path / "copy.sqlite"
    refused = set()
    with Journal(path) as journal:
        for n in range(60):
            before, rows = path.read_bytes(), list(journal.rows())
            batch = [Ready(float(n))] * (1 + 2 * (n % 2))
            journal.append([*batch, CommitmentWithdrawn(float(n), "long" * 2000)] if n % 20 == 19 else batch)
            after, more = path.read_bytes(), list(journal.rows())
            for at in range(PAGE, len(after), PAGE):
                for torn in (before[:at] + after[at:], after[:at] + before[at:]):
                    copy.write_bytes(torn)
                    try:
                        with Journal(copy, read_only=True) as copied:
                            assert list(copied.rows()) in (rows, more)
                    except DamagedJournalError as error:
                        refused.add(("in the middle of a write" in error.message, error.hint))
    assert refused == {(True, RECOVER_HINT), (False, RECOVER_HINT)}


def test_plain_copy_of_open_journal_is_whole(tmp_path):
    path, copy = tmp_path / "game.sqlite", tmp_path / "copy.sqlite"
    with Journal(path) as journal:
        for n in range(20):
            journal.append([Ready(float(n))] * 3)
            shutil.copy(path, copy)
            with Journal(copy) as copied:
                assert copied.head == journal.head


def test_slow_reader_does_not_hold_the_writer(tmp_path):
    with Journal(tmp_path / "game.sqlite") as journal:
        journal.append([Ready(0.0)] * 1500)
        with Journal(journal.path, read_only=True) as reader:
            reading = reader.rows()
            next(reading)
            journal.append([Ready(1.0)])
            assert len(list(reading)) == 1499


@pytest.fixture
def table(tmp_path):
    with Journal(tmp_path / "game.sqlite") as journal:
        yield sit(journal)


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
    assert not table.view.link, "no board was ever seen"
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
    assert table.view.sheet["hider"] == "A"


def test_replaced_journal_is_not_written(table, tmp_path):
    with Journal(tmp_path / "other.sqlite") as other:
        sit(other, teams={"A": "X", "B": "Y"})
    before = (tmp_path / "other.sqlite").read_bytes()
    (tmp_path / "other.sqlite").replace(table.journal.path)
    table.maintain(1.0)
    assert "another file lies in its place" in table.halted.message
    assert not table.retry(2.0)
    assert not table.retry(3.0)
    assert table.journal.path.read_bytes() == before

"""From a damaged journal the longest proven prefix of whole events comes back, whatever happened to the file."""

import random
import shutil
import sqlite3
from contextlib import closing

import pytest
from corruptions import KINDS, PAGE, hurt, leave_unfinished

from pi_controller.cli import main
from pi_controller.cli.journals import game_recover as recover_main
from pi_controller.errors import JournalError, UsageError
from pi_controller.journal.journal import Journal
from pi_controller.journal.recover import recover
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import CommitmentWithdrawn


@pytest.fixture(scope="module")
def game(tmp_path_factory, play_on):
    """Return a folder with the journal of a long game, once whole, once as a killed table leaves it; its records."""
    folder = tmp_path_factory.mktemp("game")
    with Journal(folder / "whole.sqlite", token=random.Random(0).randbytes) as journal:
        play_on(journal, 80)
        play_on(journal, 40, seed=2, t=2000.0)
        journal.append([CommitmentWithdrawn(3000.0, "long " * 2000)])  # goes on over pages of its own
        rows = list(journal.rows())
        leave_unfinished(journal, folder / "killed.sqlite")
    return folder, rows


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.slow
def test_damaged_copies_recover_a_provable_prefix(game, tmp_path, seed):
    folder, rows = game
    chance = random.Random(seed)
    kept = []
    for n in range(60):
        path, new = tmp_path / f"{n}.sqlite", tmp_path / f"{n}.new"
        name = chance.choice(["whole", "killed"])
        for ending in ("", "-journal")[: 1 + (name == "killed")]:
            shutil.copy(folder / f"{name}.sqlite{ending}", f"{path}{ending}")
        kind = chance.choice([kind for kind in KINDS if kind != "gone"])
        hurt(chance.choice(sorted(tmp_path.glob(f"{n}.sqlite*"))), kind, chance)
        before = {one: one.read_bytes() for one in tmp_path.glob(f"{n}.sqlite*")}
        status = recover_main([str(path), "-o", str(new)])
        assert {one: one.read_bytes() for one in tmp_path.glob(f"{n}.sqlite*")} == before
        assert status == (0 if new.exists() else 1)
        kept.append(0)
        if new.exists():
            assert verify_journal(new).whole, n
            with Journal(new) as journal:  # and a table can go on with it
                back = list(journal.rows())
            kept[-1] = len(back)
            assert back[: len(rows)] == rows[: len(back)]
            assert len(back) >= len(rows) or back[-1].batch != rows[len(back)].batch
    assert sum(n >= len(rows) for n in kept) > 10
    assert sum(0 < n < len(rows) for n in kept) > 10


def test_a_whole_one_comes_back_as_it_was(game, tmp_path, capsys):
    folder, rows = game
    for name in ("whole", "killed"):
        assert main(["game", "recover", str(folder / f"{name}.sqlite"), "-o", str(tmp_path / name)]) == 0
        assert f"kept: {len(rows)} records" in (said := capsys.readouterr().out)
        assert "no record is lost" in said
        assert rows[-1].hash[:16] in said  # the chain is the old one: what was printed of it still proves it
        with Journal(tmp_path / name, read_only=True) as journal:
            assert list(journal.rows()) == rows


@pytest.fixture
def changed(game, tmp_path):
    """Return what makes a copy of the whole game, changed by a statement without the triggers that forbid it."""

    def copy(statement):
        path = shutil.copy(game[0] / "whole.sqlite", tmp_path / "changed")
        with closing(sqlite3.connect(path)) as db, db:
            for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                db.execute(f"DROP TRIGGER {trigger}")
            db.execute(statement)
        with closing(sqlite3.connect(path)) as db:
            db.execute("VACUUM")
        return path

    return copy


def test_recovery_ends_before_the_missing_record(game, tmp_path, changed, capsys):
    _, rows = game
    singles = (row.seq for row in rows if len({one.batch for one in rows[row.seq - 3 : row.seq]}) == 3)
    at = next(seq for seq in singles if seq > 60)
    path = changed(f"DELETE FROM facts WHERE seq = {at}")
    assert main(["game", "verify", str(path)]) == 1
    assert f"complete up to event {rows[at - 2].batch} (record {at - 1}); then: record {at}" in capsys.readouterr().out
    assert main(["game", "recover", str(path), "-o", str(tmp_path / "new")]) == 0
    said = capsys.readouterr().out
    assert f"kept: {rows[at - 3].seq} records, up to event {rows[at - 3].batch}" in said
    assert f"lost: the records after it, of {len(rows)}, because record {at} is missing" in said


def test_event_before_the_next_readable_one_is_kept(game, changed):
    _, rows = game
    at = next(row.seq for row in rows if row.seq > 60 and row.batch != rows[row.seq - 2].batch)
    path = changed(f"UPDATE facts SET body = '{{}}' WHERE seq = {at}")
    assert recover(path).rows == tuple(rows[: at - 1])


def test_changed_record_is_not_recovered(game, changed):
    _, rows = game
    at = next(row.seq for row in rows if '"found":false' in row.body and row.seq > 50)
    path = changed(f"UPDATE facts SET body = replace(body, '\"found\":false', '\"found\":true') WHERE seq = {at}")
    kept = recover(path)
    assert kept.fault == f"record {at} was changed: its hash does not match"
    assert kept.rows[-1].batch < rows[at - 1].batch


def test_without_its_epoch_no_record_is_proven(changed):
    assert recover(changed("DELETE FROM meta")).rows == ()


@pytest.mark.parametrize("pages", [3, 5, 8])
def test_cut_journal_is_recovered_up_to_the_cut(game, tmp_path, pages):
    folder, rows = game
    path = tmp_path / "cut"
    data = (folder / "whole.sqlite").read_bytes()[: pages * PAGE]
    path.write_bytes(data)
    kept = recover(path).rows
    assert kept == tuple(rows[: len(kept)])
    assert len(kept) >= data.count(b'"kind":') // 2


def test_event_is_recovered_whole_or_dropped(game, changed):
    _, rows = game
    second = next(row for row in rows if row.seq > 80 and row.batch == rows[row.seq - 2].batch)
    path = changed(f"UPDATE facts SET body = '{{}}' WHERE seq = {second.seq}")
    kept = recover(path)
    assert kept.rows[-1].batch == second.batch - 1


def test_unrecoverable_input_writes_no_journal(game, tmp_path, capsys):
    folder, _ = game
    path = tmp_path / "noise"
    path.write_bytes(random.Random(3).randbytes(50_000))
    assert main(["game", "recover", str(path), "-o", str(tmp_path / "new")]) == 1
    assert "no record can be saved, new is not written: no record can be read" in capsys.readouterr().out
    assert not (tmp_path / "new").exists()
    with pytest.raises(JournalError, match="no such file"):
        recover_main([str(tmp_path / "none"), "-o", str(tmp_path / "new")])
    with pytest.raises(UsageError, match="is there already"):
        recover_main([str(folder / "whole.sqlite"), "-o", str(path)])

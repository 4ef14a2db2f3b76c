"""From a damaged journal everything that can be proven comes back, whatever happened to the file."""

import random
import re
import shutil
import sqlite3
from contextlib import closing

import pytest
from cases import cases

from pi_controller.cli import main
from pi_controller.cli.journals import recover as recover_main
from pi_controller.errors import JournalError, UsageError
from pi_controller.journal.journal import Journal
from pi_controller.journal.recover import recover
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import CommitmentWithdrawn

PAGE = 4096


@pytest.fixture(scope="module")
def game(tmp_path_factory, play_on):
    """Return a folder with the journal of a long game, once whole, once as a killed table leaves it; its records."""
    folder = tmp_path_factory.mktemp("game")
    with Journal(folder / "whole.sqlite", token=random.Random(0).randbytes) as journal:
        play_on(journal, 80)
        journal.database().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        play_on(journal, 40, seed=2, t=2000.0)
        journal.append([CommitmentWithdrawn(3000.0, "long " * 2000)])  # goes on over pages of its own
        rows = list(journal.rows())
        for ending in ("", "-wal"):
            shutil.copy(folder / f"whole.sqlite{ending}", folder / f"killed.sqlite{ending}")
    return folder, rows


def damaged(data, chance):
    """Return `data` with something wrong with it."""
    data = bytearray(data)
    kind = chance.choice(["cut", "zeros", "bits", "noise", "swapped", "old", "byte"])
    at = chance.randrange(len(data))
    page = at - at % PAGE
    match kind:
        case "cut":
            del data[at:]
        case "zeros":
            for _ in range(chance.choice([1, 1, 3])):
                data[page : page + PAGE] = bytes(len(data[page : page + PAGE]))
                page = chance.randrange(len(data)) // PAGE * PAGE
        case "bits":
            for _ in range(chance.choice([1, 5, 200])):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case "noise":
            data[at : at + 700] = chance.randbytes(len(data[at : at + 700]))
        case "swapped":
            other = chance.randrange(len(data)) // PAGE * PAGE
            data[page : page + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[page : page + PAGE]
        case "old":  # a sector that was never written
            data[at - at % 512 : at - at % 512 + 512] = data[:512]
        case _:
            data[chance.randrange(min(200, len(data)))] = chance.randrange(256)
    return bytes(data)


HEAD = 24
"""Bytes before a record's texts, where SQLite keeps its number and the types of its columns; some may be another's."""


@pytest.fixture(scope="module")
def written(game):
    """Return for each record the bytes that stand for it in the undamaged files, all the ways it is written there."""
    folder, rows = game
    whole = [path.read_bytes() for path in folder.iterdir() if path.name.endswith((".sqlite", "-wal"))]
    found = []
    for row in rows:
        texts = f"{row.kind}{row.body}{row.hash}".encode()
        places = [(data, match.start()) for data in whole for match in re.finditer(re.escape(texts), data)]
        found.append({data[max(0, at - HEAD) : at + len(texts)] for data, at in places})
    return found


def standing(rows, written, hurt):
    """Return how many records, from the first on and in whole events, stand in `hurt` letter by letter as `written`.

    It knows what it looks for, so it may find what nobody else could; short of it nothing may be lost.
    """
    for n, row in enumerate(rows):
        if not any(one in part for one in written[n] for part in hurt):
            while n and rows[n - 1].batch == row.batch:
                n -= 1  # noqa: PLW2901
            return n
    return len(rows)


@pytest.mark.parametrize("seed", range(1, cases(2, 4)))
@pytest.mark.slow
def test_40_damaged_copies(game, written, tmp_path, seed):
    folder, rows = game
    chance = random.Random(seed)
    kept, least = [], []
    for n in range(40):
        path, new = tmp_path / f"{n}.sqlite", tmp_path / f"{n}.new"
        name = chance.choice(["whole", "killed"])
        path.write_bytes((folder / f"{name}.sqlite").read_bytes())
        if name == "killed":
            path.with_name(f"{n}.sqlite-wal").write_bytes((folder / "killed.sqlite-wal").read_bytes())
        hurt = chance.choice(sorted(tmp_path.glob(f"{n}.sqlite*")))
        hurt.write_bytes(damaged(hurt.read_bytes(), chance))
        before = {one: one.read_bytes() for one in tmp_path.glob(f"{n}.sqlite*")}
        status = recover_main([str(path), "-o", str(new)])
        assert {one: one.read_bytes() for one in tmp_path.glob(f"{n}.sqlite*")} == before
        assert status == (0 if new.exists() else 1)
        if new.exists():
            found = verify_journal(new)
            assert found.whole, (n, found.wrong)
            with Journal(new) as journal:  # and a table can go on with it
                back = list(journal.rows())
            unproven = found.origin.endswith("record 1")  # its epoch was lost
            assert [row[:5] for row in back[unproven:]] == [row[:5] for row in rows[unproven : len(back)]]
            kept.append(len(back))
        else:
            kept.append(0)
        least.append(standing(rows, written, before.values()))
        assert kept[-1] >= least[-1], n
    assert sum(n >= len(rows) - 1 for n in kept) > 10
    assert sum(least) > 0.4 * 40 * len(rows)


def test_a_whole_one_comes_back_as_it_was(game, tmp_path, capsys):
    folder, rows = game
    for name in ("whole", "killed"):
        assert main(["recover", str(folder / f"{name}.sqlite"), "-o", str(tmp_path / name)]) == 0
        assert f"kept: {len(rows)} records" in (said := capsys.readouterr().out)
        assert "no visible record is lost" in said
        assert rows[-1].hash[:16] in said  # the chain is the old one: what was printed of it still proves it
        with Journal(tmp_path / name, read_only=True) as journal:
            assert list(journal.rows()) == rows


def without(path, statement):
    with closing(sqlite3.connect(path)) as db, db:
        for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {trigger}")
        db.execute(statement)
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM")
    return path


def test_recovery_ends_before_the_missing_record(game, tmp_path, capsys):
    folder, rows = game
    path = tmp_path / "hurt"
    shutil.copy(folder / "whole.sqlite", path)
    at = next(row.seq for row in rows if row.seq > 60 and row.batch != rows[row.seq - 2].batch)
    without(path, f"DELETE FROM facts WHERE seq = {at}")
    assert main(["verify", str(path)]) == 1
    assert f"complete up to event {rows[at - 2].batch} (record {at - 1}); then: record {at}" in capsys.readouterr().out
    assert main(["recover", str(path), "-o", str(tmp_path / "new")]) == 0
    said = capsys.readouterr().out
    assert f"kept: {at - 1} records, up to event {rows[at - 2].batch}" in said
    assert f"records {at} to {len(rows)} are visible, {len(rows) - at} of them readable but not connected" in said
    assert f"because record {at} cannot be read" in said


def test_changed_record_is_not_recovered(game, tmp_path):
    folder, rows = game
    path = tmp_path / "changed"
    shutil.copy(folder / "whole.sqlite", path)
    at = next(row.seq for row in rows if '"found":false' in row.body and row.seq > 50)
    without(path, f"UPDATE facts SET body = replace(body, '\"found\":false', '\"found\":true') WHERE seq = {at}")
    kept = recover(path)
    assert kept.why == f"record {at} was changed: its hash does not match"
    assert kept.rows[-1].batch < rows[at - 1].batch


def test_damaged_hash_is_repaired_from_next_record(game, tmp_path):
    folder, rows = game
    path = tmp_path / "hash"
    shutil.copy(folder / "whole.sqlite", path)
    without(path, "UPDATE facts SET hash = substr(hash, 2) || substr(hash, 1, 1) WHERE seq = 60")
    assert not verify_journal(path).whole
    assert len(recover(path).rows) == len(rows)


def test_a_bit_turned_over_is_turned_back(game, tmp_path):
    folder, rows = game
    data = (folder / "whole.sqlite").read_bytes()
    chance = random.Random(5)
    for row in chance.sample(rows[:-1], 10):
        path = tmp_path / f"{row.seq}"
        hurt = bytearray(data)
        at = data.index(row.body.encode()) + chance.randrange(len(row.body))
        hurt[at] ^= 1 << chance.randrange(8)
        path.write_bytes(hurt)
        assert not verify_journal(path).whole
        assert [one[:5] for one in recover(path).rows] == [one[:5] for one in rows]


def test_without_its_epoch_the_records_prove_each_other(game, tmp_path):
    folder, rows = game
    path = tmp_path / "nameless"
    shutil.copy(folder / "whole.sqlite", path)
    without(path, "DELETE FROM meta")
    kept = recover(path, bytes)
    assert len(kept.rows) == len(rows)
    assert kept.about.epoch == "00" * 16


def test_rules_repair_record_1_without_epoch(game, tmp_path, capsys):
    folder, rows = game
    path = tmp_path / "nameless"
    shutil.copy(folder / "whole.sqlite", path)
    without(path, "DELETE FROM meta")
    without(path, "UPDATE facts SET body = replace(body, 'wheya_16_4', 'wheya_06_4') WHERE seq = 1")
    assert main(["recover", str(path), "-o", str(tmp_path / "new")]) == 0
    assert "record 1 cannot be proved" in capsys.readouterr().out
    assert verify_journal(tmp_path / "new").whole
    with Journal(tmp_path / "new", read_only=True) as journal:
        assert [row[:5] for row in journal.rows()] == [row[:5] for row in rows]


def test_event_is_recovered_whole_or_dropped(game, tmp_path):
    folder, rows = game
    path = tmp_path / "half"
    shutil.copy(folder / "whole.sqlite", path)
    second = next(row for row in rows if row.seq > 80 and row.batch == rows[row.seq - 2].batch)
    without(path, f"UPDATE facts SET body = '{{}}' WHERE seq = {second.seq}")
    kept = recover(path)
    assert kept.rows[-1].batch == second.batch - 1


def test_one_of_version_1(game, tmp_path, as_version_1):
    folder, rows = game
    path = tmp_path / "old"
    as_version_1(folder / "whole.sqlite", path)
    assert len(recover(path).rows) == len(rows)
    data = bytearray(path.read_bytes())
    data[3 * PAGE : 4 * PAGE] = bytes(PAGE)
    path.write_bytes(data)
    assert main(["recover", str(path), "-o", str(tmp_path / "new")]) == 0
    found = verify_journal(tmp_path / "new")
    assert found.whole
    assert found.chained
    assert 0 < found.records < len(rows)


def test_unrecoverable_input_writes_no_journal(game, tmp_path, capsys):
    folder, _ = game
    path = tmp_path / "noise"
    path.write_bytes(random.Random(3).randbytes(50_000))
    assert main(["recover", str(path), "-o", str(tmp_path / "new")]) == 1
    assert "no record can be saved, new is not written: no record can be read" in capsys.readouterr().out
    assert not (tmp_path / "new").exists()
    with pytest.raises(JournalError, match="no such file"):
        recover_main([str(tmp_path / "none"), "-o", str(tmp_path / "new")])
    with pytest.raises(UsageError, match="is there already"):
        recover_main([str(folder / "whole.sqlite"), "-o", str(path)])

"""A table whose journal is damaged starts all the same: what was there is kept, what is proven goes on, the judge is
asked; a disk that is full or read-only is told as such.
"""

import os
import random
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from cases import cases
from corruptions import KINDS, TARGETS, hurt, play_journal

from pi_controller.config import Settings
from pi_controller.errors import DamagedJournalError, JournalError
from pi_controller.host.files import explain_refusal
from pi_controller.journal import rotation
from pi_controller.journal.journal import Journal
from pi_controller.journal.recover import recover, replace_damaged
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.judge import JudgeAnswer, JudgeNewGame
from pi_controller.rules.base import IllegalActionError
from pi_controller.runtime.assembly import open_table
from pi_controller.table.table import NEW_GAME, RECORD_LOST, RECOVERED

T = 1_700_000_000.0


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("played") / "whole"
    return folder, play_journal(folder)


@pytest.fixture
def path(played, tmp_path):
    return Path(shutil.copy(played[0] / "game.sqlite", tmp_path / "game.sqlite"))


def settings(path, **more):
    return Settings.model_validate({"table": {"journal": str(path), **more}, "game": {"options": {"points": "50"}}})


def start(path, t=T, **more):
    table = open_table(settings(path, **more), t)
    table.journal.close()
    return table


def asked(table):
    return table.story.question.about if table.story.question else ""


def cut(path):
    os.truncate(path, path.stat().st_size * 2 // 3)


def test_damaged_journal_is_archived_and_proven_records_continue(path, played):
    cut(path)
    before = path.read_bytes()
    proven = recover(path).rows
    table = start(path)
    assert 0 < len(proven) < played[1]
    (aside,) = path.parent.glob("game.damaged-20??-*.sqlite")
    assert aside.read_bytes() == before
    assert recover(aside).rows == proven
    assert asked(table) == RECOVERED
    assert aside.name in table.recovery
    assert f"{len(proven)} records" in table.recovery
    with Journal(path, read_only=True) as journal:
        assert [row[:5] for row in list(journal.rows())[: len(proven)]] == [row[:5] for row in proven]
    assert verify_journal(path).whole
    assert start(path).recovery == "", "it is asked once"


def test_judge_plays_on_with_the_recovered_game(path):
    cut(path)
    table = open_table(settings(path), T)
    with table.journal:
        state = table.story.state
        table.judge(JudgeAnswer(T + 1, "play_on"))
        assert (asked(table), table.story.state) == ("", state)
        with pytest.raises(IllegalActionError):
            table.judge(JudgeNewGame(T + 2))


def test_judge_starts_new_game_after_recovery(path):
    cut(path)
    table = open_table(settings(path), T)
    with table.journal:
        records = table.journal.seq
        table.judge(JudgeAnswer(T + 1, NEW_GAME))
        assert table.story.phase == "toss"
        assert asked(table) == ""
        kept = path.with_name(table.journal.read_opening().after)
    with Journal(kept, read_only=True) as journal:
        assert journal.seq == records


def test_journal_without_records_starts_new_game(path):
    path.write_bytes(b"\0" * 8192)
    table = start(path)
    assert asked(table) == RECORD_LOST
    assert table.story.phase == "toss"
    assert len(list(path.parent.glob("game.damaged-20??-*.sqlite"))) == 1


def test_strict_setting_leaves_a_damaged_journal_alone(path):
    cut(path)
    before = path.read_bytes()
    with pytest.raises(DamagedJournalError):
        start(path, damaged="stop")
    assert path.read_bytes() == before


@pytest.mark.parametrize("seed", range(cases(1, 3)))
def test_any_damage_starts_with_all_provable_records(played, tmp_path, seed):
    chance = random.Random(seed)
    for n, (kind, target) in enumerate((kind, target) for kind in KINDS for target in TARGETS):
        folder = tmp_path / str(n)
        folder.mkdir()
        path = folder / "game.sqlite"
        for ending in ("", "-journal")[: 1 + (target != "closed")]:
            shutil.copy(played[0] / f"game{'' if target == 'closed' else '-killed'}.sqlite{ending}", f"{path}{ending}")
        if kind != "gone" or target == "killed-journal":
            hurt(Path(f"{path}-journal") if target == "killed-journal" else path, kind, chance)
        could = 0
        with suppress(JournalError):
            could = len(recover(path).rows)
        table = start(path)
        with Journal(path, read_only=True) as journal:
            assert journal.seq >= could, (kind, target)
        if table.recovery:
            assert [one for one in folder.glob("game.damaged-20??-*") if one.suffix == ".sqlite"], (kind, target)


def test_damaged_rollback_is_archived_with_its_journal(played, path):
    for ending in ("", "-journal"):
        shutil.copy(played[0] / f"game-killed.sqlite{ending}", f"{path}{ending}")
    Path(f"{path}-journal").write_bytes(b"\xd9" + Path(f"{path}-journal").read_bytes()[1:600])
    before = {ending: Path(f"{path}{ending}").read_bytes() for ending in ("", "-journal")}
    assert f"{played[1]} records were recovered" in start(path).recovery
    (aside,) = path.parent.glob("game.damaged-20??-*.sqlite")
    assert {ending: Path(f"{aside}{ending}").read_bytes() for ending in before} == before


def test_power_cut_during_replacement_loses_no_record(path, monkeypatch):
    class PowerCutError(BaseException):
        pass

    cut(path)
    proven = recover(path).rows
    steps = 0

    def count(real, at):
        def step(*args, **kwargs):
            nonlocal steps
            steps += 1
            if steps == at:
                raise PowerCutError
            return real(*args, **kwargs)

        return step

    whole = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    for at in range(1, 30):
        steps = 0
        with monkeypatch.context() as patch:
            for owner, name in (
                (rotation.file, "link_or_copy"),
                (rotation.file, "write_new_journal"),
                (rotation.file, "put_in_place"),
                (rotation.file, "sync"),
                (Path, "unlink"),
                (Path, "replace"),
            ):
                patch.setattr(owner, name, count(getattr(owner, name), at))
            with suppress(PowerCutError):
                replace_damaged(path, T, "cut")
                break
        start(path, T + 60 * at)
        with Journal(path, read_only=True) as journal:
            assert journal.seq >= len(proven), at
        for one in path.parent.iterdir():
            one.unlink()
        for name, data in whole.items():
            path.with_name(name).write_bytes(data)
    assert 5 < at < 29


@pytest.mark.parametrize("begun", [False, True])
def test_full_disk_error_hints_at_disk_space(small_disk, fill, begun):
    path = small_disk / "game.sqlite"
    if begun:
        start(path)
    fill(small_disk / "photos")
    with pytest.raises(JournalError) as caught:
        start(path)
    assert "free some disk space" in caught.value.hint
    assert "belongs to" not in str(caught.value)
    (small_disk / "photos").unlink()
    assert start(path).recovery == ""


def test_damaged_journal_on_full_disk_is_untouched(path, small_disk, fill):
    cut(path)
    shutil.copy(path, small_disk)
    path = small_disk / "game.sqlite"
    fill(small_disk / "photos")
    before = path.read_bytes()
    for _ in range(3):
        with pytest.raises(JournalError) as caught:
            start(path)
        assert "free some disk space" in caught.value.hint
    assert path.read_bytes() == before
    assert not list(small_disk.glob("game.damaged-20??-*"))
    (small_disk / "photos").unlink()
    assert "records were recovered" in start(path).recovery


@pytest.mark.parametrize("begun", [False, True])
def test_readonly_disk_error_hints_at_readonly_mount(small_disk, begun):
    path = small_disk / "game.sqlite"
    if begun:
        start(path)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(JournalError) as caught:
        start(path)
    assert "read-only" in caught.value.hint
    assert "belongs to" not in str(caught.value)
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    start(path)


def test_own_write_protected_file_hints_chmod(tmp_path, as_nobody):
    file = tmp_path / "file"
    file.touch()
    if not os.geteuid():
        os.chown(file, 65534, 65534)
    for one in (tmp_path, *tmp_path.parents):
        if one.stat().st_uid == os.geteuid() and one != Path("/tmp"):
            with suppress(OSError):
                one.chmod(one.stat().st_mode | 0o011)
    file.chmod(0o444)
    assert "chmod u+rw" in as_nobody(lambda: explain_refusal([file]))

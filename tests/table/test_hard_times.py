"""A disk that is full in the middle of a game, a wall clock that is set a year on or back: nothing is lost."""

import os
import subprocess
import time
from contextlib import suppress

import pytest

from pi_controller import run
from pi_controller.games.registry import game
from pi_controller.mat.events import Bead, Beads, Button, HandIn, HandOut, Strike
from pi_controller.referee.facts import Done
from pi_controller.referee.history import fold
from pi_controller.referee.judge import JudgeAction
from pi_controller.referee.referees import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.table.journal import Journal
from pi_controller.table.table import Table
from pi_controller.table.verify import verdict

YEAR_S = 365 * 86400.0
DAKOTA = game("dakota")
REFEREE = RefereeSettings(hit_seconds=20.0)


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk can only be mounted by root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path):
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1024))


def sit(journal, t):
    return Table(journal, DAKOTA, {"A": "Red", "B": "Blue"}, referee_for(DAKOTA, REFEREE, os.urandom), t)


def test_a_disk_that_is_full_stops_play_until_there_is_room(small_disk):
    filler = small_disk / "photos"
    with Journal(small_disk / "j.sqlite") as journal:
        table = sit(journal, 0.0)
        table.judge(JudgeAction(1.0, {"do": "toss", "winner": "A"}))
        fill(filler)
        acknowledged, t = journal.seq, 2.0
        while table.halted is None:  # what the log has room for still goes in
            acknowledged = journal.seq
            table.mat_event(HandIn(t, 1))
            table.mat_event(HandOut(t, 1))
            t += 1.0
        assert "the disk is full" in table.halted.what
        assert not table.retry(t)
        filler.unlink()
        assert table.retry(t)
        assert journal.seq >= acknowledged
        table.judge(JudgeAction(t, {"do": "hit", "found": True}))
        assert fold(DAKOTA, journal.read()) == table.story
    found = verdict(small_disk / "j.sqlite")
    assert found.whole, found.wrong
    assert found.records > acknowledged


@pytest.mark.parametrize("step", [-YEAR_S, YEAR_S])
def test_a_step_of_the_wall_clock_is_none_of_the_game(monkeypatch, step):
    clock = run.steady_clock()
    before, wall = clock(), time.time
    monkeypatch.setattr(time, "time", lambda: wall() + step)
    assert 0 <= clock() - before < 60


def hide(table, t, pad=2, hit=3):
    for n in (1, 2, 3, 4):
        table.mat_event(HandIn(t, n))
        table.mat_event(HandOut(t, n))
    table.mat_event(Beads(t + 1, (Bead(pad),)))
    table.mat_event(Button(t + 1, "ready"))
    table.mat_event(Strike(t + 2, (hit,)))
    for late in range(3, 10):
        table.tick(t + late)


@pytest.mark.parametrize("step", [-YEAR_S, YEAR_S])
def test_a_journal_goes_on_after_the_clock_was_set(tmp_path, step):
    """The Pi was off, and came up with another year: the game goes on, and nobody is out of time for it."""
    path, t = tmp_path / "j.sqlite", 1_700_000_000.0
    with Journal(path, created=t) as journal:
        table = sit(journal, t)
        table.mat_event(Button(t, "toss_a"))
        hide(table, t)
        assert table.view.owed == "second"
        story = table.story
    t += step
    with Journal(path, created=t) as journal:
        table = sit(journal, t)
        assert table.story.state == story.state
        table.tick(t + 5)
        assert table.story.state == story.state
        table.judge(JudgeAction(t + 6, {"do": "hit", "found": False}))
        hide(table, t + 20)
        for late in range(30):
            table.tick(t + 60 + late)
        assert fold(DAKOTA, journal.read()) == table.story
        done = [fact for _, fact in journal.read() if isinstance(fact, Done)]
        assert [fact.action["do"] for fact in done[:3]] == ["toss", "hit", "hit"]
        assert len(done) > 3
    found = verdict(path)
    assert found.whole, found.wrong
    assert found.created == 1_700_000_000.0

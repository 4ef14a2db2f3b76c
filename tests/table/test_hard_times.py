"""A disk that is full in the middle of a game, a wall clock that is set a year on or back: nothing is lost."""

import os
import time

import pytest

from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import ActionPlayed
from pi_controller.referee.history import fold
from pi_controller.referee.judge import JudgeAction
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime import run
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Strike
from pi_controller.table.table import Table

YEAR_S = 365 * 86400.0
DAKOTA = game("dakota")
REFEREE = RefereeSettings(hit_seconds=20.0)


def sit(journal, t):
    return Table(journal, DAKOTA, {"A": "Red", "B": "Blue"}, referee_for(DAKOTA, REFEREE, os.urandom), t)


def test_full_disk_halts_play_until_room(small_disk, fill):
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
        assert "the disk is full" in table.halted.message
        assert not table.retry(t)
        filler.unlink()
        assert table.retry(t)
        assert journal.seq >= acknowledged
        table.judge(JudgeAction(t, {"do": "hit", "found": True}))
        assert fold(DAKOTA, journal.read()) == table.story
    found = verify_journal(small_disk / "j.sqlite")
    assert found.whole, found.wrong
    assert found.records > acknowledged


@pytest.mark.parametrize("step", [-YEAR_S, YEAR_S])
def test_wall_clock_step_leaves_game_clock_steady(monkeypatch, step):
    with run.running() as (_, _, clock, _):
        before, wall = clock(), time.time
    monkeypatch.setattr(time, "time", lambda: wall() + step)
    assert 0 <= clock() - before < 60


def hide(table, t, pad=2, hit=3):
    for n in (1, 2, 3, 4):
        table.mat_event(HandIn(t, n))
        table.mat_event(HandOut(t, n))
    table.mat_event(BeadsAtRest(t + 1, (Bead(pad),)))
    table.mat_event(Button(t + 1, "ready"))
    table.mat_event(Strike(t + 2, (hit,)))
    for late in range(3, 10):
        table.tick(t + late)


@pytest.mark.parametrize("step", [-YEAR_S, YEAR_S])
def test_journal_continues_after_clock_change(tmp_path, step):
    """The Pi was off, and came up with another year: the game goes on, and nobody is out of time for it."""
    path, t = tmp_path / "j.sqlite", 1_700_000_000.0
    with Journal(path, created=t) as journal:
        table = sit(journal, t)
        table.mat_event(Button(t, "toss_a"))
        hide(table, t)
        assert table.view.sheet["owed"] == "second"
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
        done = [fact for _, fact in journal.read() if isinstance(fact, ActionPlayed)]
        assert [fact.action["do"] for fact in done[:3]] == ["toss", "hit", "hit"]
        assert len(done) > 3
    found = verify_journal(path)
    assert found.whole, found.wrong
    assert found.created == 1_700_000_000.0

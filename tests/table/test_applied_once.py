"""A table applies each fact to its story once."""

from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.referee import reducer
from pi_controller.referee.facts import ActionPlayed
from pi_controller.referee.history import fold
from pi_controller.referee.judge import JudgeAction, JudgeAnswer
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike
from pi_controller.table.table import Command, Table

DAKOTA = game("dakota", {"points": 1})
REFEREE = RefereeSettings(fouls={"pad_twice": "ask", "two_beads": "off"}, hit_seconds=20)


def a_hide(pad):
    hands = [event for each in (3, 1, 2, 4) for event in (HandIn(1.0, each), HandOut(1.0, each))]
    return [*hands, BeadsAtRest(1.0, (Bead(pad),)), Button(1.0, "ready")]


def test_each_fact_is_applied_once(memory_journal, monkeypatch):
    applied, apply = [], reducer.apply
    monkeypatch.setattr(reducer, "apply", lambda *args: applied.append(args[2]) or apply(*args))
    journal = memory_journal()
    table = Table(journal, DAKOTA, {"A": "Red", "B": "Blue"}, DakotaReferee(DAKOTA, REFEREE, bytes))
    happened = [Link(0.0, up=True), Button(0.0, "toss_a"), *a_hide(2), Strike(1.0, (1, 3)), JudgeAnswer(2.0, "3")]
    happened += [Strike(3.0, (2,)), JudgeAction(7.0, {"do": "foul", "by": "hider", "kind": "no_bead", "hide": "last"})]
    for step in [*happened, Button(8.0, "shown"), *a_hide(3)]:
        (table.judge if isinstance(step, JudgeAction | JudgeAnswer) else table.mat_event)(step)
        table.tick(step.t)
    seen = table.view.revision
    table.command(Command(JudgeAction(9.0, {"do": "hit", "found": True}), "Ann", "judge", "key-1", seen))
    assert table.story.hide.hits
    told = [fact for _, fact in journal.read()]
    assert sum(isinstance(fact, ActionPlayed) for fact in told) == 5
    assert applied == told
    assert fold(DAKOTA, journal.read()) == table.story

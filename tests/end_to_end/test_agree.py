"""All that tells of a game tells the same one, for a few random judges and mats; and what does not is found.

`python tests/end_to_end/agree.py --runs 400` plays as many as one likes.
"""

from dataclasses import replace

import pytest
from cases import cases
from load_file import load_file

from pi_controller.referee import judge_commands
from pi_controller.referee.base import Referee
from pi_controller.referee.judge import JudgeAnswer, JudgeHidden, JudgeUndo
from pi_controller.referee.settings import PRESETS
from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike


@pytest.fixture(scope="module")
def agree():
    """Return the script."""
    return load_file("tests/end_to_end/agree.py")


def test_missing_maker_of_a_judge_call_is_reported(agree, monkeypatch):
    agree.check_makers()
    monkeypatch.delitem(agree.CALLS, "undo")
    with pytest.raises(AssertionError, match="each call of a judge needs a maker here: undo"):
        agree.check_makers()


@pytest.mark.parametrize("number", range(cases(6, 18)))
def test_they_agree(agree, number):
    run = agree.play(number, steps=25)
    assert [f"{differs.name}: {differs.text}" for differs in run.differs] == []
    assert run.count["steps"] == 25
    assert run.count["fact action"]


def test_twelve_runs_are_all_games_and_presets(agree):
    setups = [agree.setup_of(number, 0) for number in range(24)]
    assert {setup.game for setup in setups[:12]} == set(registry.names())
    assert {setup.preset for setup in setups} == set(PRESETS)


def begun(agree, *more):
    inputs = [Link(0.0, up=True), Button(1.0, "toss_a"), Strike(2.0, (2,)), Button(3.0, "left"), *more]
    return agree.Setup("slahal", {"minutes": 3}, "tournament"), [agree.Input(one) for one in inputs]


def differs_of(agree, setup, inputs):
    with agree.folder() as place, agree.Sitting(setup, place) as sitting:
        for one in inputs:
            sitting.takes(one)
            sitting.compare()
        sitting.end()
        return sitting.differs


def test_wrong_fold_is_found_with_fewest_inputs(agree, monkeypatch):
    setup, inputs = begun(agree, JudgeUndo(4.0), Button(5.0, "toss_b"))
    assert differs_of(agree, setup, inputs) == {}
    right = agree.fold

    def wrong(game, records):
        story = right(game, records)
        return replace(story, note="otherwise") if story.phase == "hide" else story

    monkeypatch.setattr(agree, "fold", wrong)
    (differs,) = differs_of(agree, setup, inputs).values()
    assert (differs.name, differs.after) == ("fold: note", 2)
    plain, fewest, differs = agree.fewest(setup, inputs, differs)
    assert plain == agree.Setup("slahal", {}, "home")
    assert [one.what for one in fewest] == [Button(1.0, "toss_a")]
    assert "otherwise" in differs.text


def test_state_left_by_refused_call_is_found(agree, monkeypatch):
    right = Referee.decide

    def wrong(referee, draft, event, t=None):
        try:
            return right(referee, draft, event, t)
        except IllegalActionError:
            referee._private.reading = None
            raise

    monkeypatch.setattr(Referee, "decide", wrong)
    hide = [each(4.0, pad, "hider") for pad in (1, 2, 3, 4) for each in (HandIn, HandOut)]
    after = [BeadsAtRest(5.0, (Bead(3, marked=True),)), JudgeAnswer(6.0, "foul"), Button(7.0, "ready")]
    inputs = [agree.Input(one) for one in (Link(0.0, up=True), Button(1.0, "toss_a"), *hide, *after)]
    setup = agree.Setup("dakota", {})
    assert set(differs_of(agree, setup, inputs)) == {agree.WITHOUT_REFUSED}
    assert differs_of(agree, setup, [one for one in inputs if one.what != after[1]]) == {}


def test_an_exception_is_found(agree, monkeypatch):
    def wrong(turn, call):
        raise KeyError("hidden")

    monkeypatch.setattr(judge_commands, "confirm_ready", wrong)
    setup, inputs = begun(agree, JudgeHidden(4.0))
    assert [differs.name for differs in differs_of(agree, setup, inputs).values()] == ["table: KeyError in wrong"]

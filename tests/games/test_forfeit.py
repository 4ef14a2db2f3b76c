"""A team or player that withdraws, does not come or is disqualified: the same in every game."""

from __future__ import annotations

import random

import pytest
from random_play import legal_action

from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.rules.play import Outcome, Play

TEAMS = ["dakota", "ojibwe", "slahal", "plum_stone"]
"""The games of two teams."""


def moments(name, many=60):
    """Yield games at every moment of some random ones, the opening first."""
    chance = random.Random(name)
    for _ in range(4):
        play = Play(registry.game(name))
        yield play
        for _ in range(many):
            action = legal_action(chance, play.game, play.state, ends=0.0)
            if play.outcome() or action is None:
                break
            play.push(action)
            yield play


@pytest.mark.parametrize("name", TEAMS)
def test_of_two_teams_the_other_wins_at_once(name):
    for play in moments(name):
        if play.outcome():
            continue
        before = play.game.sheet(play.state)
        for by, other in (("A", "B"), ("B", "A")):
            assert play.push("forfeit", by=by) == ("forfeit", "game")
            assert play.outcome() == Outcome(other, "forfeit")
            after = play.game.sheet(play.state)
            told = {key for key in after if after[key] != before[key]}
            assert told <= {"winner", "finish", "owed", "situation", "phase"}, told
            assert play.legal_actions() == ()
            assert play.game.restore(after) == play.state
            play.pop()


@pytest.mark.parametrize("name", TEAMS)
def test_a_finished_game_refuses_every_action(name):
    for play in moments(name, 20):
        if play.outcome():
            continue
        tried = [*play.legal_actions(), {"do": "forfeit", "by": "A"}, {"do": "forfeit", "by": "B"}]
        play.push("forfeit", by="A")
        for action in tried:
            with pytest.raises(IllegalActionError):
                play.game.play(play.state, action)
        play.pop()


@pytest.mark.parametrize("name", TEAMS)
def test_a_game_played_out_cannot_be_forfeited(name):
    ended = 0
    for play in moments(name, 3000):
        if play.outcome():
            ended += 1
            assert "forfeit" not in repr(play)
            for by in "AB":
                with pytest.raises(IllegalActionError, match="over"):
                    play.game.play(play.state, {"do": "forfeit", "by": by})
    assert ended


@pytest.mark.parametrize("name", TEAMS)
def test_malformed_forfeit_is_invalid(name):
    game = registry.game(name)
    for wrong in ({}, {"by": "C"}, {"by": "a"}, {"by": None}, {"by": ["A"]}, {"by": "A", "reason": "late"}):
        with pytest.raises(InvalidActionError):
            game.play(game.opening(), {"do": "forfeit", **wrong})


@pytest.mark.parametrize("name", TEAMS)
def test_finish_requires_winner_and_known_word(name):
    game = registry.game(name)
    sheet = game.sheet(game.opening())
    with pytest.raises(InvalidActionError, match="winner"):
        game.restore({**sheet, "finish": "forfeit"})
    with pytest.raises(InvalidActionError, match="finish is"):
        game.restore({**sheet, "winner": "A", "finish": "rain"})


def test_no_foul_takes_a_forfeit_back():
    play = Play(registry.game("dakota"))
    for action in ({"do": "toss", "winner": "A"}, {"do": "hit", "found": True}, {"do": "forfeit", "by": "A"}):
        play.push(action)
    for by, kind in (("hider", "no_bead"), ("hitter", "outside_help")):
        with pytest.raises(IllegalActionError, match="the game is over: B has won"):
            play.push("foul", by=by, kind=kind, hide="last")


def test_forfeit_win_with_full_points_is_invalid():
    play = Play(registry.game("dakota", {"points": 2}))
    play.push("toss", winner="A")
    play.push("forfeit", by="A")
    sheet = play.game.sheet(play.state)
    assert play.game.restore({**sheet, "short": {"A": 1, "B": 0}}).winner == "B"
    for short in ({"A": 2, "B": 0}, {"A": 0, "B": 2}):
        with pytest.raises(InvalidActionError, match="that is won by play"):
            play.game.restore({**sheet, "short": short})

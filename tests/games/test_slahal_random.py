"""What holds in every game of slahal: sticks are conserved and refusals change nothing."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_controller.games.slahal.rules import Slahal
from pi_controller.rules.base import IllegalActionError, InvalidActionError

if TYPE_CHECKING:
    from pi_controller.games.slahal.rules import State

SETTINGS = st.fixed_dictionaries(
    {
        "payment": st.sampled_from(["live_own_dead", "live_dead_own"]),
        "king_last": st.booleans(),
        "rehide": st.sampled_from(["loses_bones", "hide_again", "warning"]),
    }
)
SIGNALS = ("left", "right", "inside", "outside")
MARKS: list[dict[str, bool]] = [{}, {"block": True}, {"mirror": True}, {"block": True, "mirror": False}]
GUESSES: list[dict[str, Any]] = [
    {"do": "guess", "signal": signal, "actual": actual, **marks}
    for signal, actual, marks in product(SIGNALS, SIGNALS, MARKS)
]
EVERY: list[dict[str, Any]] = [
    *({"do": "duo", "A": a, "B": b} for a, b in product((True, False), repeat=2)),
    *GUESSES,
    {"do": "rehide"},
    *({"do": "king_moved", "by": team} for team in "AB"),
    {"do": "time"},
    *({"do": "forfeit", "by": team} for team in "AB"),
]
"""The whole alphabet."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["do", "A", "B", "signal", "actual", "block", "mirror", "by", "x"])
WORDS = st.sampled_from(["duo", "guess", "rehide", "king_moved", "time", "forfeit", "left", "A", True, False, 1])
NONSENSE = JSON | st.dictionaries(KEYS, WORDS | JSON, max_size=5)
PLAYED = st.sampled_from([*GUESSES, {"do": "rehide"}])
ACTIONS = st.lists(st.one_of(PLAYED, PLAYED, PLAYED, NONSENSE, st.sampled_from(EVERY)), max_size=80)


def well(game: Slahal, state: State) -> None:
    """Check what is true of every state."""
    assert state.sticks.total == 11
    shown = game.sheet(state)
    assert sum(shown["live"].values()) + sum(shown["dead"].values()) == 10
    assert sum(shown["sticks"].values()) == 10 + (shown["king"] is not None)
    for team in "AB":
        assert shown["sticks"][team] == shown["live"][team] + shown["dead"][team] + (shown["king"] == team)
        assert shown["live"][team] <= 5
    assert shown["phase"] == ("over" if state.winner else "play" if state.hiding else "duo")
    assert (shown["king"] is None) == (state.hiding is None) == (state.pairs_out is None)
    assert state.hiding is not None or state.finish in (None, "forfeit")
    assert (shown["winner"] is None) == (shown["finish"] is None)
    assert (state.finish == "sweep") <= (11 in shown["sticks"].values())
    hash(state)


@given(SETTINGS, ACTIONS)
@settings(max_examples=cases(15, 150), deadline=None)
def test_random_actions_conserve_sticks_and_refusals_keep_state(chosen: dict[str, Any], actions: list[Any]):
    game = Slahal(chosen)
    state, _ = game.play(game.opening(), {"do": "duo", "A": False, "B": True})
    for action in actions:
        before, told, said = state, game.sheet(state), repr(action)
        try:
            state, calls = game.play(state, action)
        except (InvalidActionError, IllegalActionError):
            assert state is before
        else:
            guessed = {("catch",), ("miss",), ("split",), ("miss", "sweep"), ("split", "sweep")}
            assert calls in {"guess": guessed, "forfeit": {("forfeit", "game")}}.get(action["do"], {()})
            assert ("sweep" in calls) == (state.finish == "sweep")
            hiding = before.hiding
            assert hiding
            if (
                calls and calls[0] != "forfeit" and state.hiding == hiding
            ):  # only the hiding team wins sticks, and no king before ten dead
                assert game.sheet(state)["dead"][hiding] >= told["dead"][hiding]
                assert state.king == before.king or game.sheet(state)["dead"][hiding] == 10
            else:
                assert state.sticks == before.sticks
        well(game, state)
        assert game.sheet(before) == told
        assert repr(action) == said


def one_at_a_time(told: dict[str, Any], n: int, payment: str, *, king_last: bool) -> tuple[Any, ...]:
    """Pay `n` sticks to the hiding team as the rule is written, one after the other."""
    h = told["hiding"]
    g = "B" if h == "A" else "A"
    live, dead, king, won = dict(told["live"]), dict(told["dead"]), told["king"], False
    own, others = (live, h), (dead, g)
    order = [(live, g), own, others] if payment == "live_own_dead" else [(live, g), others, own]
    for _ in range(n):
        if won:
            break
        for pile, team in order:
            if pile[team]:
                pile[team] -= 1
                dead[h] += 1
                break
        else:
            king, won = h, True
        if dead[h] == 10 and king == h and not king_last:
            won = True
    return live, dead, king, won


@pytest.mark.parametrize("payment", ["live_own_dead", "live_dead_own"])
@pytest.mark.parametrize("king_last", [False, True])
def test_every_payment_equals_stick_by_stick_payment(payment: str, king_last: bool):
    game = Slahal({"payment": payment, "king_last": king_last})
    states = reachable(game)
    paid = 0
    for state in states:
        if game.is_over(state) or state.hiding is None:
            continue
        told = game.sheet(state)
        for actual, n in (("right", state.pairs_out), ("inside", 1)):
            if actual == "inside" and state.pairs_out == 1:
                continue
            assert n
            after, calls = game.play(state, {"do": "guess", "signal": "left", "actual": actual})
            shown = game.sheet(after)
            live, dead, king, won = one_at_a_time(told, n, payment, king_last=king_last)
            assert (shown["live"], shown["dead"], shown["king"]) == (live, dead, king)
            assert ("sweep" in calls) == won
            paid += 1
    assert paid > 500


def reachable(game: Slahal) -> set[State]:
    """Return every state that a game can come to."""
    found: set[State] = set()
    left = [game.opening()]
    while left:
        state = left.pop()
        if state not in found:
            found.add(state)
            left += (game.play(state, action)[0] for action in game.legal_actions(state))
    return found


@given(SETTINGS, st.lists(st.integers(0, 99), max_size=60))
@settings(max_examples=cases(15, 60), deadline=None)
def test_legal_actions_are_all_there_is(chosen: dict[str, Any], picks: list[int]):
    game = Slahal(chosen)
    state = game.opening()
    for pick in picks:
        legal = game.legal_actions(state)
        reached = {game.play(state, action) for action in legal}
        assert len(reached) == len(legal)  # one for all that come to the same
        everywhere: set[Any] = set()
        for action in (one for one in EVERY if one["do"] != "forfeit"):
            try:
                everywhere.add(game.play(state, action))
            except IllegalActionError:
                assert action not in legal
        assert reached == everywhere
        if not legal:
            break
        guesses = [action for action in legal if action["do"] in ("guess", "duo")]
        state, _ = game.play(state, (guesses if pick < 97 else legal)[pick % len(guesses)])
        well(game, state)

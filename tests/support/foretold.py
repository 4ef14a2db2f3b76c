"""The truth of a game of Hampa Apena from its scripts alone."""

from typing import Any

from pi_controller.games.dakota.people import early_ready, round_order
from pi_controller.rules.base import Game
from pi_controller.simulation.habits import UNTIDY
from pi_controller.simulation.plans import Mischief, PaceName, hide_plan, toss
from pi_controller.simulation.truth import Truth

MAX_HIDES = 2000
"""Limit for a game of the Dakota kind; a longer one indicates a fault in the rules."""


def predict(
    seed: int, game: Game[Any], pace: PaceName = "brisk", mischief: Mischief | None = None, most: int = MAX_HIDES
) -> Truth:
    """Return the truth of a game (or of its first `most` hides) from the scripts, without playing it."""
    truth = Truth(seed, toss(seed))
    state, _ = game.play(game.opening(), {"do": "toss", "winner": truth.tossed})
    for hide in range(1, most + 1):
        if game.is_over(state):
            break
        plan = hide_plan(seed, hide, pace, mischief)
        passes = tuple(plan.passes[number].pad for number, _ in round_order(seed, plan, UNTIDY))
        truth.record_hide(plan, game.sheet(state)["hider"], passes, early_ready(seed, plan, UNTIDY))
        if plan.foul is None:
            for owed, stroke in (("first", plan.first), ("second", plan.second)):
                if not game.is_over(state) and game.sheet(state)["owed"] == owed:
                    truth.record_stroke(hide, owed, stroke.pad)
                    *_, action = truth.hides[hide].actions()
                    state, _ = game.play(state, action)
        else:
            for action in truth.hides[hide].actions():
                state, _ = game.play(state, action)
    return truth

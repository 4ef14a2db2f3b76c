"""Score history of a finished game, computed from its journal: the score after each hide or throw, and highlights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from pi_controller.referee.facts import ActionPlayed
from pi_controller.referee.history import History, Record
from pi_controller.rules.base import Game

MAX_DRAWN_SCORES = 120
"""Most scores in a history; a longer game is reduced to scores at equal distances."""


class ScoreHistory(msgspec.Struct, frozen=True):
    """Score history of a game.

    `turns` is the number of hides or throws. `scores` has, by side or player, the scores that decide the game (points,
    sticks, counters, notches): first at the opening and then after each turn, or after some of them in a long game.
    `leads` counts changes of the leader, `misses` is the longest run of hits, guesses or throws without success.
    """

    turns: int
    scores: dict[str, tuple[int, ...]]
    leads: int
    misses: int


def build_score_history(game: Game[Any], records: Iterable[Record]) -> ScoreHistory | None:
    """Build the score history from a journal's `records`; None if no turn was played.

    Undone actions are left out. Raises the game's errors if the rules refuse an action that counts.
    """
    history, scores = History(game), [_score(game, game.opening())]
    turn = run = misses = last = 0
    for step in history.walk(records):
        if not step.counts or not isinstance(step.fact, ActionPlayed):
            continue
        state, action = step.after.state, step.fact.action
        hide, score = step.before.hide.number, _score(game, state)
        shown = step.before.phase == "show" and action.get("hide") != "last"
        if (hide != last or shown) if game.hidden else game.settles(action):
            turn, last = turn + 1, hide
            scores.append(score)
        else:
            scores[-1] = score
        missed = _is_miss(action, step.fact.calls, game.sheet(state))
        if missed is not None:
            run = run + 1 if missed else 0
            misses = max(misses, run)
    if turn == 0:
        return None
    drawn = _downsample_scores(scores)
    return ScoreHistory(
        turn, {side: tuple(one.get(side, 0) for one in drawn) for side in scores[-1]}, _leads(scores), misses
    )


def _score(game: Game[Any], state: Any) -> dict[str, int]:
    return game.scoreboard(game.sheet(state)).scores


def _is_miss(action: Mapping[str, Any], calls: Sequence[str], sheet: Mapping[str, Any]) -> bool | None:
    """Return True if a hit, guess or throw failed; None for any other action."""
    match action.get("do"):
        case "hit":
            return not action["found"]
        case "shoot":
            return "missed" in calls
        case "guess":
            return "miss" in calls
        case "throw":
            return not sheet.get("value")
        case _:
            return None


def _leads(scores: Sequence[Mapping[str, int]]) -> int:
    """Return how often the sole leader changed."""
    leaders: list[str] = []
    for score in scores:
        most = max(score.values(), default=0)
        first = [side for side, n in score.items() if n == most]
        if len(first) == 1 and leaders[-1:] != first:
            leaders += first
    return max(0, len(leaders) - 1)


def _downsample_scores(scores: Sequence[Mapping[str, int]]) -> Sequence[Mapping[str, int]]:
    """Return at most `MAX_DRAWN_SCORES` scores at equal distances, the first and the last included."""
    if len(scores) <= MAX_DRAWN_SCORES:
        return scores
    return [scores[n * (len(scores) - 1) // (MAX_DRAWN_SCORES - 1)] for n in range(MAX_DRAWN_SCORES)]

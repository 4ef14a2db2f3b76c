"""Course of a finished game, folded from its journal: the score after each hide or throw, and what stands out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.referee.facts import Done
from pi_controller.referee.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_controller.games.base import Game
    from pi_controller.referee.history import Record

MOST = 120
"""Scores that a line is drawn through; a longer game is told by every second, third ... one and the last."""


class Course(msgspec.Struct, frozen=True):
    """How a game went.

    `turns` is the number of hides or throws, `scores` are what the game is won by (points, sticks, counters, notches)
    by side or player, first as it began and then after each of them, or where there are many of them after some.
    `leads` is how often another side came to lead, `misses` the most hits, guesses or throws in a row that came to
    nothing.
    """

    turns: int
    scores: dict[str, tuple[int, ...]]
    leads: int
    misses: int


def course_of(game: Game[Any], records: Iterable[Record]) -> Course | None:
    """Return how the game of a journal's `records` went; None where nothing was played, or it has no score.

    What was taken back is left out. Raises the game's errors where the rules do not allow what counts.
    """
    history, scores = History(game), [dict(game.score(game.opening()))]
    turn = run = misses = last = 0
    for step in history.walk(records):
        if not step.counts or not isinstance(step.fact, Done):
            continue
        state, action = step.after.state, step.fact.action
        hide, score = step.before.hide.number, dict(game.score(state))
        shown = step.before.phase == "show" and action.get("hide") != "last"
        if (hide != last or shown) if game.hidden else game.settles(action):
            turn, last = turn + 1, hide
            scores.append(score)
        else:
            scores[-1] = score
        missed = _missed(action, step.fact.calls, game.sheet(state))
        if missed is not None:
            run = run + 1 if missed else 0
            misses = max(misses, run)
    if turn == 0 or not scores[-1]:
        return None
    drawn = _thinned(scores)
    return Course(turn, {side: tuple(one.get(side, 0) for one in drawn) for side in scores[-1]}, _leads(scores), misses)


def _missed(action: Mapping[str, Any], calls: Sequence[str], sheet: Mapping[str, Any]) -> bool | None:
    """Return whether a hit, guess or throw came to nothing; None for what is none of these."""
    match action.get("do"):
        case "hit":
            return not action["found"]
        case "shoot" | "hunt":
            return "missed" in calls
        case "guess":
            return "miss" in calls
        case "throw":
            return not sheet.get("value")
        case _:
            return None


def _leads(scores: Sequence[Mapping[str, int]]) -> int:
    """Return how often another side than the one before came to have most, alone."""
    leaders: list[str] = []
    for score in scores:
        most = max(score.values(), default=0)
        first = [side for side, n in score.items() if n == most]
        if len(first) == 1 and leaders[-1:] != first:
            leaders += first
    return max(0, len(leaders) - 1)


def _thinned(scores: Sequence[Mapping[str, int]]) -> Sequence[Mapping[str, int]]:
    """Return the scores that a line is drawn through: the first and the last, and between them at equal distances."""
    if len(scores) <= MOST:
        return scores
    return [scores[n * (len(scores) - 1) // (MOST - 1)] for n in range(MOST)]

"""The mat's two ways to guess where a visitor hides: by chance, and by the visitor's habits.

A guess is made before the visitor hides, so an opponent learns the bead's place only after the hide. In Hampa Apena
both pads of a hide are chosen at once, because the second hit must miss (chapter 4): the first is the most likely
pad, the second the least likely of the others.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pi_controller.pads import EVERY_PAD

if TYPE_CHECKING:
    pass


Habit = Literal["none", "often", "after", "steps"]
"""The basis of a guess: chance, the most used pads, the pad that follows another, or the step after a hide."""

PRIOR = 0.5
"""Count of each pad before any hide, for one habit."""
RANDOM_GUESS_SHARE = 0.15
"""Share of guesses that the habit reader makes by chance, so that a predictable visitor has a chance, too."""
_ONLY_CHANCE = {pad: 1 / len(EVERY_PAD) for pad in EVERY_PAD}


class Guess(NamedTuple):
    """The pads of the first and the second hit, and the habit that led to them."""

    first: int
    second: int
    habit: Habit = "none"


class Opponent(Protocol):
    """Guesses where a visitor will hide."""

    def guess(self) -> Guess:
        """Return the pads for the two hits of the next hide."""
        ...

    def learn_hide(self, pad: int, *, found: bool) -> None:
        """Learn from a finished hide: the bead's `pad`, and whether the first hit found it."""
        ...


class RandomOpponent:
    """Guesses by chance: its first hit finds one bead in four."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def guess(self) -> Guess:
        """Return two different pads, all pairs equally likely."""
        first, second = self._rng.sample(EVERY_PAD, 2)
        return Guess(first, second)

    def learn_hide(self, pad: int, *, found: bool) -> None:
        """Ignore the hide."""


class HabitReader:
    """Guesses from one visitor's earlier hides; a new one has no data of other visitors.

    A Bayesian mixture of four predictors of the next pad, each weighted by its success so far: chance; how often each
    pad was used; the pad that followed the last one; how far the bead moved after a hide that was found, or was not.
    Visitors who hide by chance cannot be predicted by any of them.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._log_weight: dict[Habit, float] = dict.fromkeys(("none", "often", "after", "steps"), 0.0)
        self._often: Counter[int] = Counter()
        self._after: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self._steps: defaultdict[bool, Counter[int]] = defaultdict(Counter)
        self._last: tuple[int, bool] | None = None

    def guess(self) -> Guess:
        """Return the likeliest pad, then the least likely of the others; ties are broken by chance."""
        if self._rng.random() < RANDOM_GUESS_SHARE:
            first, second = self._rng.sample(EVERY_PAD, 2)
            return Guess(first, second)
        foretold = self._foretold()
        most = max(self._log_weight.values())
        weights: Mapping[Habit, float] = {habit: math.exp(weight - most) for habit, weight in self._log_weight.items()}
        chance = {pad: sum(weights[one] * foretold[one][pad] for one in foretold) for pad in EVERY_PAD}
        mixed = self._rng.sample(EVERY_PAD, len(EVERY_PAD))
        first = max(mixed, key=lambda pad: round(chance[pad], 9))
        second = min((pad for pad in mixed if pad != first), key=lambda pad: round(chance[pad], 9))
        habit = max(weights, key=lambda one: weights[one] * foretold[one][first])
        return Guess(first, second, habit if self._last is not None else "none")

    def learn_hide(self, pad: int, *, found: bool) -> None:
        """Update the weights of the habits and count this hide for each."""
        for habit, chance in self._foretold().items():
            self._log_weight[habit] += math.log(chance[pad])
        self._often[pad] += 1
        if self._last is not None:
            before, was_found = self._last
            self._after[before][pad] += 1
            self._steps[was_found][(pad - before) % len(EVERY_PAD)] += 1
        self._last = pad, found

    def _foretold(self) -> dict[Habit, Mapping[int, float]]:
        """Return the probability of each pad for the next hide, by habit."""
        foretold: dict[Habit, Mapping[int, float]] = {"none": _ONLY_CHANCE, "often": _shares(self._often)}
        if self._last is None:
            foretold["after"] = foretold["steps"] = _ONLY_CHANCE
            return foretold
        before, was_found = self._last
        steps = self._steps[was_found]
        by_step = Counter({pad: steps[(pad - before) % len(EVERY_PAD)] for pad in EVERY_PAD})
        foretold["after"], foretold["steps"] = _shares(self._after[before]), _shares(by_step)
        return foretold


def _shares(counts: Counter[int]) -> Mapping[int, float]:
    total = sum(counts.values()) + PRIOR * len(EVERY_PAD)
    return {pad: (counts[pad] + PRIOR) / total for pad in EVERY_PAD}

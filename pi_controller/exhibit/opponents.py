"""The mat's two ways to guess where a visitor hid: by chance, and by the visitor's own habits.

Neither is ever told where the bead lies before the hide is over: a guess is made before the visitor hides. In
Hampa Apena both pads of a hide are chosen at once, because the second hit must not find (chapter 4): the first is the
pad held most likely, the second the one held least likely of the others.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pi_controller.pads import EVERY_PAD

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

Habit = Literal["none", "often", "after", "steps"]
"""A guess goes by: chance, the pads hidden under most, what follows a pad, how far the bead moves after a hide."""

PRIOR = 0.5
"""What each pad counts before anything was seen, for one habit."""
CARELESS = 0.15
"""How often the reader of habits guesses by chance all the same, so that who is read well has a chance, too."""
_ONLY_CHANCE = {pad: 1 / len(EVERY_PAD) for pad in EVERY_PAD}


class Guess(NamedTuple):
    """The pads of the first and the second hit, and by which habit they were chosen."""

    first: int
    second: int
    habit: Habit = "none"

    @property
    def digits(self) -> int:
        """The two pads as a commitment takes them: 23 for pads 2 and then 3."""
        return self.first * 10 + self.second


class Opponent(Protocol):
    """What guesses where a visitor will hide."""

    def guess(self) -> Guess:
        """Return the pads of the next hide's two hits."""
        ...

    def saw(self, pad: int, *, found: bool) -> None:
        """Learn from a hide that is over: the bead lay under `pad`, and the first hit found it or not."""
        ...


class RandomOpponent:
    """Guesses by chance: it finds one bead in four on the first hit, however one hides."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def guess(self) -> Guess:
        """Return two different pads, all pairs alike."""
        first, second = self._rng.sample(EVERY_PAD, 2)
        return Guess(first, second)

    def saw(self, pad: int, *, found: bool) -> None:
        """Learn nothing."""


class HabitReader:
    """Guesses by what one visitor did before; a new one knows nothing of anybody.

    Four ways to foretell the next pad are weighed by how well each would have foretold the hides so far (a Bayesian
    mixture): chance; how often each pad was taken; what followed the last pad; how far the bead moved after a hide that
    was found, or was not. Who hides by chance is foretold by none of them.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._log_weight: dict[Habit, float] = dict.fromkeys(("none", "often", "after", "steps"), 0.0)
        self._often: Counter[int] = Counter()
        self._after: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self._steps: defaultdict[bool, Counter[int]] = defaultdict(Counter)
        self._last: tuple[int, bool] | None = None

    def guess(self) -> Guess:
        """Return the likeliest pad, then the unlikeliest of the others; ties are broken by chance."""
        if self._rng.random() < CARELESS:
            first, second = self._rng.sample(EVERY_PAD, 2)
            return Guess(first, second)
        foretold = self._foretold()
        weights = self._weights()
        chance = {pad: sum(weights[one] * foretold[one][pad] for one in foretold) for pad in EVERY_PAD}
        mixed = self._rng.sample(EVERY_PAD, len(EVERY_PAD))
        first = max(mixed, key=lambda pad: round(chance[pad], 9))
        second = min((pad for pad in mixed if pad != first), key=lambda pad: round(chance[pad], 9))
        habit = max(weights, key=lambda one: weights[one] * foretold[one][first])
        return Guess(first, second, habit if self._last is not None else "none")

    def saw(self, pad: int, *, found: bool) -> None:
        """Weigh the habits anew and count this hide for each."""
        for habit, chance in self._foretold().items():
            self._log_weight[habit] += math.log(chance[pad])
        self._often[pad] += 1
        if self._last is not None:
            before, was_found = self._last
            self._after[before][pad] += 1
            self._steps[was_found][(pad - before) % len(EVERY_PAD)] += 1
        self._last = pad, found

    def _foretold(self) -> dict[Habit, Mapping[int, float]]:
        """Return by each habit how likely each pad is next."""
        foretold: dict[Habit, Mapping[int, float]] = {"none": _ONLY_CHANCE, "often": _shares(self._often)}
        if self._last is None:
            foretold["after"] = foretold["steps"] = _ONLY_CHANCE
            return foretold
        before, was_found = self._last
        steps = self._steps[was_found]
        by_step = Counter({pad: steps[(pad - before) % len(EVERY_PAD)] for pad in EVERY_PAD})
        foretold["after"], foretold["steps"] = _shares(self._after[before]), _shares(by_step)
        return foretold

    def _weights(self) -> Mapping[Habit, float]:
        most = max(self._log_weight.values())
        return {habit: math.exp(weight - most) for habit, weight in self._log_weight.items()}


def _shares(counts: Counter[int]) -> Mapping[int, float]:
    total = sum(counts.values()) + PRIOR * len(EVERY_PAD)
    return {pad: (counts[pad] + PRIOR) / total for pad in EVERY_PAD}

"""Wait between attempts with a growing delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

_MAX_DOUBLINGS = 16


class Backoff:
    """Delays between attempts: `first_s`, doubled after each up to `most_s`; with `dice` each is spread by a half.

    >>> backoff = Backoff(0.25, 2.0)
    >>> [backoff.next_s() for _ in range(5)]
    [0.25, 0.5, 1.0, 2.0, 2.0]
    >>> backoff.reset()
    >>> backoff.next_s()
    0.25
    """

    def __init__(self, first_s: float, most_s: float, dice: random.Random | None = None) -> None:
        self.first_s = first_s
        self._most_s, self._dice = most_s, dice
        self._doublings = 0

    def reset(self) -> None:
        """Begin with the first delay again, after a success."""
        self._doublings = 0

    def next_s(self) -> float:
        """Return the delay before the next attempt, s."""
        delay_s = min(self.first_s * 2**self._doublings, self._most_s)
        self._doublings = min(self._doublings + 1, _MAX_DOUBLINGS)
        return delay_s * self._dice.uniform(0.5, 1.5) if self._dice is not None else delay_s

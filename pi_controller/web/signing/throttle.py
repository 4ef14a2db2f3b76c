"""Throttles sign-ins: a wrong PIN costs a wait, never a lockout that somebody else could turn on the owner.

Wrong PINs are counted for each pair of a name and where it was tried from, and for each place by itself. A place is the
sender's address (of IPv6 its /64), or, where a browser has signed in as that person before, that browser's own long
random cookie. So who tries from elsewhere makes only their own wait longer, and the owner, at a device that is known or
from another address, is not held up. After a few tries for nothing the wait doubles, up to a quarter of an hour:
about 100 tries a day from one address, of a million PINs.

Everybody together, but for known devices, may have so many PINs looked at in a second and no more: the Pi has a game to
keep. Places where a few were wrong already, or that do not wait for their turn as told, share a rate of their own, so
that they do not use up the others'. Somebody who holds hundreds of addresses can do so for a while; a known device
still gets in.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pi_controller.web.shares import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable

FREE = 3
"""Wrong PINs of a name at a place that cost nothing."""
FREE_AT_ALL = 10
"""Wrong PINs at a place, whatever the names, that cost nothing."""
FIRST_S, MOST_S = 1.0, 900.0
FORGET_S = 86_400.0
"""A place that was quiet for so long begins anew, s."""
RASH_S = 60.0
"""Who did not wait as told is not among the others for so long, s."""
KEPT = 8192
"""Counts kept; beyond, the one that was quiet longest goes."""

Key = tuple[str, ...]


def keys(name: str, address: str, device: str | None = None) -> tuple[Key, ...]:
    """Return what a try of `name` is counted under; `device` is a browser known to that person."""
    if device is not None:
        return (("device", name, device),)
    place = place_of(address)
    return ("name", name, place), ("place", place)


@dataclass(slots=True)
class _Count:
    wrong: int = 0
    last: float = float("-inf")
    turn: float = float("-inf")
    rash: float = float("-inf")


class Throttle:
    """The counts, in memory: nobody but the host can restart the program. Times are seconds of one clock."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._counts: OrderedDict[Key, _Count] = OrderedDict()

    def wait(self, under: Iterable[Key], now: float) -> float:
        """Return how long until the next try counts, s; 0 where it does now."""
        return max((self._left(key, now) for key in under), default=0.0)

    def clean(self, under: Iterable[Key], now: float) -> bool:
        """Return whether at most a few PINs were wrong of late at the place, and it has waited for its turn."""
        counts = [count for key in under if key[0] == "place" and (count := self._counts.get(key)) is not None]
        return all((now - one.last > FORGET_S or one.wrong < FREE) and now - one.rash > RASH_S for one in counts)

    def turned_away(self, under: Iterable[Key], now: float, wait: float) -> None:
        """Note that the place was told to come back for its turn in `wait` seconds."""
        for key in under:
            if key[0] == "place":
                count = self._counts.setdefault(key, _Count())
                if now < count.turn:
                    count.rash = now
                count.turn = now + wait
                self._kept_last(key)

    def charge(self, under: Iterable[Key], now: float) -> None:
        """Count a try as wrong before it is known to be: tries at the same moment must not all be the first."""
        for key in under:
            count = self._counts.setdefault(key, _Count())
            if now - count.last > FORGET_S:
                count.wrong = 0
            count.wrong += 1
            count.last = now
            self._kept_last(key)

    def right(self, under: Iterable[Key]) -> None:
        """The try was right: the name is forgotten, the place gets this try back and no more.

        Otherwise one's own PIN would pay for tries of other names.
        """
        for key in under:
            if key[0] == "place" and (count := self._counts.get(key)) is not None and count.wrong > 1:
                count.wrong -= 1
            else:
                self._counts.pop(key, None)

    def _kept_last(self, key: Key) -> None:
        self._counts.move_to_end(key)
        while len(self._counts) > self._kept:
            self._counts.popitem(last=False)

    def _left(self, key: Key, now: float) -> float:
        count = self._counts.get(key)
        if count is None or now - count.last > FORGET_S:
            return 0.0
        over = count.wrong - (FREE_AT_ALL if key[0] == "place" else FREE)
        if over < 0:
            return 0.0
        return max(0.0, count.last + min(FIRST_S * 2.0 ** min(over, 32), MOST_S) - now)


class Rate:
    """At most `a_second`, after a burst. Times are seconds of one clock."""

    def __init__(self, a_second: float, burst: float) -> None:
        self._a_second, self._burst = a_second, burst
        self._left, self._at = burst, float("-inf")

    def take(self, now: float) -> float:
        """Take one and return 0, or how long until there is one, s."""
        gained = self._burst if now - self._at > 3600 else max(0.0, now - self._at) * self._a_second
        self._left, self._at = min(self._burst, self._left + gained), now
        if self._left < 1:
            return (1 - self._left) / self._a_second
        self._left -= 1
        return 0.0

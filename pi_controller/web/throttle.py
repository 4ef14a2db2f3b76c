"""Throttle sign-ins: one back-off for each name, and one token bucket for each network of clients.

After some free tries each wrong PIN doubles the wait for that name, also if the guesses come from many addresses. So
that nobody can lock a judge out, a network from which no try for the name was wrong lately need not wait (for at most
`MAX_NETWORKS`), and a browser that has signed in as that person before has a back-off of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

FREE_TRIES = 3
"""Wrong PINs of a name without a wait."""
FIRST_S, MAX_WAIT_S = 1.0, 300.0
"""The first wait, doubled by each further wrong PIN, and the longest: about 300 guesses a day, of a million PINs."""
FORGET_S = 86_400.0
"""A back-off ends after this long without a wrong PIN, s."""
MAX_NETWORKS = 256
TRIES_A_SECOND, BURST = 1.0, 10.0
"""Tries of one network, whatever the names: the Pi that hashes the PINs has a game to run."""
MAX_BUCKETS = 4096


class TokenBuckets:
    """A token bucket for each key: `a_second` tokens a second, up to `burst`. Times are seconds of one clock.

    Of more than `MAX_BUCKETS` the one unused for longest is dropped.
    """

    def __init__(self, a_second: float, burst: float) -> None:
        self._a_second, self._burst = a_second, burst
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._left)

    def take(self, key: Hashable, now: float) -> float:
        """Take a token and return 0, or return how long until there is one, s."""
        left, at = self._left.pop(key, (self._burst, now))
        left = min(self._burst, left + max(0.0, now - at) * self._a_second)
        self._left[key] = (left - 1 if left >= 1 else left), now
        if len(self._left) > MAX_BUCKETS:
            self._left.popitem(last=False)
        return max(0.0, (1 - left) / self._a_second)


@dataclass(slots=True)
class _BackOff:
    wrong: int = 0
    last: float = 0.0
    networks: set[str] = field(default_factory=set[str])


class Throttle:
    """The back-offs by key (a name) and the buckets, in memory. Times are seconds of one clock.

    There are as many back-offs as keys that a caller uses, so a caller uses one key for all unknown names. A try from
    the network "" has no bucket: it is of a known browser, which has its own key.
    """

    def __init__(self) -> None:
        self._back_offs: dict[Hashable, _BackOff] = {}
        self._buckets = TokenBuckets(TRIES_A_SECOND, BURST)

    def __len__(self) -> int:
        return len(self._back_offs) + len(self._buckets)

    def admit(self, key: Hashable, network: str, now: float) -> float:
        """Return 0 and count the try as wrong, or return how long it must wait, s.

        It is counted before it is checked, so that simultaneous tries cannot all be the first.
        """
        wait = self.wait(key, network, now) or (self._buckets.take(network, now) if network else 0.0)
        if not wait:
            one = self._back_offs.setdefault(key, _BackOff())
            if not 0 <= now - one.last <= FORGET_S:
                one = self._back_offs[key] = _BackOff()
            one.wrong, one.last = one.wrong + 1, now
            if len(one.networks) < MAX_NETWORKS:
                one.networks.add(network)
        return wait

    def wait(self, key: Hashable, network: str, now: float) -> float:
        """Return how long the back-off of `key` asks a try from `network` to wait, s."""
        one = self._back_offs.get(key)
        if one is None or not 0 <= now - one.last <= FORGET_S or one.wrong < FREE_TRIES:
            return 0.0
        if network not in one.networks and len(one.networks) < MAX_NETWORKS:
            return 0.0
        return max(0.0, one.last + min(FIRST_S * 2.0 ** min(one.wrong - FREE_TRIES, 32), MAX_WAIT_S) - now)

    def record_success(self, key: Hashable) -> None:
        """End the back-off of `key`."""
        self._back_offs.pop(key, None)

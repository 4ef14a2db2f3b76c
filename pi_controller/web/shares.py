"""Per-client limits on connections and streams: beyond them the oldest of the client with the most is closed.

So whoever comes is let in, and one place that wants all of it only takes from itself. A limit for each place would have
to be small to be worth anything, and a whole hall may come from one address: behind a router of its own, or a proxy.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@lru_cache(maxsize=4096)
def place_of(address: str) -> str:
    """Return the place of a sender: its address, of IPv6 the network's /64, for one host has all of that."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "nowhere"
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """One of what `who` holds; `give_up` takes it away."""

    who: str
    give_up: Callable[[], None]


class Shares:
    """At most `most` at once, and at most `each` of one holder; `keeps` more may be kept from being given up."""

    def __init__(self, most: int, each: int | None = None, keeps: int = 0) -> None:
        self._most, self._each, self._keeps = most, each, keeps
        self._held: dict[str, dict[Share, None]] = {}
        self._count = 0
        self._kept: OrderedDict[Share, None] = OrderedDict()

    def __len__(self) -> int:
        return self._count + len(self._kept)

    def take(self, who: str, give_up: Callable[[], None]) -> Share:
        """Return a new share for `who`, having called another's `give_up` where there were enough."""
        if self._each is not None and len(self._held.get(who, ())) >= self._each:
            self._drop(who)
        elif self._count >= self._most:
            self._drop(max(self._held, key=lambda one: len(self._held[one])))
        share = Share(who, give_up)
        self._add(share)
        return share

    def leave(self, share: Share) -> None:
        """Give `share` back. Giving it back twice, or after it was given up, is fine."""
        if share in self._kept:
            del self._kept[share]
        elif share in (held := self._held.get(share.who, {})):
            del held[share]
            self._count -= 1
            if not held:
                del self._held[share.who]

    def keep(self, share: Share) -> None:
        """Let `share` not be given up for others any more; of too many that are kept the oldest is as any other."""
        if share not in self._held.get(share.who, ()) or not self._keeps:
            return
        self.leave(share)
        self._kept[share] = None
        if len(self._kept) > self._keeps:
            self._add(self._kept.popitem(last=False)[0])

    def _add(self, share: Share) -> None:
        self._held.setdefault(share.who, {})[share] = None
        self._count += 1

    def _drop(self, who: str) -> None:
        oldest = next(iter(self._held[who]))
        self.leave(oldest)
        oldest.give_up()

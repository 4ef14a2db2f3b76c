"""Limits on connections and streams: beyond them the oldest one of the client with the most is closed.

So a new client is always accepted, and a greedy one only loses its own connections. A fixed limit for each client
would have to be small to be useful, but a whole hall may share one address behind a router or proxy.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakValueDictionary


@lru_cache(maxsize=4096)
def client_network(address: str) -> str:
    """Return the client's network: its IPv4 address, or the /64 of IPv6, which one host may own completely."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "nowhere"
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


def is_loopback(address: str) -> bool:
    """Return whether a client's address is this machine's own."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


@dataclass(frozen=True, slots=True, eq=False)
class ConnectionSlot:
    """One connection or stream of the client `who`; `evict` closes it."""

    who: str
    evict: Callable[[], None]


class ConnectionLimits:
    """At most `most` slots in total, and `each` for one client; `keeps` further ones can be protected."""

    def __init__(self, most: int, each: int | None = None, keeps: int = 0) -> None:
        self._most, self._each, self._keeps = most, each, keeps
        self._held: dict[str, dict[ConnectionSlot, None]] = {}
        self._count = 0
        self._kept: OrderedDict[ConnectionSlot, None] = OrderedDict()

    def __len__(self) -> int:
        return self._count + len(self._kept)

    def take(self, who: str, give_up: Callable[[], None]) -> ConnectionSlot:
        """Return a new slot for `who`; if the limit is reached, close the oldest one by its `give_up`."""
        if self._each is not None and len(self._held.get(who, ())) >= self._each:
            self._drop(who)
        elif self._count >= self._most:
            self._drop(max(self._held, key=lambda one: len(self._held[one])))
        share = ConnectionSlot(who, give_up)
        self._add(share)
        return share

    def release(self, share: ConnectionSlot) -> None:
        """Release `share`. Releasing it twice, or after it was closed for others, is fine."""
        if share in self._kept:
            del self._kept[share]
        elif share in (held := self._held.get(share.who, {})):
            del held[share]
            self._count -= 1
            if not held:
                del self._held[share.who]

    def protect(self, share: ConnectionSlot) -> None:
        """Protect `share` from being closed for others; of too many protected ones the oldest loses its protection."""
        if share not in self._held.get(share.who, ()) or not self._keeps:
            return
        self.release(share)
        self._kept[share] = None
        if len(self._kept) > self._keeps:
            self._add(self._kept.popitem(last=False)[0])

    def _add(self, share: ConnectionSlot) -> None:
        self._held.setdefault(share.who, {})[share] = None
        self._count += 1

    def _drop(self, who: str) -> None:
        oldest = next(iter(self._held[who]))
        self.release(oldest)
        oldest.evict()


class ClientSemaphore:
    """Let at most `most` do something at once, and `each` of one client; the others wait."""

    def __init__(self, most: int, each: int) -> None:
        self._all, self._each = asyncio.Semaphore(most), each
        self._clients: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def take(self, who: str) -> AsyncGenerator[None]:
        """Wait for a turn of the client `who`, and hold it."""
        mine = self._clients.setdefault(who, asyncio.Semaphore(self._each))
        async with mine, self._all:
            yield

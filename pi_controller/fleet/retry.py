"""Tries again, after longer and longer, what another machine does not answer; what is in the way is logged once."""

from __future__ import annotations

import asyncio
import logging

log = logging.getLogger(__name__)
AGAIN_S, MOST_S = 0.25, 2.0
"""After so long it is tried again, then after twice as long, and so on."""


class Retry:
    """The tries to reach `name`, until `closing`."""

    def __init__(self, name: str, closing: asyncio.Event) -> None:
        self._name = name
        self._closing = closing
        self._wait, self._known = AGAIN_S, ""

    def reached(self) -> None:
        """It was reached."""
        if self._known:
            log.info("%s is there again", self._name)
        self._wait, self._known = AGAIN_S, ""

    async def failed(self, why: str) -> None:
        """It was not; return when it is to be tried again, or `closing`."""
        if why != self._known:
            self._known = why
            log.warning("no connection to %s: %s; it is tried until it is there", self._name, why)
        try:
            async with asyncio.timeout(self._wait):
                await self._closing.wait()
        except TimeoutError:
            self._wait = min(2 * self._wait, MOST_S)

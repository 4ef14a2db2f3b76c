"""Commands to the board, one in flight: each is resent until the board acknowledges it.

The board does an order once however often it comes. An order belongs to one link: when that goes down it is given up,
and whoever still wants it asks again on the next.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

AGAIN_S, LONGEST_S = 0.05, 0.4
"""An order without an answer is sent again after this long, then after twice as long, up to the longest."""


def _nobody(_: int | None) -> None:
    """Take the result of an order that nobody waits for."""


class BoardCommand(NamedTuple):
    """`body(number)` makes the frame's body; `done(result)` hears what the board said, None when the link went down."""

    body: Callable[[int], bytearray]
    done: Callable[[int | None], None] = _nobody


class BoardCommands:
    """The command queue of a session; `send` sends a body.

    `sources` are asked in turn for their next order whenever none is under way: so nothing stale waits in a queue.
    """

    def __init__(self, send: Callable[[bytearray], None]) -> None:
        self.sources: list[Callable[[], BoardCommand | None]] = []
        self.links: int = 0
        """How many links took orders so far: on a new one the board may have forgotten what it was told."""
        self.repeated = 0
        """How often an order was sent again."""
        self._send = send
        self._waiting: deque[BoardCommand] = deque()
        self._open = False
        self.number = 0
        self._order: BoardCommand | None = None
        self._again = 0.0
        self._wait = AGAIN_S

    def give(self, order: BoardCommand) -> None:
        """Queue `order`, to be executed once, on this link or, while there is none, on the next."""
        self._waiting.append(order)

    def begin(self) -> None:
        """A board that takes commands is connected. Numbers go on, so that no old command can pass for a new one."""
        self.end()
        self._open = True
        self.links += 1

    def end(self) -> None:
        """The board is gone: abort what is in flight."""
        self._open = False
        order, self._order = self._order, None
        if order is not None:
            order.done(None)

    def done(self, number: int, result: int) -> bool:
        """Take a DONE; False for one that acknowledges no command of this link."""
        if self.number - number & 0xFFFF > 0x7FFF:
            return False
        if number == self.number and self._order is not None:
            order, self._order = self._order, None
            order.done(result)
        return True

    def tick(self, t: float) -> None:
        """Send what is due at `t`."""
        if not self._open:
            return
        if self._order is None:
            self._order = self._next()
            if self._order is None:
                return
            self.number = self.number + 1 & 0xFFFF
            self._wait = AGAIN_S
        elif t < self._again:
            return
        else:
            self.repeated += 1
            self._wait = min(2 * self._wait, LONGEST_S)
        self._again = t + self._wait
        self._send(self._order.body(self.number))

    def _next(self) -> BoardCommand | None:
        if self._waiting:
            return self._waiting.popleft()
        for source in self.sources:
            order = source()
            if order is not None:
                return order
        return None

"""Sends commands to the board, one at a time, and resends each until the board acknowledges it.

The board executes a command once, however often it arrives. A command belongs to one link: if that goes down, the
command is aborted, and its source may issue it again on the next link.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from pi_controller.host.backoff import Backoff

RETRY_S, MAX_RETRY_S = 0.05, 0.4
"""A command without an answer is resent after this long, then after twice as long, up to the longest."""


def _ignore_result(_: int | None) -> None:
    """Ignore the result of a command."""


class BoardCommand(NamedTuple):
    """`body(number)` returns the frame's body; `done(result)` gets the board's result, None if the link went down."""

    body: Callable[[int], bytearray]
    on_result: Callable[[int | None], None] = _ignore_result


class BoardCommands:
    """The command queue of a session; `send` sends a body.

    `sources` are asked in turn for their next command when none is in flight, so no stale command waits in a queue.
    """

    def __init__(self, send: Callable[[bytearray], None]) -> None:
        self.sources: list[Callable[[], BoardCommand | None]] = []
        self.links: int = 0
        """Links that accepted commands so far. On a new one the board may have lost its state."""
        self.repeated = 0
        """Number of resends."""
        self._send = send
        self._waiting: deque[BoardCommand] = deque()
        self._open = False
        self.number = 0
        self._order: BoardCommand | None = None
        self._again = 0.0
        self._backoff = Backoff(RETRY_S, MAX_RETRY_S)

    def enqueue(self, order: BoardCommand) -> None:
        """Queue `order` to be executed once, on this link or, if there is none, on the next."""
        self._waiting.append(order)

    def begin(self) -> None:
        """Begin a link to a board that accepts commands. Numbers continue, so that old commands are recognised."""
        self.end()
        self._open = True
        self.links += 1

    def end(self) -> None:
        """End the link, and abort the command in flight."""
        self._open = False
        order, self._order = self._order, None
        if order is not None:
            order.on_result(None)

    def take_result(self, number: int, result: int) -> bool:
        """Process a DONE; return False if it acknowledges no command of this link."""
        if self.number - number & 0xFFFF > 0x7FFF:
            return False
        if number == self.number and self._order is not None:
            order, self._order = self._order, None
            order.on_result(result)
        return True

    def tick(self, t: float) -> None:
        """Send or resend the command that is due at `t`."""
        if not self._open:
            return
        if self._order is None:
            self._order = self._next()
            if self._order is None:
                return
            self.number = self.number + 1 & 0xFFFF
            self._backoff.reset()
        elif t < self._again:
            return
        else:
            self.repeated += 1
        self._again = t + self._backoff.next_s()
        self._send(self._order.body(self.number))

    def _next(self) -> BoardCommand | None:
        if self._waiting:
            return self._waiting.popleft()
        for source in self.sources:
            order = source()
            if order is not None:
                return order
        return None

"""The table's side of the sending, as a pure machine: what is to be sent now, from hello, acknowledgements and time.

The journal is the outbox: nothing is queued, and nothing is forgotten that was not acknowledged by the hub's own disk.
A broker that loses what it had accepted costs a second, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pi_controller.fleet.messages import MOST_GAMES, MOST_RECORDS, Game, Hello

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.fleet.messages import Ack

WINDOW = MOST_RECORDS
"""Records that may be under way at once."""
BACK_S = 1.0
"""After so long without progress all that is not acknowledged is sent again."""
ASK_S = 2.0
"""After so long without an answer the hello is sent again."""
REFUSED_S = 30.0
"""After so long a table that was refused asks again: somebody may have accepted it."""
STALLS = 2
"""After so many times of sending again the table asks the hub what it has: it may be another disk."""


class Range(NamedTuple):
    """These records are to be sent: from `first` to `last` of the journal with this epoch."""

    epoch: str
    first: int
    last: int


class Outbox:
    """What a table has to send. `start` tells this start of the program from others; times are in seconds.

    `games` are the table's journals, the one that is played last; of that one records up to `released` may be sent.
    """

    def __init__(self, start: str, program: str = "") -> None:
        self.refused = ""
        self.acked = 0
        self.epoch = ""
        """Of which journal records are sent now; "" until the hub has answered."""
        self._start = start
        self._program = program
        self._games: tuple[Game, ...] = ()
        self._released = 0
        self._asks = 0
        self._ask_at: float | None = None
        self._next = 1
        self._moved = 0.0
        self._stalls = 0

    @property
    def done(self) -> bool:
        """Whether the hub has acknowledged all that may be sent."""
        return bool(self._games) and self.epoch == self._games[-1].epoch and self.acked >= self._released

    def have(self, games: Sequence[Game], released: int) -> None:
        """Take note of what the table has."""
        self._games = tuple(games)[-MOST_GAMES:]
        self._released = released

    def ask(self, t: float) -> None:
        """Begin anew with a hello: the connection is, or the hub may be, another."""
        self.epoch, self.refused = "", ""
        self._ask_at = t
        self._asks += 1

    def stop(self) -> None:
        """Send nothing until `ask`: there is no connection."""
        self.epoch = ""
        self._ask_at = None

    def due(self, t: float) -> Hello | Range | None:
        """Return what is to be sent at `t`, and take it as sent; None for nothing. Ask again until it is None."""
        if not self._games:
            return None
        if self._ask_at is not None and t >= self._ask_at:
            self._ask_at = t + (REFUSED_S if self.refused else ASK_S)
            return Hello(f"{self._start}-{self._asks}", self._games, self._program)
        if not self.epoch or self.refused:
            return None
        last = self._last()
        if last is None or (self.acked >= last and self.epoch != self._games[-1].epoch):
            self.ask(t)  # that game is whole at the hub, or none of the table's any more: which comes next?
            return self.due(t)
        if self._next > self.acked + 1 and t - self._moved >= BACK_S:
            self._stalls += 1
            if self._stalls >= STALLS:
                self._stalls = 0
                self.ask(t)
                return self.due(t)
            self._next, self._moved = self.acked + 1, t
        until = min(last, self.acked + WINDOW)
        if self._next > until:
            return None
        if self._next == self.acked + 1:
            self._moved = t
        first, self._next = self._next, until + 1
        return Range(self.epoch, first, until)

    def on_ack(self, t: float, ack: Ack) -> None:
        """Take the hub's answer. One to an older hello, or for another journal, is passed over."""
        if ack.ask:
            if ack.ask != f"{self._start}-{self._asks}":
                return
            self.epoch, self.acked, self.refused = ack.epoch, ack.seq, ack.refused
            self._next, self._moved, self._stalls = ack.seq + 1, t, 0
            self._ask_at = t + REFUSED_S if ack.refused else None
        elif ack.epoch != self.epoch:
            return
        elif ack.refused:
            self.refused, self._ask_at = ack.refused, t + REFUSED_S
            return
        elif ack.seq > self.acked:
            self.acked, self._moved, self._stalls = ack.seq, t, 0
            self._next = max(self._next, ack.seq + 1)

    def wait(self, t: float) -> float | None:
        """Return in how many seconds something is due without news; None for never."""
        if self._ask_at is not None:
            return max(0.0, self._ask_at - t)
        if self.epoch and not self.refused and self._next > self.acked + 1:
            return max(0.0, self._moved + BACK_S - t)
        return None

    def _last(self) -> int | None:
        """Return the last record that may be sent of the journal that is being sent."""
        for game in self._games:
            if game.epoch == self.epoch:
                return self._released if game is self._games[-1] else game.seq
        return None

"""The table's side of sending records: computes the next message from hello, acknowledgements and time. No I/O.

The journal is the outbox: there is no queue, and a record is resent until the hub has stored and acknowledged it. If
an answer is lost, that costs only a second.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pi_controller.hub.messages import MAX_GAMES, MAX_RECORDS, Ack, Hello, SentGame

MAX_UNACKED_RECORDS = MAX_RECORDS
"""Maximum records sent and not yet acknowledged."""
RESEND_S = 1.0
"""Without progress for this long, all unacknowledged records are resent."""
HELLO_RETRY_S = 2.0
"""Without an answer for this long, the hello is resent."""
REFUSED_RETRY_S = 30.0
"""After this long a refused table asks again: its journal may have been accepted."""
STALLS = 2
"""After this many resends without progress the table asks for the hub's position: the hub may have another disk."""


class RecordRange(NamedTuple):
    """Records to send: `first` to `last` of the journal with this epoch."""

    epoch: str
    first: int
    last: int


class Outbox:
    """The records that a table has to send. `start` is a random id of this program start; times are in seconds.

    `games` are the table's journals, the current one last; its records up to `released` may be sent.
    """

    def __init__(self, start: str, program: str = "") -> None:
        self.refused = ""
        self.acked = 0
        self.epoch = ""
        """The journal being sent; "" until the hub has answered the hello."""
        self._start = start
        self._program = program
        self._games: tuple[SentGame, ...] = ()
        self._released = 0
        self._asks = 0
        self._ask_at: float | None = None
        self._next = 1
        self._moved = 0.0
        self._stalls = 0

    @property
    def done(self) -> bool:
        """Whether the hub has acknowledged all records that may be sent."""
        return bool(self._games) and self.epoch == self._games[-1].epoch and self.acked >= self._released

    def set_available(self, games: Sequence[SentGame], released: int) -> None:
        """Set the journals and the released records of the table."""
        self._games = tuple(games)[-MAX_GAMES:]
        self._released = released

    def start_hello(self, t: float) -> None:
        """Start again with a hello, because the connection or the hub may have changed."""
        self.epoch, self.refused = "", ""
        self._ask_at = t
        self._asks += 1

    def stop(self) -> None:
        """Pause until `start_hello`: the connection is lost."""
        self.epoch = ""
        self._ask_at = None

    def next_message(self, t: float) -> Hello | RecordRange | None:
        """Return the next message to send at `t` and count it as sent, or None. Call it again until it returns None."""
        if not self._games:
            return None
        if self._ask_at is not None and t >= self._ask_at:
            self._ask_at = t + (REFUSED_RETRY_S if self.refused else HELLO_RETRY_S)
            return Hello(f"{self._start}-{self._asks}", self._games, self._program)
        if not self.epoch or self.refused:
            return None
        last = self._last()
        if last is None or (self.acked >= last and self.epoch != self._games[-1].epoch):
            self.start_hello(t)  # the hub has all of that game, or it is no longer here: ask for the next one
            return self.next_message(t)
        if self._next > self.acked + 1 and t - self._moved >= RESEND_S:
            self._stalls += 1
            if self._stalls >= STALLS:
                self._stalls = 0
                self.start_hello(t)
                return self.next_message(t)
            self._next, self._moved = self.acked + 1, t
        until = min(last, self.acked + MAX_UNACKED_RECORDS)
        if self._next > until:
            return None
        if self._next == self.acked + 1:
            self._moved = t
        first, self._next = self._next, until + 1
        return RecordRange(self.epoch, first, until)

    def on_ack(self, t: float, ack: Ack) -> None:
        """Process an answer of the hub. Ignore one to an older hello or about another journal."""
        if ack.ask:
            if ack.ask != f"{self._start}-{self._asks}":
                return
            self.epoch, self.acked, self.refused = ack.epoch, ack.seq, ack.refused
            self._next, self._moved, self._stalls = ack.seq + 1, t, 0
            self._ask_at = t + REFUSED_RETRY_S if ack.refused else None
        elif ack.epoch != self.epoch:
            return
        elif ack.refused:
            self.refused, self._ask_at = ack.refused, t + REFUSED_RETRY_S
            return
        elif ack.seq > self.acked:
            self.acked, self._moved, self._stalls = ack.seq, t, 0
            self._next = max(self._next, ack.seq + 1)

    def wait(self, t: float) -> float | None:
        """Return the seconds until the next message is due; None if there is none without a new event."""
        if self._ask_at is not None:
            return max(0.0, self._ask_at - t)
        if self.epoch and not self.refused and self._next > self.acked + 1:
            return max(0.0, self._moved + RESEND_S - t)
        return None

    def _last(self) -> int | None:
        """Return the last record that may be sent of the current journal."""
        for game in self._games:
            if game.epoch == self.epoch:
                return self._released if game is self._games[-1] else game.seq
        return None

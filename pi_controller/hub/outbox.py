"""The table's side of sending records: what to post next, by the hub's answers. No I/O.

The journal is the outbox: there is no queue, and a record is sent until the hub has stored and acknowledged it. The
table posts one part at a time, so each answer is that of the last one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pi_controller.hub.messages import MAX_GAMES, MAX_RECORDS, Ack, Hello, SentGame, StoredMessage

HELLO_RETRY_S = 2.0
"""After this long a hello is sent again that the hub could not answer, or after records without progress."""
REFUSED_RETRY_S = 30.0
"""After this long a refused table asks again: its journal may have been accepted."""


class RecordRange(NamedTuple):
    """Records to send: `first` to `last` of the journal with this epoch."""

    epoch: str
    first: int
    last: int


class Outbox:
    """The records that a table has to send; `program` is its version, times are in seconds.

    `games` are the table's journals, the current one last; its records up to `released` may be sent.
    """

    def __init__(self, program: str = "") -> None:
        self.refused = ""
        self.acked = 0
        self.epoch = ""
        """The journal being sent; "" until the hub has answered the hello."""
        self._program = program
        self._games: tuple[SentGame, ...] = ()
        self._released = 0
        self._ask_at: float | None = float("-inf")
        """When to ask the hub where to go on; None while that is known."""

    @property
    def done(self) -> bool:
        """Whether the hub has acknowledged all records that may be sent."""
        return bool(self._games) and self.epoch == self._games[-1].epoch and self.acked >= self._released

    def set_available(self, games: Sequence[SentGame], released: int) -> None:
        """Set the journals and the released records of the table."""
        self._games = tuple(games)[-MAX_GAMES:]
        self._released = released

    def ask(self, t: float = float("-inf")) -> None:
        """Ask the hub from `t` on where to go on: it may be another one, or have another disk."""
        self.epoch, self.refused, self._ask_at = "", "", t

    def next_message(self, t: float) -> Hello | RecordRange | None:
        """Return what to send at `t`, or None."""
        if not self._games:
            return None
        last = self._last()
        if self._ask_at is None and (last is None or (self.acked >= last and self.epoch != self._games[-1].epoch)):
            self.ask(t)  # the hub has all of that game, or it is no longer here: ask for the next one
        if self._ask_at is not None or last is None:
            return Hello(self._games, self._program) if self.wait(t) == 0.0 else None
        until = min(last, self.acked + MAX_RECORDS)
        return RecordRange(self.epoch, self.acked + 1, until) if until > self.acked else None

    def on_answer(self, t: float, sent: StoredMessage, ack: Ack | None) -> None:
        """Process the hub's answer to what was `sent`; None if it does not tell."""
        progress = ack is not None and (
            isinstance(sent, Hello) or (ack.epoch == self.epoch and (bool(ack.refused) or ack.seq > self.acked))
        )
        if ack is None or not progress:
            self.ask(t + HELLO_RETRY_S)
            return
        self.epoch, self.acked, self.refused = ack.epoch, ack.seq, ack.refused
        self._ask_at = t + REFUSED_RETRY_S if ack.refused else None

    def wait(self, t: float) -> float | None:
        """Return the seconds until the next hello is due; None if none is due without a new event."""
        return None if self._ask_at is None else max(0.0, self._ask_at - t)

    def _last(self) -> int | None:
        """Return the last record that may be sent of the current journal."""
        for game in self._games:
            if game.epoch == self.epoch:
                return self._released if game is self._games[-1] else game.seq
        return None

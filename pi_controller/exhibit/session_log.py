"""The log of one session: what was sealed, hidden, struck and opened, in order, so that anybody can check it.

A record is a flat dictionary, one JSON object a line; `n` counts from 1. The mat's guess is sealed before the visitor
hides, and the place where the mat hides before the visitor strikes. A seal is a commitment as the table's own
(`referee.commitment`), bound to the table, this session and the record's number, of the game `dakota/guess` or
`dakota/bead`; a guess has a digit for each hit. `check_log` is a separate small program that checks such a log.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pi_controller.referee.commitment import NONCE_BYTES, Bound, commitment

if TYPE_CHECKING:
    from collections.abc import Callable

What = Literal["guess", "bead"]
SESSION_BYTES = 8
MOST_RECORDS = 2000
"""A session is short; beyond, nothing more is kept of it, and the log says so."""


class Sealed(NamedTuple):
    """A seal whose opening is still the mat's own: never shown, logged or printed before `SessionLog.open`."""

    what: What
    hide: int
    digits: int
    nonce: bytes
    bound: Bound
    hash: str

    def __repr__(self) -> str:
        """Return what may be seen by anybody."""
        return f"<Sealed {self.what} {self.hash}>"

    __str__ = __repr__


class SessionLog:
    """The log of one session at the table called `table`. `write` is given each line as it comes, where it is kept.

    `against` is who the visitors play against: the mat, or each other.
    """

    def __init__(
        self,
        table: str,
        t: float,
        random_bytes: Callable[[int], bytes],
        write: Callable[[str], None] | None = None,
        against: str = "mat",
    ) -> None:
        self.session = random_bytes(SESSION_BYTES).hex()
        self.records: list[dict[str, Any]] = []
        self._table = table
        self._began = t
        self._random_bytes = random_bytes
        self._write = write
        self.add("session", t, table=table, session=self.session, game="dakota", against=against)

    def add(self, kind: str, t: float, **fields: object) -> int:
        """Add a record and return its number; times are seconds since the session began."""
        number = len(self.records) + 1
        if number > MOST_RECORDS:
            return number
        if number == MOST_RECORDS:
            kind, fields = "full", {}
        record = {"n": number, "t": round(t - self._began, 2), "kind": kind, **fields}
        self.records.append(record)
        if self._write is not None:
            self._write(json.dumps(record, separators=(",", ":")))
        return number

    def seal(self, what: What, t: float, hide: int, digits: int) -> Sealed:
        """Commit to the pads `digits` of `hide`; only the hash is logged."""
        nonce = self._random_bytes(NONCE_BYTES)
        bound = Bound(self._table, self.session, len(self.records) + 1)
        made = commitment(f"dakota/{what}", hide, digits, nonce, bound)
        self.add("sealed", t, what=what, hide=hide, hash=made)
        return Sealed(what, hide, digits, nonce, bound, made)

    def open(self, sealed: Sealed, t: float) -> None:
        """Open a seal: its pads and its nonce, and the record that it was sealed in."""
        self.add(
            "opened",
            t,
            what=sealed.what,
            hide=sealed.hide,
            pads=sealed.digits,
            nonce=sealed.nonce.hex(),
            sealed=sealed.bound.event,
        )

    def lines(self) -> str:
        """Return the log as it is kept: a line of JSON for each record."""
        return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in self.records)

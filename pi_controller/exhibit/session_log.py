"""The log of one session: everything sealed, hidden, struck and opened, in order, so that anybody can check it.

A record is a flat dictionary, stored as one JSON object a line; `n` counts from 1. The mat's guess is sealed before the
visitor hides, and the mat's own hiding place before the visitor strikes. A seal is a commitment like the table's
(`referee.commitment`), bound to the table, this session and the record's number, with the game `dakota/guess` or
`dakota/bead`; a guess has a digit for each hit. `check_log` is a separate small program that checks such a log.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from pi_controller.referee.commitment import NONCE_BYTES, CommitmentContext, commitment

What = Literal["guess", "bead"]
SESSION_BYTES = 8
MAX_RECORDS = 2000
"""Sessions are short; a longer log ends with a record `full`."""


class Sealed(NamedTuple):
    """A seal with its secret content: never shown, logged or printed before `SessionLog.open`."""

    what: What
    hide: int
    digits: int
    nonce: bytes
    bound: CommitmentContext
    hash: str

    def __repr__(self) -> str:
        """Return a text without the secret content."""
        return f"<Sealed {self.what} {self.hash}>"

    __str__ = __repr__


class SessionLog:
    """The log of one session at the table called `table`. If `write` is given, it receives each line as it is added.

    `against` is the visitors' opponent: the mat, or each other.
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
        if number > MAX_RECORDS:
            return number
        if number == MAX_RECORDS:
            kind, fields = "full", {}
        record = {"n": number, "t": round(t - self._began, 2), "kind": kind, **fields}
        self.records.append(record)
        if self._write is not None:
            self._write(json.dumps(record, separators=(",", ":")))
        return number

    def seal(self, what: What, t: float, hide: int, digits: int) -> Sealed:
        """Commit to the pads `digits` of `hide`; only the hash is logged."""
        nonce = self._random_bytes(NONCE_BYTES)
        bound = CommitmentContext(self._table, self.session, len(self.records) + 1)
        made = commitment(f"dakota/{what}", hide, digits, nonce, bound)
        self.add("sealed", t, what=what, hide=hide, hash=made)
        return Sealed(what, hide, digits, nonce, bound, made)

    def open(self, sealed: Sealed, t: float) -> None:
        """Log the opening of a seal: its pads, its nonce, and the number of the record that sealed it."""
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
        """Return the log as text: a line of JSON for each record."""
        return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in self.records)

"""How a table joins a hub: the code that the director shows, and the two lines that table and hub exchange.

The table calls the hub by TLS and has no certificate to know it by. The code stands in for one: its first part is good
for one use, its second is the beginning of the SHA-256 of the certificate that the hub made when it began to take
tables in. The table sends nothing before that fits, so nobody between the two reads or changes anything.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

import msgspec

from pi_controller.errors import MatError, UsageError

VERSION = 1
PORT = 8884
MOST_BYTES = 16 * 1024
"""Of a line of the exchange."""
SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no letter that looks like a figure."""
ONCE, PINNED = 7, 12
"""Signs of each part: 35 bits, and 60 bits of a certificate that is hours old at most."""
_TAKEN_FOR = str.maketrans("ILO", "110", "- \t\r\n")


class JoinError(MatError, ConnectionError):
    """A table cannot join, or not so."""

    code = "join"


class JoinCode(NamedTuple):
    """`once` is good for one use, `pinned` tells the hub's certificate."""

    once: str
    pinned: str

    def __str__(self) -> str:
        """Return the code as it is shown and typed, in fours, the last sign made of the others."""
        signs = self.once + self.pinned
        signs += _check(signs)
        return "-".join(signs[n : n + 4] for n in range(0, len(signs), 4))

    def is_of(self, certificate: bytes) -> bool:
        """Return whether the hub that this code is for has this certificate (DER)."""
        return secrets.compare_digest(self.pinned, _pinned(certificate))


def new_code(certificate: bytes) -> JoinCode:
    """Return a fresh code for the hub with this certificate (DER)."""
    return JoinCode("".join(secrets.choice(SIGNS) for _ in range(ONCE)), _pinned(certificate))


def read_code(text: str) -> JoinCode:
    """Return the code that was typed: upper or lower case, with or without lines between. Raises `UsageError`.

    >>> str(read_code("0000000oooooooOOOOOO"))
    '0000-0000-0000-0000-0000'
    """
    signs = text.upper().translate(_TAKEN_FOR)
    if len(signs) != ONCE + PINNED + 1 or set(signs) - set(SIGNS):
        raise UsageError(
            f"a code has {ONCE + PINNED + 1} letters and figures", "type it as the director's console shows it"
        )
    if _check(signs[:-1]) != signs[-1]:
        raise UsageError("the code is mistyped", "compare it with what the director's console shows")
    return JoinCode(signs[:ONCE], signs[ONCE:-1])


def _pinned(certificate: bytes) -> str:
    number = int.from_bytes(hashlib.sha256(certificate).digest()[:8], "big") >> (64 - 5 * PINNED)
    return "".join(SIGNS[number >> 5 * n & 31] for n in reversed(range(PINNED)))


def _check(signs: str) -> str:
    """Return the last sign: odd weights, so that no single wrong one goes unseen."""
    return SIGNS[sum((2 * n + 1) * SIGNS.index(sign) for n, sign in enumerate(signs)) % 32]


class JoinRequest(msgspec.Struct, frozen=True, tag="join"):
    """The table's line."""

    version: int
    once: str


class Account(msgspec.Struct, frozen=True, tag="joined"):
    """The hub's line: how the table signs in at the broker at `host`; `ca` is the venue's certificate, as PEM."""

    host: str
    port: int
    venue: str
    table: str
    password: str
    ca: str


class JoinRefused(msgspec.Struct, frozen=True, tag="refused"):
    """The hub's line where there is no account for this table: what is wrong, and what to do."""

    what: str
    todo: str = ""


def line_of(message: JoinRequest | Account | JoinRefused) -> bytes:
    """Return a message as a line."""
    return msgspec.json.encode(message) + b"\n"

"""PINs: made here, so that none is a birthday; kept only as an Argon2id hash.

A hash takes 19 MiB and two passes (OWASP's smallest for Argon2id). That slows down who has stolen the file; who guesses
at the sign-in page is slowed down by `throttle`.
"""

from __future__ import annotations

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

DIGITS = 6
"""Of a PIN, at least."""
MOST_DIGITS = 16


def new_pin(digits: int = DIGITS) -> str:
    """Return a PIN by chance."""
    return f"{secrets.randbelow(10**digits):0{digits}d}"


def is_pin(text: str) -> bool:
    """Return whether `text` could be one; anything else is never hashed."""
    return DIGITS <= len(text) <= MOST_DIGITS and text.isascii() and text.isdecimal()


class Pins:
    """Hashes PINs and checks them. Not fast on purpose: call it in a thread, one at a time.

    `passes` and `kib` of memory are Argon2id's cost; tests take less.
    """

    def __init__(self, passes: int = 2, kib: int = 19 * 1024) -> None:
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=kib, parallelism=1)
        self.hashed = 0
        """How many hashes were computed."""
        self._nobody = self.hash(new_pin())

    def hash(self, pin: str) -> str:
        """Return what is kept of `pin`."""
        self.hashed += 1
        return self._hasher.hash(pin)

    def right(self, kept: str | None, pin: str) -> bool:
        """Return whether `pin` is the one of which `kept` is; for nobody's (None) no, in the same time."""
        self.hashed += 1
        try:
            return self._hasher.verify(kept or self._nobody, pin) and kept is not None
        except (VerificationError, InvalidHashError):
            return False

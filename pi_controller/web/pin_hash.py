"""PINs: random, so none is a birthday; stored only as an Argon2id hash.

A hash takes 19 MiB and two passes (OWASP's minimum for Argon2id). That slows down an attack on a stolen file; guesses
at the sign-in page are slowed down by `web.throttle`.
"""

from __future__ import annotations

import secrets

DIGITS = 6
"""Minimum digits of a PIN."""
MAX_DIGITS = 16


def new_pin(digits: int = DIGITS) -> str:
    """Return a random PIN."""
    return f"{secrets.randbelow(10**digits):0{digits}d}"


def is_pin(text: str) -> bool:
    """Return whether `text` has the form of a PIN; other text is never hashed."""
    return DIGITS <= len(text) <= MAX_DIGITS and text.isascii() and text.isdecimal()


class PinHasher:
    """Hashes and verifies PINs. Slow on purpose: call it in a thread, one at a time.

    `passes` and `kib` of memory are Argon2id's cost; tests use less.
    """

    def __init__(self, passes: int = 2, kib: int = 19 * 1024) -> None:
        from argon2 import PasswordHasher  # noqa: PLC0415 - a table without judges has no PINs

        self._hasher = PasswordHasher(time_cost=passes, memory_cost=kib, parallelism=1)
        self.hashed = 0
        """The number of computed hashes."""
        self._nobody = self.hash(new_pin())

    def hash(self, pin: str) -> str:
        """Return the hash of `pin`."""
        self.hashed += 1
        return self._hasher.hash(pin)

    def verify(self, kept: str | None, pin: str) -> bool:
        """Return whether `pin` matches the hash `kept`; for None (an unknown user) False, after the same time."""
        from argon2.exceptions import InvalidHashError, VerificationError  # noqa: PLC0415

        self.hashed += 1
        try:
            return self._hasher.verify(kept or self._nobody, pin) and kept is not None
        except (VerificationError, InvalidHashError):
            return False

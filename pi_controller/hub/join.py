"""Join a hub: the code that the director shows, and what table and hub exchange.

The table calls the hub over HTTPS but has no certificate to recognise it by. The code replaces one: its first part is a
one-time secret, its second part is the beginning of the SHA-256 of the hub's certificate. The table sends the secret
only if that matches, so a machine in the middle can neither read nor change the exchange. Needs none of the hub's
extra packages.
"""

import hashlib
import secrets
from pathlib import Path
from typing import NamedTuple

import msgspec
from packaging.version import InvalidVersion, Version

from pi_controller.errors import MatError, UsageError

VERSION = 3
PATH = "/join"
"""Where the hub takes a table's request."""
MAX_ANSWER_BYTES = 16 * 1024
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: no letter that looks like a digit."""
SECRET_CHARS, FINGERPRINT_CHARS = 7, 12
"""Characters of each part: a secret of 35 bits that is valid for minutes, and 60 bits of the certificate's hash."""
_TAKEN_FOR = str.maketrans("ILO", "110", "- \t\r\n")


class JoinError(MatError, ConnectionError):
    """A table cannot join."""

    code = "join"


def is_newer_version(program: str, other: str) -> bool:
    """Return whether the version `program` is newer than `other`; False if one of them is not a version.

    >>> is_newer_version("0.10.0", "0.9.1"), is_newer_version("", "0.9.1")
    (True, False)
    """
    try:
        return Version(program) > Version(other)
    except InvalidVersion:
        return False


class JoinCode(NamedTuple):
    """A join code: `secret` is the one-time secret, `cert_fingerprint` the fingerprint of the hub's certificate."""

    secret: str
    cert_fingerprint: str

    def __str__(self) -> str:
        """Return the code in groups of four characters; the last character is a check character."""
        signs = self.secret + self.cert_fingerprint
        signs += _check(signs)
        return "-".join(signs[n : n + 4] for n in range(0, len(signs), 4))

    def matches_certificate(self, certificate: bytes) -> bool:
        """Return whether `certificate` (DER) matches the fingerprint in this code."""
        return secrets.compare_digest(self.cert_fingerprint, _fingerprint(certificate))


def new_code(certificate: bytes) -> JoinCode:
    """Return a random code for the hub with this certificate (DER)."""
    return JoinCode("".join(secrets.choice(ALPHABET) for _ in range(SECRET_CHARS)), _fingerprint(certificate))


def parse_code(text: str) -> JoinCode:
    """Parse a typed code: upper or lower case, with or without hyphens. Raises `UsageError`.

    >>> str(parse_code("0000000oooooooOOOOOO"))
    '0000-0000-0000-0000-0000'
    """
    signs = text.upper().translate(_TAKEN_FOR)
    if len(signs) != SECRET_CHARS + FINGERPRINT_CHARS + 1 or set(signs) - set(ALPHABET):
        raise UsageError(
            f"a code has {SECRET_CHARS + FINGERPRINT_CHARS + 1} letters and digits",
            "type it exactly as shown on the director's console",
        )
    if _check(signs[:-1]) != signs[-1]:
        raise UsageError("the code is mistyped", "compare it with what the director's console shows")
    return JoinCode(signs[:SECRET_CHARS], signs[SECRET_CHARS:-1])


def _fingerprint(certificate: bytes) -> str:
    number = int.from_bytes(hashlib.sha256(certificate).digest()[:8], "big") >> (64 - 5 * FINGERPRINT_CHARS)
    return "".join(ALPHABET[number >> 5 * n & 31] for n in reversed(range(FINGERPRINT_CHARS)))


def _check(signs: str) -> str:
    """Return the check character: the weights are odd, so any single wrong character is detected."""
    return ALPHABET[sum((2 * n + 1) * ALPHABET.index(sign) for n, sign in enumerate(signs)) % 32]


class JoinRequest(msgspec.Struct, frozen=True, tag="join"):
    """The table's request; `program` is the version of its program."""

    version: int
    once: str
    program: str = ""


class Account(msgspec.Struct, frozen=True, tag="joined"):
    """The hub's answer to a join request: its address, the table's name there, and the token that proves it.

    `ca` is the venue's certificate (PEM), `program` the version of the hub's program.
    """

    host: str
    port: int
    venue: str
    table: str
    token: str
    ca: str
    program: str = ""

    def hub_section(self, token: Path | str, ca: Path | str) -> dict[str, str | int]:
        """Return the values of the table's [hub], with the files of its token and the venue's certificate."""
        return {
            "address": self.host,
            "port": self.port,
            "table": self.table,
            "token_file": str(token),
            "ca": str(ca),
        }


class JoinRefused(msgspec.Struct, frozen=True, tag="refused"):
    """The hub's answer if the table gets no account: the reason and a hint."""

    message: str
    hint: str = ""

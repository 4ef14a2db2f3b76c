"""The commitment to the bead's place: its exact bytes, so that anyone can check an opened one.

    SHA-256( "moccasin-mat/bead/2|" TABLE "|" EPOCH "|" EVENT "|" GAME "|" HIDE "|" PAD "|" NONCE )

TABLE is the table's name in UTF-8, EPOCH the journal's in lower case hex, EVENT the number of the journal event that
shows the commitment: no two commitments share all three. GAME is the game's name, HIDE and PAD are decimal numbers in
ASCII, `|` is the byte 0x7C, NONCE is 32 raw bytes. In slahal PAD has a digit for each unmarked bone, in order: 13 for
pads 1 and 3. The commitment and the nonce are written in lower case hex. With the nonce as 64 hex digits in `$n`:

    { printf %s 'moccasin-mat/bead/2|Hall|93...5f|41|dakota|12|3|'; printf %s "$n" | xxd -r -p; } | sha256sum

Without a journal TABLE and EPOCH are empty, and EVENT is 0.
"""

import hashlib
import hmac
from typing import NamedTuple

DOMAIN = "moccasin-mat/bead/2"
NONCE_BYTES = 32


class CommitmentContext(NamedTuple):
    """The context of a commitment besides game and hide: table, journal and event."""

    table: str = ""
    epoch: str = ""
    event: int = 0


NO_CONTEXT = CommitmentContext()


def hash_prefix(game: str, hide: int | str, pad: int | str, bound: CommitmentContext = NO_CONTEXT) -> str:
    """Return the text that is hashed before the nonce."""
    return f"{DOMAIN}|{bound.table}|{bound.epoch}|{bound.event}|{game}|{hide}|{pad}|"


def commitment(game: str, hide: int, pad: int, nonce: bytes, bound: CommitmentContext = NO_CONTEXT) -> str:
    """Return the commitment (64 hex digits) to the bead under `pad` in hide number `hide`."""
    return hashlib.sha256(hash_prefix(game, hide, pad, bound).encode() + nonce).hexdigest()


def check(hash: str, game: str, hide: int, pad: int, nonce: str, bound: CommitmentContext = NO_CONTEXT) -> bool:  # noqa: A002 - the fact's own word
    """Return True if `hash` (hex) is the commitment to `pad` with `nonce` (hex). Never raises on bad hex."""
    try:
        raw = bytes.fromhex(nonce)
    except ValueError:
        return False
    made = commitment(game, hide, pad, raw, bound)
    return len(raw) == NONCE_BYTES and hmac.compare_digest(made.encode(), hash.encode())

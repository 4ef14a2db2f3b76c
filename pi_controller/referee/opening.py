"""The commitment to the bead's place: its exact bytes, so that anyone can check an opened one.

    SHA-256( "moccasin-mat/bead/1|" GAME "|" HIDE "|" PAD "|" NONCE )

GAME is the game's name in UTF-8, HIDE and PAD are decimal numbers in ASCII, `|` is the byte 0x7C, NONCE is 32 raw
bytes. In slahal PAD has a digit for each unmarked bone, in order: 13 for pads 1 and 3. The commitment and the nonce
are written in lower case hex. With the nonce as 64 hex digits in `$n`:

    { printf 'moccasin-mat/bead/1|dakota|12|3|'; printf %s "$n" | xxd -r -p; } | sha256sum
"""

from __future__ import annotations

import hashlib
import hmac

DOMAIN = "moccasin-mat/bead/1"
NONCE_BYTES = 32


def commitment(game: str, hide: int, pad: int, nonce: bytes) -> str:
    """Return the commitment (64 hex digits) to the bead under `pad` in hide number `hide`."""
    return hashlib.sha256(f"{DOMAIN}|{game}|{hide}|{pad}|".encode() + nonce).hexdigest()


def check(hash: str, game: str, hide: int, pad: int, nonce: str) -> bool:  # noqa: A002 - the fact's own word
    """Return whether `hash` (hex) is the commitment that `pad` and `nonce` (hex) open. Never raises on bad hex."""
    try:
        raw = bytes.fromhex(nonce)
    except ValueError:
        return False
    return len(raw) == NONCE_BYTES and hmac.compare_digest(commitment(game, hide, pad, raw).encode(), hash.encode())

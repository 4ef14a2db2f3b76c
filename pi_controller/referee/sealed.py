"""The sealed place of the bead: the only object that holds it between the hider's ready and the hit that reveals it.

A `SealedBead` answers one question (`is_under`: is it under this pad?) and opens once the hide is over. It has no text,
no JSON, no pickle and no copy that could leak the place by accident.
"""

from __future__ import annotations

from typing import NoReturn, final

from pi_controller.referee.commitment import NO_CONTEXT, NONCE_BYTES, CommitmentContext, check, commitment

__all__ = ["SealedBead", "check"]


@final
class SealedBead:
    """The bead of one hide, under one pad (1 to 4), with the nonce that blinds its commitment."""

    __slots__ = ("__nonce", "__pad", "commitment", "context")

    def __init__(self, game: str, hide: int, pad: int, nonce: bytes, bound: CommitmentContext = NO_CONTEXT) -> None:
        if len(nonce) != NONCE_BYTES:
            raise ValueError(f"a nonce has {NONCE_BYTES} bytes")
        self.__pad = pad
        self.__nonce = nonce
        self.context = bound
        self.commitment = commitment(game, hide, pad, nonce, bound)

    def is_under(self, pad: int) -> bool:
        """Return True if the bead is under `pad`; called when a hit is played or a new reading is compared."""
        return pad == self.__pad

    def open(self) -> tuple[int, str]:
        """Return (pad, nonce in hex) for the reveal, when the hide is over."""
        return self.__pad, self.__nonce.hex()

    def __repr__(self) -> str:
        return "<SealedBead>"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a sealed bead cannot be copied or serialized")

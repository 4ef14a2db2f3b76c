"""The sealed place of the bead: the only object that holds it between the hider's ready and the hit that reveals it.

A `SealedBead` answers one question (`is_under`: is it under this pad?) and opens once the hide is over. It has no text,
no JSON, no pickle and no copy that could leak the place by accident.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NoReturn, final

from pi_controller.referee.commitment import NO_CONTEXT, NONCE_BYTES, CommitmentContext, check, commitment
from pi_controller.referee.story import Story
from pi_controller.sensing.events import BeadsAtRest, HandSide, mirror_beads, mirror_pad, mirror_side

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


# The referee's unpublished state: the last bead reading, hands under pads, the sealed bead.


@dataclass(repr=False)
class PrivateState:
    """One referee's private memory. It is lost on a restart and rebuilt from new readings.

    `reading` is the last bead reading at rest, None once a hand has moved since. `hands` maps each pad with a hand
    under it to whether that hand makes a pass when it comes out; `sides` gives the hand's side. `handled` is whether a
    hand was under a pad since the last hide was settled, None if unknown. `waiting_key` is the key of the current wait
    and `since` its beginning. `stopped` is when the clocks were stopped (None: they run), `went_on` when they last
    restarted. `sided` and `sideless` are the last hides in which a pass came with, and without, a known side. `foreign`
    is the last hide in which a hand possibly not the hider's was under a pad before the hits. `unaware_hide` is the
    hide whose hiders had not been under every pad when a foul was called: they may not have noticed and may continue
    hiding. `bead_lay_since` is whether a bead has been read on the mat since.
    """

    reading: BeadsAtRest | None = None
    hands: dict[int, bool] = field(default_factory=dict[int, bool])
    sides: dict[int, HandSide] = field(default_factory=dict[int, "HandSide"])
    sided: int = 0
    sideless: int = 0
    foreign: int = 0
    unaware_hide: int = 0
    bead_lay_since: bool = False
    sealed: SealedBead | None = None
    link: bool | None = None
    restarted: bool = False
    handled: bool | None = None
    waiting_key: tuple[str, int, int, int] | None = None
    since: float = 0.0
    stopped: float | None = None
    went_on: float = float("-inf")

    def copy(self) -> PrivateState:
        """Return an independent copy."""
        return replace(self, hands=dict(self.hands), sides=dict(self.sides))

    @property
    def foreign_hand(self) -> bool:
        """True if a hand that is not known to be the hitters' is under a pad."""
        return any(self.sides.get(pad) != "hitter" for pad in self.hands)

    @property
    def phase(self) -> str:
        """The phase of the current wait; "" while a question is open."""
        return self.waiting_key[0] if self.waiting_key else ""

    def current_seal(self, story: Story) -> SealedBead | None:
        """Return the sealed bead if it belongs to the story's commitment, else None."""
        return self.sealed if self.sealed is not None and self.sealed.commitment == story.hide.commit else None

    def forget_reading(self) -> None:
        """Forget the reading: the bead may have moved."""
        self.reading = None

    def forget_board(self) -> None:
        """Forget the readings: the board is disconnected."""
        self.handled = None
        self.reading = None
        self.hands.clear()
        self.sides.clear()

    def turn_round(self) -> None:
        """Mirror the remembered readings: the hiders now sit at the opposite edge."""
        self.reading = self.reading and mirror_beads(self.reading)
        self.hands = {mirror_pad(pad): counts for pad, counts in self.hands.items()}
        self.sides = {mirror_pad(pad): mirror_side(side) for pad, side in self.sides.items()}

    def mark_unaware(self, story: Story) -> None:
        """Note that a foul settles the hide in progress before its hiders have been under every pad."""
        self.unaware_hide = story.hide.number
        self.bead_lay_since = self.reading is not None and bool(self.reading.found)

    @property
    def bead_pad(self) -> int | None:
        """The pad of the only bead in a sure reading, or None. For sealing only: it must not be used elsewhere."""
        reading = self.reading
        return reading.found[0].pad if reading is not None and reading.sure and len(reading.found) == 1 else None

    def wait(self, story: Story, t: float, afresh: bool = False) -> None:
        """Update the beginning of the current wait; `afresh`: the mat was touched, so the wait starts again."""
        if story.clocks_stopped and self.stopped is None:
            self.stopped = t
        elif not story.clocks_stopped and self.stopped is not None:
            self.since += t - self.stopped
            self.stopped, self.went_on = None, t
        awaited = story.waiting_key if story.question is None else None
        if awaited and awaited != self.waiting_key and (awaited[0] == "show" or self.phase == "toss"):
            self.handled = False if story.link.up else None
        if awaited != self.waiting_key or afresh:
            self.waiting_key, self.since = awaited, t
            self.stopped = self.stopped and t

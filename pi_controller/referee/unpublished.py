"""The referee's unpublished state: the last bead reading, hands under pads, the sealed bead."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pi_controller.referee.facts import Seats
from pi_controller.referee.sealed import SealedBead
from pi_controller.referee.story import Story
from pi_controller.sensing.events import BeadsAtRest, HandOut, HandSide
from pi_controller.sensing.mirror import mirror_beads, mirror_pad, mirror_side


def has_pair(reading: BeadsAtRest) -> bool:
    """Return True if a sure reading shows two beads on one pad: they may be one bead with two magnets."""
    return reading.sure and len(reading.found) == 2 and len({bead.pad for bead in reading.found}) == 1


@dataclass(slots=True)
class HandUnder:
    """A hand under a pad since `since` (s), over the edge of `side`.

    `hides`: it makes a pass when it comes out. `asked`: the judge was asked about it.
    """

    since: float
    side: HandSide
    hides: bool = True
    asked: bool = False


@dataclass(repr=False)
class PrivateState:
    """One referee's private memory. It is lost on a restart and rebuilt from new readings.

    `reading` is the last bead reading at rest, None once a hand has moved since. `lying` are the pads of the beads in
    the last reading, None if it was not sure; `taken` is whether a hand was at one of them since. `hands` are the hands
    under pads; `left` has for each pad when a hand came out last and whether the judge had been asked about it.
    `early_out` has the hands whose coming out was reported before their going in. `handled` is whether a hand was under
    a pad since the last hide was settled, None if unknown. `uncounted_t` is when a hiders' hand last went under a pad
    while no hide counts it. `own_ready`: the hiders' ready was their own, not a button that the hitters share;
    `ready_t` is when a button for it was last pressed. `foreign` is the last hide in which a hand possibly not the
    hider's was under a pad before the hits. `waiting_key` is the key of the current wait and `since` its beginning.
    `stopped` is when the clocks were stopped (None: they run), `went_on` when they last restarted. `seats` is how the
    teams last changed sides.
    """

    reading: BeadsAtRest | None = None
    lying: tuple[int | None, ...] | None = None
    taken: bool = False
    hands: dict[int, HandUnder] = field(default_factory=dict[int, HandUnder])
    left: dict[int, tuple[float, bool]] = field(default_factory=dict[int, tuple[float, bool]])
    early_out: dict[int, HandOut] = field(default_factory=dict[int, HandOut])
    uncounted_t: float = float("-inf")
    own_ready: bool = False
    ready_t: float = float("-inf")
    foreign: int = 0
    sealed: SealedBead | None = None
    link: bool | None = None
    restarted: bool = False
    handled: bool | None = None
    waiting_key: tuple[str, int, int, int] | None = None
    since: float = 0.0
    stopped: float | None = None
    went_on: float = float("-inf")
    seats: Seats = "stay"

    def copy(self) -> PrivateState:
        """Return an independent copy."""
        hands = {pad: replace(hand) for pad, hand in self.hands.items()}
        return replace(self, hands=hands, left=dict(self.left), early_out=dict(self.early_out))

    @property
    def foreign_hand(self) -> bool:
        """True if a hand that is not known to be the hitters' is under a pad."""
        return any(hand.side != "hitter" for hand in self.hands.values())

    @property
    def phase(self) -> str:
        """The phase of the current wait; "" while a question is open."""
        return self.waiting_key[0] if self.waiting_key else ""

    def current_seal(self, story: Story) -> SealedBead | None:
        """Return the sealed bead if it belongs to the story's commitment, else None."""
        return self.sealed if self.sealed is not None and self.sealed.commitment == story.hide.seal.commit else None

    def settle_hands(self, pads: tuple[int, ...]) -> None:
        """Note that the judge let play on after a hand under these pads: it is not asked about again."""
        for pad in pads:
            if pad in self.hands:
                self.hands[pad].asked = True
            if pad in self.left:
                self.left[pad] = self.left[pad][0], True

    def forget_reading(self, t: float) -> None:
        """Forget a reading made before `t`: the bead may have moved."""
        if self.reading is not None and self.reading.t <= t:
            self.reading = None

    def note_reading(self, reading: BeadsAtRest) -> None:
        """Remember the newest bead reading."""
        if self.reading is None or self.reading.t <= reading.t:
            self.reading = reading
            self.lying = tuple(bead.pad for bead in reading.found) if reading.sure else None
            self.taken = False

    def takes_bead(self, pad: int) -> bool:
        """Return True if a hand at `pad` is the first, of either team, at the bead since it was read."""
        first = not self.taken and pad in (self.lying or ())
        self.taken |= first
        return first

    def forget_board(self) -> None:
        """Forget the readings: the board is disconnected."""
        self.handled = self.reading = self.lying = None
        self.hands.clear()
        self.left.clear()
        self.early_out.clear()

    def turn_round(self) -> None:
        """Mirror the remembered readings: the hiders now sit at the opposite edge."""
        self.reading = self.reading and mirror_beads(self.reading)
        self.hands = {mirror_pad(pad): replace(hand, side=mirror_side(hand.side)) for pad, hand in self.hands.items()}
        self.lying = self.lying and tuple(None if pad is None else mirror_pad(pad) for pad in self.lying)
        self.left = {mirror_pad(pad): left for pad, left in self.left.items()}
        self.early_out.clear()

    def bead_pad(self, story: Story) -> int | None:
        """Return the pad of the only bead in a sure reading, or None. For sealing only: it must not be used elsewhere.

        Two on one pad are one bead with two magnets if the judge has said so at its inspection.
        """
        reading = self.reading
        if reading is None or not reading.sure:
            return None
        single = len(reading.found) == 1 or ("two_magnets" in story.hide.waived_fouls and has_pair(reading))
        return reading.found[0].pad if single else None

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

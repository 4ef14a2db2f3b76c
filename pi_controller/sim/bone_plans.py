"""What the people of slahal do in a hide: decided by (seed, hide) alone, so that a hide played again ends the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pi_controller.sim.hands import HandStyle
from pi_controller.sim.plans import PACES, Mischief, PaceName, span
from pi_controller.sim.seeds import Stream, rng

if TYPE_CHECKING:
    import numpy as np

    from pi_controller.games.base import Team
    from pi_controller.games.slahal_state import Signal

PADS_OF: dict[Signal, tuple[int, int]] = {"right": (1, 3), "left": (2, 4), "inside": (2, 3), "outside": (1, 4)}
"""The fists that a signal points at: the guesser sits opposite and sees pad 4 on the left (Lahal sheet, Guesses)."""
HOLDERS = ((1, 2), (3, 4))
"""The pads of each bone holder's two fists."""


@dataclass(frozen=True, slots=True)
class Fist:
    """One fist on its pad: how it comes, how far off the pad's middle it rests and how high it holds what is in it."""

    style: HandStyle
    off_mm: float
    high_mm: float


@dataclass(frozen=True, slots=True)
class BonesPlan:
    """One whole hide. `bones` are the pads of the two holders' unmarked bones, `stays` who plays on with one pair.

    `signal` is the guess, `block` and `mirror` what goes with it. `by_hand`: the judge enters it. `switch`: a holder
    moves the bone to the other fist before the guess. `late`: the bones are not out in time. `king`: this team's
    player takes the king stick too early.
    """

    hide: int
    start_s: float
    bones: tuple[int, int]
    fists: tuple[Fist, ...]
    swap_s: float
    stays: int
    look_s: float
    signal: Signal
    one_signal: Signal
    by_hand: bool
    block: bool
    mirror: bool
    switch: bool
    late: bool
    king: Team | None
    show_s: float

    @property
    def mischief(self) -> str:
        """What goes otherwise than it should, for the record."""
        kinds = ("rehide" if self.switch else "", "hide_time" if self.late else "", "king_moved" if self.king else "")
        return ", ".join(filter(None, kinds))


def duels(seed: int) -> tuple[tuple[bool, bool], ...]:
    """Return whether the first guessers of A and B succeed, duel by duel until just one does."""
    random = rng(seed, Stream.TOSS)
    rounds: list[tuple[bool, bool]] = []
    while not rounds or rounds[-1][0] == rounds[-1][1]:
        rounds.append((bool(random.random() < 0.5), bool(random.random() < 0.5)))
    return tuple(rounds)


def bones_plan(seed: int, hide: int, pace: PaceName = "brisk", mischief: Mischief | None = None) -> BonesPlan:
    """Return what happens in hide number `hide` of the table with this seed: always the same."""
    mischief, times = mischief or Mischief(), PACES[pace]
    random, whim = rng(seed, Stream.SCRIPT, hide), rng(seed, Stream.SCRIPT, hide, 1)
    signals: list[Signal] = ["left", "right", "inside", "outside"]
    fouls, doubts = mischief.fouls, mischief.doubts
    return BonesPlan(
        hide=hide,
        start_s=span(random, times.start),
        bones=(int(random.integers(1, 3)), int(random.integers(3, 5))),
        fists=tuple(_fist(random, span(random, times.move)) for _ in range(4)),
        swap_s=span(random, times.dwell) * 3.0,
        stays=int(random.integers(2)),
        look_s=span(random, times.look),
        signal=signals[int(random.integers(4))],
        one_signal=signals[int(random.integers(2))],
        by_hand=bool(random.random() < 0.25),
        block=bool(random.random() < 0.3),
        mirror=bool(random.random() < 0.3),
        switch=bool(whim.random() < fouls),
        late=bool(whim.random() < doubts),
        king=("A" if whim.random() < 0.5 else "B") if whim.random() < fouls / 10.0 else None,
        show_s=span(random, times.show),
    )


def _fist(random: np.random.Generator, move_s: float) -> Fist:
    how = HandStyle(move_s, float(random.uniform(25.0, 60.0)))
    return Fist(how, float(random.uniform(-60.0, 60.0)), float(random.uniform(12.0, 45.0)))

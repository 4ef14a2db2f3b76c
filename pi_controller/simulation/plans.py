"""Plans of simulated hides, a function of (seed, hide) only: a repeated hide ends the same.

All random choices are made here in advance: the order of the passes, how long the hand stays, the bead's place,
fouls, and the struck pads with the strength of the strokes. The players of a killed and resumed table behave the
same.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from pi_controller.errors import UsageError
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap
from pi_controller.referee.settings import BEAD_FOULS, PASS_FOULS
from pi_controller.rules.base import Team
from pi_controller.simulation.conditions import Stream, rng
from pi_controller.simulation.hand_motion import HandStyle

PaceName = Literal["brisk", "natural"]
Span = tuple[float, float]
HIDING_FOULS = (*PASS_FOULS, *BEAD_FOULS)
"""The hider's fouls of chapter 12 that the mat can detect at ready."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Ranges of people's times, seconds; `move` is a hand's way in, `look` the hitter's time to think."""

    start: Span
    move: Span
    dwell: Span
    gap: Span
    ready: Span
    look: Span
    show: Span


PACES: dict[PaceName, Pace] = {
    "brisk": Pace((0.05, 0.2), (0.2, 0.28), (0.2, 0.32), (0.04, 0.1), (0.1, 0.25), (0.25, 0.6), (0.1, 0.3)),
    "natural": Pace((0.8, 2.0), (0.35, 0.8), (0.4, 1.4), (0.15, 0.6), (0.4, 1.2), (1.2, 3.5), (0.6, 1.5)),
}
"""`brisk`: a hide in 5 to 6 seconds, for tests. `natural`: 10 to 20 seconds, for an audience."""


@dataclass(frozen=True, slots=True)
class Mischief:
    """Probabilities (0 to 1) of a detectable foul by the hider, and of a stroke on two pads at once."""

    fouls: float = 0.0
    doubts: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("fouls", self.fouls), ("doubts", self.doubts)):
            if not 0.0 <= value <= 1.0:
                raise UsageError(f"{name} = {value} is not a probability", "choose 0 to 1")


@dataclass(frozen=True, slots=True)
class Drop:
    """A placed bead: its `pad` (None: beside all pads), its place in mm, the direction of its moment."""

    bead: str
    pad: int | None
    place: tuple[float, float]
    facing: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class PadPass:
    """A hand goes under `pad`, stays `dwell_s`, puts down `drops`, comes out and rests for `gap_s`."""

    pad: int
    style: HandStyle
    dwell_s: float
    gap_s: float
    drops: tuple[Drop, ...] = ()


@dataclass(frozen=True, slots=True)
class Stroke:
    """The hitter waits for `look_s`, then strikes `pad`; the stick may also touch `also`, `also_after_s` later."""

    pad: int
    look_s: float
    after_s: float
    level_dbfs: float
    also: int | None = None
    also_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class HidePlan:
    """Plan of one hide. `place` is the pad over the bead, None if there is no single such pad."""

    hide: int
    start_s: float
    passes: tuple[PadPass, ...]
    ready_s: float
    place: int | None
    foul: str | None
    first: Stroke
    second: Stroke
    show_s: float


def toss(seed: int) -> Team:
    """Return the team that wins the toss."""
    return "A" if rng(seed, Stream.TOSS).random() < 0.5 else "B"


def hide_plan(seed: int, hide: int, pace: PaceName = "brisk", mischief: Mischief | None = None) -> HidePlan:
    """Return the plan of hide number `hide` of the table with this seed: always the same."""
    mischief = mischief or Mischief()
    times = PACES[pace]
    random = rng(seed, Stream.SCRIPT, hide)
    pads: list[int] = [*EVERY_PAD]
    place = int(random.choice(pads))
    first, second = (int(pad) for pad in random.choice(pads, 2, replace=False))
    foul = str(random.choice(HIDING_FOULS)) if random.random() < mischief.fouls else None
    doubt = random.random() < mischief.doubts
    order = _order(random, pads, pace)
    styles = {pad: style(random, times) for pad in pads}
    where: int | None = place
    beads = [place_under(random, "bead", place)]
    if foul == "pad_skipped":
        order.remove(int(random.choice([pad for pad in pads if pad != place])))
    elif foul == "pad_twice":
        order.insert(int(random.integers(1, len(order) + 1)), int(random.choice(pads)))
        if any(a == b for a, b in pairwise(order)):
            order = [*dict.fromkeys(order), order[0]]
    elif foul == "no_bead":
        beads, where = [], None
    elif foul == "two_beads":
        beads.append(place_under(random, "second bead", int(random.choice([pad for pad in pads if pad != place]))))
    elif foul == "bead_off_mat":
        beads, where = [_place_beside(random, place)], None
    passes: list[PadPass] = []
    for pad in order:
        at = [bead for bead in beads if (bead.pad or place) == pad]
        beads = [bead for bead in beads if bead not in at]
        passes.append(PadPass(pad, styles[pad], span(random, times.dwell), span(random, times.gap), tuple(at)))
    return HidePlan(
        hide=hide,
        start_s=span(random, times.start),
        passes=tuple(passes),
        ready_s=span(random, times.ready),
        place=where,
        foul=foul,
        first=stroke(random, times, first, doubt=doubt),
        second=stroke(random, times, second, doubt=False),
        show_s=span(random, times.show),
    )


def span(random: np.random.Generator, within: Span) -> float:
    """Return a random time in the range `within`, seconds."""
    return float(random.uniform(*within))


def _order(random: np.random.Generator, pads: list[int], pace: PaceName) -> list[int]:
    """Return this hider's order of the pads: along the row, backwards, or (if taking time) in any order."""
    if pace == "natural" and random.random() < 0.3:
        return [int(pad) for pad in random.permutation(pads)]
    return pads[:] if random.random() < 0.6 else pads[::-1]


def style(random: np.random.Generator, times: Pace) -> HandStyle:
    """Return a random style of a hand."""
    return HandStyle(span(random, times.move), float(random.uniform(18.0, 70.0)), float(random.uniform(30.0, 110.0)))


def _facing(random: np.random.Generator) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in random.standard_normal(3))
    return x, y, z


def place_under(random: np.random.Generator, bead: str, pad: int) -> Drop:
    """Return `bead` at a random place under `pad`."""
    pads = pinmap().pads
    x, y = pads.centre(pad)
    x += float(random.uniform(-0.42, 0.42)) * pads.width_mm
    y += float(random.uniform(-0.42, 0.42)) * pads.depth_mm
    return Drop(bead, pad, (x, y), _facing(random))


def _place_beside(random: np.random.Generator, pad: int) -> Drop:
    """Return a bead in the gap beside `pad`, or in front of it."""
    pads = pinmap().pads
    x, y = pads.centre(pad)
    if random.random() < 0.6:
        side = 1.0 if pad == 1 else -1.0 if pad == PADS else float(random.choice((-1.0, 1.0)))
        place = x + side * pads.pitch_mm / 2, y + float(random.uniform(-0.4, 0.4)) * pads.depth_mm
    else:
        place = x + float(random.uniform(-80.0, 80.0)), y - pads.depth_mm / 2 - float(random.uniform(20.0, 35.0))
    return Drop("bead", None, place, _facing(random))


def stroke(random: np.random.Generator, times: Pace, pad: int, *, doubt: bool) -> Stroke:
    """Return a stroke of random strength on `pad`; with `doubt` the stick also touches a pad beside it."""
    look, after = span(random, times.look), float(random.uniform(0.0, 0.03))
    level = float(random.uniform(-30.0, -10.0))
    near = [p for p in (pad - 1, pad + 1) if 1 <= p <= PADS]
    also, late = int(random.choice(near)), float(random.uniform(0.5e-3, 4e-3))
    return Stroke(pad, look, after, level, also if doubt else None, late if doubt else None)

"""What the people do in a hide of ojibwe: decided by (seed, hide) alone, so that a hide played again ends the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pi_controller.pinmap import pinmap
from pi_controller.sim.script import PACES, Drop, Mischief, Pace, PaceName, Stroke, span, stroke, style, under
from pi_controller.sim.seeds import Stream, rng

if TYPE_CHECKING:
    import numpy as np

    from pi_controller.sim.hands import HandStyle

MARKED = "marked ball"
BALLS = (MARKED, "ball 2", "ball 3", "ball 4")
Amiss = Literal["ball_out", "two_under_one"]


@dataclass(frozen=True, slots=True)
class Lift:
    """A hunter opens `pad`, looks for `dwell_s` and perhaps takes the ball out (`takes`)."""

    pad: int
    style: HandStyle
    look_s: float
    dwell_s: float
    takes: bool


@dataclass(frozen=True, slots=True)
class HuntScript:
    """One whole hide.

    `ball` is the pad over the marked ball, None where it was left out. `lifts` are the pads that are opened, `slip` an
    opened pad that is touched by mistake before the stroke, `one_more` a pad lifted beyond what may be opened. `amiss`
    is what the hider did wrong, `stop` whether the judge lets the hide start over for it (or for `one_more`).
    """

    hide: int
    start_s: float
    drops: tuple[Drop, ...]
    style: HandStyle
    dwell_s: float
    ready_s: float
    ball: int | None
    lifts: tuple[Lift, ...]
    hit: Stroke
    slip: int | None
    one_more: Lift | None
    amiss: Amiss | None
    stop: bool
    show_s: float

    @property
    def mischief(self) -> str:
        """What goes otherwise than it should, for the record."""
        slips = ("opened_pad" if self.slip else None, "too_many" if self.one_more else None)
        return ", ".join(kind for kind in (self.amiss, *slips) if kind)


def hunt_script(
    seed: int, hide: int, max_open: int, pace: PaceName = "brisk", mischief: Mischief | None = None
) -> HuntScript:
    """Return what happens in hide number `hide` of the table with this seed: always the same."""
    mischief, times = mischief or Mischief(), PACES[pace]
    # mischief is drawn apart, so that a hide which starts over without it is else the same
    random, whim = rng(seed, Stream.SCRIPT, hide), rng(seed, Stream.SCRIPT, hide, 1)
    pads = list(range(1, pinmap().pads.count + 1))
    laid = [int(pad) for pad in random.permutation(pads)]  # the marked ball's pad first
    drops = [under(random, name, pad) for name, pad in zip(BALLS, laid, strict=True)]
    order = [int(pad) for pad in random.permutation(pads)]
    count = int(random.choice((0, 0, 1, 1, 2, max_open)))
    lifts = tuple(_lift(random, times, pad) for pad in order[:count])
    amiss = _amiss(whim, drops) if whim.random() < mischief.fouls else None
    ball = next((drop.pad for drop in drops if drop.bead == MARKED), None)
    onto = next((i for i, lift in enumerate(lifts) if lift.pad == ball), None)
    hit = stroke(random, times, order[count], doubt=bool(whim.random() < mischief.doubts))
    slip = lifts[0].pad if lifts and onto is None and whim.random() < mischief.doubts else None
    wrong = [pad for pad in order[count:] if pad != ball]
    beyond = count == max_open and onto is None and bool(wrong) and whim.random() < mischief.doubts
    return HuntScript(
        hide=hide,
        start_s=span(random, times.start),
        drops=tuple(sorted(drops, key=lambda drop: drop.pad or 0)),
        style=style(random, times),
        dwell_s=span(random, times.dwell),
        ready_s=span(random, times.ready),
        ball=ball,
        lifts=lifts if onto is None else lifts[: onto + 1],
        hit=hit,
        slip=slip,
        one_more=replace(_lift(whim, times, wrong[-1]), takes=False) if beyond else None,
        amiss=amiss,
        stop=bool(ball is None or whim.random() < 0.5),
        show_s=span(random, times.show),
    )


def _amiss(whim: np.random.Generator, drops: list[Drop]) -> Amiss:
    """Change `drops` as a hider does who forgets a ball, or lays two under one pad."""
    out = whim.random() < 0.5
    which = int(whim.integers(len(drops)))
    spare = drops.pop(which)
    if out:
        return "ball_out"
    drops.insert(which, under(whim, spare.bead, int(whim.choice([drop.pad for drop in drops if drop.pad]))))
    return "two_under_one"


def _lift(random: np.random.Generator, times: Pace, pad: int) -> Lift:
    look, dwell = span(random, times.look), 0.1 + span(random, times.dwell)
    return Lift(pad, style(random, times), look, dwell, bool(random.random() < 0.4))

"""People who do the same at the same time wherever they hide: only what is hidden lies elsewhere.

They act by the clock and never look at the table, so that only the magnetometers can tell one place from another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.pinmap import pinmap
from pi_controller.simulation.hand_motion import HandStyle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from secrecy_outside import Outside

    Deed = tuple[float, Callable[[Outside], object]]

ORDER = (3, 1, 4, 2)
"""In which a hand goes under the pads."""
STYLE = HandStyle(move_s=0.24)
DWELL_S, OUT_S, GAP_S = 0.25, 0.14, 0.06
PASS_S = STYLE.move_s + DWELL_S + OUT_S + GAP_S
FACING = (0.2, 0.3, 0.9)
MIDDLE = (0.0, 0.0)
HIDDEN_S = len(ORDER) * PASS_S
"""From the first hand until the last is away."""


def at(pad: int, off: tuple[float, float] = MIDDLE) -> tuple[float, float]:
    """Return the point of `pad` that lies `off` (in halves of the pad's width and depth) from its middle, mm."""
    pads = pinmap().pads
    x, y = pads.centre(pad)
    return x + off[0] * pads.width_mm / 2, y + off[1] * pads.depth_mm / 2


def hides(t: float, laid: dict[str, tuple[int, tuple[float, float]]], marked: Iterable[str] = ("bead",), facing=FACING):
    """A hand goes under every pad from `t` on, and leaves each bead of `laid` under its pad, off its middle so far."""

    def begin(table: Outside) -> None:
        for bead in laid:
            table.world.carry(bead, marked=bead in marked)
            table.world.magnets.beads[bead].moment = _strength(table, bead) * np.array([0.0, 0.0, 1.0])

    yield t, begin
    for n, pad in enumerate(ORDER):
        yield t + n * PASS_S, lambda table, pad=pad: table.world.hand_in(pad, STYLE)
        for bead, (where, off) in laid.items():
            if where == pad:
                place = at(pad, off)
                yield (
                    t + n * PASS_S + STYLE.move_s + DWELL_S,
                    lambda table, bead=bead, place=place: table.world.drop(bead, place, facing),
                )
        yield t + n * PASS_S + STYLE.move_s + DWELL_S, lambda table, pad=pad: table.world.hand_out(pad)
    yield t + HIDDEN_S, lambda table: table.world.hand_home()


def fists(t: float, bones: tuple[int, int], lift_mm: float = 25.0) -> Iterator[Deed]:
    """Two holders rest their four fists on the pads at `t`; the bones are in the fists of the pads `bones`."""

    def begin(table: Outside) -> None:
        for n, pad in enumerate(bones):
            name = f"bone {n + 1}"
            table.world.carry(name, marked=False, side=pad)
            table.world.magnets.beads[name].moment = 0.052 * np.array([0.1, 0.2, 0.97])

    yield t, begin
    for pad in (1, 2, 3, 4):
        yield t + 0.1, lambda table, pad=pad: table.world.rest(pad, 0.0, STYLE, lift_mm)


def presses(t: float, name: str) -> Iterator[Deed]:
    """Somebody presses the button `name` at `t`."""
    yield t, lambda table: table.buttons.press(name, table.t)


def strikes(t: float, pad: int, also: int | None = None) -> Iterator[Deed]:
    """A stick falls on `pad` at `t`, and half a millisecond later on `also`."""
    yield t, lambda table: table.world.strike(pad, -14.0, also, 0.5e-3)


def _strength(table: Outside, bead: str) -> float:
    return float(np.linalg.norm(table.world.magnets.beads[bead].moment))

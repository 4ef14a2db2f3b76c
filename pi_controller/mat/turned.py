"""Mirrors mat events for the team at the far edge: pad 1 is on their left too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from pi_controller.mat.events import Bead, Beads, HandIn, HandOut, MatEvent, Sensors, Strike
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from pi_controller.mat.events import SensorFault, Side


def pad_from_afar(pad: int) -> int:
    """Return the number that a pad has for those at the other edge."""
    return PADS + 1 - pad


def turned(event: MatEvent) -> MatEvent:
    """Return `event` as it is for those at the other edge. Turned twice it is the same again."""
    match event:
        case HandIn(pad=pad, side=side) | HandOut(pad=pad, side=side):
            return replace(event, pad=pad_from_afar(pad), side=side_from_afar(side))
        case Beads():
            return beads_turned(event)
        case Strike(pads=pads, hand=hand):
            hand = hand if hand == "unclear" else side_from_afar(hand)
            return replace(event, pads=tuple(map(pad_from_afar, pads)), hand=hand)
        case Sensors(faults=faults):
            return replace(event, faults=tuple(_fault(fault) for fault in faults))
        case _:
            return event


def beads_turned(beads: Beads) -> Beads:
    """Return a reading as it is for those at the other edge."""
    return replace(beads, found=tuple(_bead(bead) for bead in beads.found))


def _bead(bead: Bead) -> Bead:
    pad = None if bead.pad is None else pad_from_afar(bead.pad)
    x, y = (None if at is None else -at for at in (bead.x_mm, bead.y_mm))
    return replace(bead, pad=pad, x_mm=x, y_mm=y)


def side_from_afar(side: Side | None) -> Side | None:
    """Return the side that an edge is for those at the other one."""
    match side:
        case "hider":
            return "hitter"
        case "hitter":
            return "hider"
        case None:
            return None


def _fault(fault: SensorFault) -> SensorFault:
    strip = None if fault.strip is None else len(pinmap().touch.strips) - 1 - fault.strip
    return replace(fault, pad=pad_from_afar(fault.pad), strip=strip)

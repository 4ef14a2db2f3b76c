"""Mirrors mat events for the team at the far edge: pad 1 is on their left too."""

from typing import overload

from msgspec.structs import replace

from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.events import (
    Bead,
    BeadsAtRest,
    HandIn,
    HandOut,
    HandSide,
    MatEvent,
    SensorFault,
    SensorFaultsChange,
    Side,
    Strike,
)


def mirror_pad(pad: int) -> int:
    """Return a pad's number as seen from the other edge."""
    return PADS + 1 - pad


def mirror_event(event: MatEvent) -> MatEvent:
    """Return `event` as seen from the other edge. Applying it twice returns the original."""
    match event:
        case HandIn(pad=pad, side=side) | HandOut(pad=pad, side=side):
            return replace(event, pad=mirror_pad(pad), side=mirror_side(side))
        case BeadsAtRest():
            return mirror_beads(event)
        case Strike(pads=pads, hand=hand):
            hand = hand if hand == "unclear" else mirror_side(hand)
            return replace(event, pads=tuple(map(mirror_pad, pads)), hand=hand)
        case SensorFaultsChange(faults=faults):
            return replace(event, faults=tuple(_mirror_fault(fault) for fault in faults))
        case _:
            return event


def mirror_beads(beads: BeadsAtRest) -> BeadsAtRest:
    """Return a bead reading as seen from the other edge."""
    return replace(beads, found=tuple(_mirror_bead(bead) for bead in beads.found))


def _mirror_bead(bead: Bead) -> Bead:
    pad = None if bead.pad is None else mirror_pad(bead.pad)
    x, y = (None if at is None else -at for at in (bead.x_mm, bead.y_mm))
    return replace(bead, pad=pad, x_mm=x, y_mm=y)


@overload
def mirror_side(side: Side | None) -> Side | None: ...


@overload
def mirror_side(side: HandSide) -> HandSide: ...


def mirror_side(side: HandSide) -> HandSide:
    """Return a side as seen from the other edge."""
    match side:
        case "hider":
            return "hitter"
        case "hitter":
            return "hider"
        case _:
            return side


def _mirror_fault(fault: SensorFault) -> SensorFault:
    strip = None if fault.strip is None else len(pinmap().touch.strips) - 1 - fault.strip
    return replace(fault, pad=mirror_pad(fault.pad), strip=strip)

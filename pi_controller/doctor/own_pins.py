"""Checks the sensors on the Pi's own pins: whether their chips answer, and the piezos' sample rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.doctor.report import Line
from pi_controller.link.resample import LATE_S, RATES
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_controller.doctor.sensor_checks import Ears
    from pi_controller.link.pins import PinsSource

LINK = "Link"
GAPS_S = 1.0
"""A gap is a question to the judge while a hit is due: not more than one in so many seconds."""
NOTE = "slower than the board: soft strokes may go unfelt, and the judge confirms the bead"


def lines(source: PinsSource, ears: Ears) -> Iterator[Line]:
    """Yield the lines of `source`, which `ears` have listened to; to be asked before it is closed."""
    yield Line(LINK, "kind", "pass", f"the Pi's own pins, no mat board; {NOTE}")
    names = ("samples", "losses", "touch chip")
    if source.missing is not None or ears.up is None:
        missing = source.missing
        what, todo = (missing.what, missing.todo) if missing else (source.why or "nothing is read yet", "look again")
        yield Line(LINK, "port", "fail", what, todo)
        yield from (Line(LINK, name, "not here", "the piezos are not read") for name in names)
        return
    yield Line(LINK, "port", "pass", source.port.name if source.port else "")
    yield _samples(source, ears)
    yield _losses(ears)
    missing = source.strips_missing
    if missing is not None:
        yield Line(LINK, "touch chip", "fail", missing.what, missing.todo)
    else:
        yield Line(LINK, "touch chip", "pass", f"{ears.scans} scans")


def _samples(source: PinsSource, ears: Ears) -> Line:
    board = pinmap().board.sample_hz
    found = f"{source.reads:,.0f} samples a second for each pad; the board gives {board:,}"
    grid = f"told as {ears.grid:,.0f}"
    if source.reads < 1.25 * RATES[-1]:
        return Line(LINK, "samples", "pass", f"{found}; {grid}, the least that strikes can be felt with")
    return Line(LINK, "samples", "pass", f"{found}; {grid}")


def _losses(ears: Ears) -> Line:
    seconds = max(ears.last_at - ears.first_at, 1e-3)
    restarts = ears.ups - 1
    found = f"{ears.gaps} stretches of more than {1000 * LATE_S:.0f} ms unread in {seconds:.0f} s"
    if restarts:
        found += f", begun anew {restarts} times"
    if restarts or ears.gaps > seconds / GAPS_S:
        return Line(LINK, "losses", "fail", found, "stop other programs on this Pi; give it a better supply")
    return Line(LINK, "losses", "pass", found)

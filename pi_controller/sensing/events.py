"""Mat events as strictly typed JSON: one event a line, `{"t": s, "event": name, ...}`.

The mat knows no game: a strike is reported whether the game expects one or not. Times are seconds on the host's clock.
"""

from typing import Literal

import msgspec

Side = Literal["hider", "hitter"]
"""The edge of the mat that a hand came over, named as the pin map names the touch strips."""
HandSide = Side | Literal["unclear"] | None | msgspec.UnsetType
"""A hand's side. None, or `unclear` (`null` or `"unclear"` in JSON): the mat detects sides, but this hand's is unknown.
Unset (no such key): the mat detects no sides, so a hand that hides is taken to be the hider's.
"""
StrokeHand = Literal["hider", "hitter", "unclear"]
"""The side of the hand that was at a pad when it was struck; unclear if the edge it came over is unknown."""


class HandIn(msgspec.Struct, frozen=True, tag_field="event", tag="hand_in", omit_defaults=True):
    """A hand went under a pad (1 to 4), over the edge of `side` (see `HandSide`).

    `sure` is false if the hand may have stopped at the edge, or the strips that would detect that are faulty.
    """

    t: float
    pad: int
    side: HandSide = msgspec.UNSET
    sure: bool = True


class HandOut(msgspec.Struct, frozen=True, tag_field="event", tag="hand_out", omit_defaults=True):
    """The hand came out from under the pad; `side` as when it went in.

    `sure` is false if the entry was unsure, or the hand may have been out and in again in between.
    """

    t: float
    pad: int
    side: HandSide = msgspec.UNSET
    sure: bool = True


class Bead(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bead at rest: on `pad`, or beside all pads (None). `x_mm`, `y_mm` as in the pin map, if known."""

    pad: int | None
    marked: bool = False
    x_mm: float | None = None
    y_mm: float | None = None


class BeadsAtRest(msgspec.Struct, frozen=True, tag_field="event", tag="beads", omit_defaults=True):
    """The field has come to rest with these beads on the mat. `sure` is false if the fit has doubts."""

    t: float
    found: tuple[Bead, ...]
    sure: bool = True


class Strike(msgspec.Struct, frozen=True, tag_field="event", tag="strike", omit_defaults=True):
    """A strike of the stick: `pads` in the order they were touched (several if too close to separate).

    `margin_db` is the margin above the thresholds; `sure` is false if it is too small or a channel is doubtful.
    `onsets` are the times of each of several pads. `hand` is set if a hand was under one of these pads, had just left
    it, or went under it at once; the hand may have caused the signal.
    """

    t: float
    pads: tuple[int, ...]
    margin_db: float | None = None
    sure: bool = True
    onsets: tuple[float, ...] = ()
    hand: StrokeHand | None = None


class SamplesMissing(msgspec.Struct, frozen=True, tag_field="event", tag="blind"):
    """Strike samples are missing between `t` and `until`: a strike there would have gone undetected."""

    t: float
    until: float


class Button(msgspec.Struct, frozen=True, tag_field="event", tag="button"):
    """A button at the mat was pressed: `toss_a`, `toss_b`, `ready`, `shown`, or a guess of slahal (`left` ...).

    `ready_a` and `ready_b` are ready buttons of one team each.
    """

    t: float
    name: str


class Link(msgspec.Struct, frozen=True, tag_field="event", tag="link", omit_defaults=True):
    """The board's link went up or down; `why` it is down, or that it is another board than before."""

    t: float
    up: bool
    why: str = ""


HUM = "hum of the mains"
"""Why a disc that feels all but the softest strokes is reported: hum that is subtracted, but loud."""


class SensorFault(msgspec.Struct, frozen=True, omit_defaults=True):
    """A faulty piezo disc or touch strip of `pad`, with the fault in one word; `strip` 0 is at the hider's edge.

    Magnetometer faults are never reported: a bead can saturate a sensor, so the fault would reveal its position.
    """

    sensor: Literal["disc", "strip"]
    pad: int
    why: str
    strip: int | None = None


class SensorFaultsChange(msgspec.Struct, frozen=True, tag_field="event", tag="sensors", omit_defaults=True):
    """The complete set of faulty sensors from now on."""

    t: float
    faults: tuple[SensorFault, ...] = ()


MatEvent = HandIn | HandOut | BeadsAtRest | Strike | SamplesMissing | Button | Link | SensorFaultsChange

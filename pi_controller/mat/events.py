"""What happened on the mat, as strict typed JSON: one event a line, `{"t": s, "event": name, ...}`.

The mat knows no game: a strike is a strike whether one is due or not. Times are seconds on the host's clock.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Side = Literal["hider", "hitter"]
"""The edge of the mat that a hand came over, as the pin map names the touch strips."""
StrokeHand = Literal["hider", "hitter", "unclear"]
"""Whose hand was at a pad when it was struck; unclear where the edge it came over cannot be told."""


class HandIn(msgspec.Struct, frozen=True, tag_field="event", tag="hand_in", omit_defaults=True):
    """A hand went under a pad (1 to 4), over the edge of `side`; None when that cannot be told.

    `sure` is false when it may have stopped at the edge, or the strips that would tell are out of order.
    """

    t: float
    pad: int
    side: Side | None = None
    sure: bool = True


class HandOut(msgspec.Struct, frozen=True, tag_field="event", tag="hand_out", omit_defaults=True):
    """The hand came out again; `side` as it went in.

    `sure` is false when the hand went in unsurely, or may have been out and in again in between.
    """

    t: float
    pad: int
    side: Side | None = None
    sure: bool = True


class Bead(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bead lying still: under `pad`, or beside all pads (None). `x_mm`, `y_mm` as in the pin map, when known."""

    pad: int | None
    marked: bool = False
    x_mm: float | None = None
    y_mm: float | None = None


class Beads(msgspec.Struct, frozen=True, tag_field="event", tag="beads", omit_defaults=True):
    """The field has come to rest: these beads lie on the mat. `sure` is false when the fit does not decide."""

    t: float
    found: tuple[Bead, ...]
    sure: bool = True


class Strike(msgspec.Struct, frozen=True, tag_field="event", tag="strike", omit_defaults=True):
    """A stick struck: `pads` in the order they were touched, first first (several when too close to tell apart).

    `margin_db` is how far the stroke stood above what would have been doubted; `sure` is false when it is a doubt.
    `onsets` are the times of each of several pads. `hand`: one was under a pad of these then, had just left it, or went
    under it at once, and may be all that was felt.
    """

    t: float
    pads: tuple[int, ...]
    margin_db: float | None = None
    sure: bool = True
    onsets: tuple[float, ...] = ()
    hand: StrokeHand | None = None


class Blind(msgspec.Struct, frozen=True, tag_field="event", tag="blind"):
    """Strike samples are missing between `t` and `until`: a stroke there would not have been felt."""

    t: float
    until: float


class Button(msgspec.Struct, frozen=True, tag_field="event", tag="button"):
    """A button at the mat was pressed: `toss_a`, `toss_b`, `ready`, `shown`, or a guess of slahal (`left` ...)."""

    t: float
    name: str


class Link(msgspec.Struct, frozen=True, tag_field="event", tag="link", omit_defaults=True):
    """The board's link went up or down."""

    t: float
    up: bool
    why: str = ""


class SensorFault(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piezo disc or a touch strip of `pad` that cannot be believed, and why in a word; `strip` 0 is the hider's edge.

    Magnetometers are not told of: which of them a bead is too near to would say where it lies.
    """

    sensor: Literal["disc", "strip"]
    pad: int
    why: str
    strip: int | None = None


class Sensors(msgspec.Struct, frozen=True, tag_field="event", tag="sensors", omit_defaults=True):
    """These sensors cannot be believed from now on; all others can."""

    t: float
    faults: tuple[SensorFault, ...] = ()


MatEvent = HandIn | HandOut | Beads | Strike | Blind | Button | Link | Sensors

"""Kinematics of hands: position over time, and coverage of each touch strip.

x to the right, y away from the hider, z up, mm, as in the pin map. A simulation, not evidence about real hands.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pi_controller.errors import UsageError
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap

Side = Literal["hider", "hitter"]
Place = tuple[float, float, float]

HOME_Y = 480.0
"""Resting place of a hand in front of its own edge, mm from the mat's middle line."""
EDGE_Y = 215.0
"""A place just clear of the pads' edge."""
UNDER_Z = 22.0
OVER_Z = 70.0
HOME_Z = 150.0
SLEEVE_MM = 120.0
"""Distance behind the fingers at which a trailing sleeve still touches the edge of a pad."""
FIST_MM = 35.0
"""Reach of a fist beyond the held object."""


@dataclass(frozen=True, slots=True)
class HandStyle:
    """How somebody's hand goes under a pad.

    `move_s` is the time of the way in, `counts` the loss of a covered strip, `reach_mm` the reach past the pad's middle
    (negative: short of it). `sleeve` is the share of `counts` lost to a sleeve on the strip of its own edge, from
    before the hand arrives until it rests in front of the mat again.
    """

    move_s: float = 0.3
    counts: float = 40.0
    reach_mm: float = 60.0
    sleeve: float = 0.0


class Hand:
    """A hand moving smoothly through timed points."""

    def __init__(self, side: Side) -> None:
        self.side: Side = side
        self.sign = -1.0 if side == "hider" else 1.0
        self.style = HandStyle()
        self.pad: int | None = None
        """The pad that the hand is under or rests on."""
        self.ahead_mm = 0.0
        """Reach of the fingers beyond the hand's point: 0 for a flat hand, `FIST_MM` for a fist."""
        home = (0.0, self.sign * HOME_Y, HOME_Z)
        self._times = [0.0]
        self._points: list[Place] = [home]

    def at(self, t: float) -> Place:
        """Return the position (x, y, z) at time `t`, mm."""
        times = self._times
        i = bisect_right(times, t)
        if i == 0:
            return self._points[0]
        if i == len(times):
            return self._points[-1]
        t0, t1 = times[i - 1], times[i]
        s = (t - t0) / (t1 - t0)
        s = s * s * (3.0 - 2.0 * s)
        a, b = self._points[i - 1], self._points[i]
        return a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])

    @property
    def still_from(self) -> float:
        """Time from which the hand is at rest."""
        return self._times[-1]

    def _go(self, t: float, legs: Iterable[tuple[float, Place]]) -> float:
        here = self.at(t)
        self._times, self._points = [t], [here]
        for seconds, point in legs:
            t += max(seconds, 1e-3)
            self._times.append(t)
            self._points.append(point)
        return t

    def go_in(self, t: float, pad: int, style: HandStyle) -> float:
        """Go under `pad`, leaving another pad first; return the time of arrival."""
        self.style, self.ahead_mm = style, 0.0
        x, _ = pinmap().pads.centre(pad)
        edge = (x, self.sign * EDGE_Y, OVER_Z)
        under = (x, -self.sign * style.reach_mm, UNDER_Z)
        legs = [(style.move_s * 0.45, edge), (style.move_s * 0.55, under)]
        if self.pad is not None and self.pad != pad:
            hx = self.at(t)[0]
            legs.insert(0, (style.move_s * 0.5, (hx, self.sign * EDGE_Y, OVER_Z)))
        self.pad = pad
        return self._go(t, legs)

    def rest_on(
        self, t: float, pad: int, x_offset_mm: float = 0.0, style: HandStyle | None = None, z_mm: float = 25.0
    ) -> float:
        """Put a fist on `pad`, `x_offset_mm` to the right of its middle; return the time of arrival.

        It covers the strip of its own edge and the middle one. The held object is `z_mm` (12 to 45) above the surface.
        Raises `UsageError` if the fist would be beside the pad.
        """
        pads = pinmap().pads
        if abs(x_offset_mm) > pads.width_mm / 2:
            raise UsageError(
                f"a fist {x_offset_mm} mm from the middle of pad {pad} is outside the pad",
                f"stay within {pads.width_mm / 2:.0f} mm",
            )
        if not 12.0 <= z_mm <= 45.0:
            raise UsageError(f"no fist holds a bead {z_mm} mm above the mat", "choose 12 to 45 mm")
        self.style, self.ahead_mm = style or self.style, FIST_MM
        x = pads.centre(pad)[0] + x_offset_mm
        self.pad = pad
        over = (x, self.sign * EDGE_Y, OVER_Z + FIST_MM)
        return self._go(t, [(self.style.move_s * 0.45, over), (self.style.move_s * 0.55, (x, 0.0, z_mm))])

    def go_out(self, t: float) -> float:
        """Leave the pad and rest clear of the edge; return the time of arrival."""
        x = self.at(t)[0]
        self.pad = None
        clear = self.style.move_s * 0.55
        self._go(t, [(clear, (x, self.sign * EDGE_Y, OVER_Z)), (clear, (x * 0.9, self.sign * (EDGE_Y + 60.0), HOME_Z))])
        return t + clear

    def go_home(self, t: float) -> float:
        """Draw the hand back to its own side; return the time of arrival."""
        self.pad = None
        x = self.at(t)[0]
        return self._go(t, [(0.3, (x, self.sign * HOME_Y, HOME_Z))])


class Cover:
    """Loss of counts of each strip to a hand, by plain geometry."""

    def __init__(self) -> None:
        pads, strips = pinmap().pads, pinmap().touch.strips
        self._x = [pads.centre(p)[0] for p in EVERY_PAD]
        self._half = pads.width_mm / 2
        self._deep = pads.depth_mm / len(strips)
        self._start = [i * self._deep - pads.depth_mm / 2 for i in range(len(strips))]  # in a hand's own direction
        self._edge = pads.depth_mm / 2

    def counts(self, hand: Hand, t: float) -> list[float] | None:
        """Return the loss of every electrode in wire order, or None if the hand is far from all of them."""
        x, y, z = hand.at(t)
        inward = hand.ahead_mm - hand.sign * y  # grows as the hand goes in
        if inward < -(self._edge + (SLEEVE_MM if hand.style.sleeve else 60.0)):
            return None
        strips: list[float] = []
        for start in self._start:
            covered = min(1.0, max(0.0, (inward - start) / self._deep))
            palm = min(1.0, max(0.0, 1.0 - (inward - 100.0 - start) / self._deep))
            strips.append(covered * (0.65 + 0.35 * palm))
        strips[0] = max(strips[0], 0.12 * min(1.0, 1.0 + (inward + self._edge) / 60.0))
        trailing = hand.style.sleeve * min(1.0, max(0.0, (inward + self._edge + SLEEVE_MM) / SLEEVE_MM))
        lift = min(1.0, max(0.0, (OVER_Z + 20.0 - z) / (OVER_Z + 20.0 - UNDER_Z)))
        strips = [strip * lift for strip in strips]
        strips[0] = max(strips[0], trailing)
        if hand.side == "hitter":
            strips.reverse()
        full = hand.style.counts * (1.0 + 0.08 * math.sin(2.0 * math.pi * 1.7 * t + x))
        loss: list[float] = []
        for centre in self._x:
            beside = abs(centre - x)
            near = full if beside <= self._half else 0.05 * full if beside <= self._half + 190.0 else 0.0
            loss += [near * strip for strip in strips]
        return loss

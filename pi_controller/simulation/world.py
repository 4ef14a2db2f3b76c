"""The simulated mat and people's actions on it, on virtual time.

`World` contains the physics (`piezo`, `touch`, `magnets`) and the hands. People act at the present time `t`; `advance`
moves it on. The sensor readings are a function of the seed, the actions and the time, but not of the step sizes. This
is a simulation with assumed figures: it can show that the parts of a controller fit together, but not that it detects a
real stick on a real mat.
"""

import numpy as np

from pi_controller.errors import UsageError
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.referee.facts import Seats, is_mirrored
from pi_controller.rules.base import Team
from pi_controller.simulation import hand_motion, magnetometers, piezo_discs, touch_strips
from pi_controller.simulation.conditions import Conditions, Stream, rng

NS = 1_000_000_000
POINTING = hand_motion.HandStyle(reach_mm=-110.0)
"""A hand that points: only the fingertips are over the pad."""
RUB_S = 30.0
"""Longest time that cloth keeps rubbing over one hand."""


class World:
    """Mat, hands and beads. `t` is virtual seconds since the start; it is stored in whole nanoseconds (`ns`)."""

    def __init__(self, seed: int, conditions: Conditions | None = None) -> None:
        if seed < 0:
            raise UsageError(f"seed {seed} is negative", "choose a seed of 0 or more")
        self.seed = seed
        self.conditions = conditions or Conditions.quiet()
        self.ns = 0
        self.piezo = piezo_discs.SimPiezo(seed, self.conditions)
        self.strips = touch_strips.TouchStrips(seed, self.conditions)
        self.magnets = magnetometers.Magnets(seed, self.conditions)
        self.hands: dict[hand_motion.Side | int, hand_motion.Hand] = {
            "hider": hand_motion.Hand("hider"),
            "hitter": hand_motion.Hand("hitter"),
        }
        """Hands by edge; fists of slahal's bone holders by the pad they rest on, negative for the far edge."""
        self.seats: Seats = "turn"
        self.turned = False
        """True if the hiders sit at the mat's far edge: pads, sides and places are given from their view."""
        self._drops = 0

    @property
    def t(self) -> float:
        """Virtual time, seconds."""
        return self.ns / NS

    def advance(self, dt: float) -> None:
        """Let `dt` seconds pass (rounded to nanoseconds)."""
        if dt < 0:
            raise UsageError(f"time cannot go back ({dt} s)", "advance by 0 or more")
        self.ns += round(dt * NS)

    def sit(self, hiders: Team | None) -> None:
        """Seat the team `hiders` as the hiding team."""
        self.turned = is_mirrored(self.seats, hiders)

    # hands

    def hand_in(self, pad: int, style: hand_motion.HandStyle | None = None, side: hand_motion.Side = "hider") -> float:
        """Start moving a hand under `pad`; return the time of arrival."""
        hand, pad = self.hand(side), self._pad(pad)
        if hand.pad is not None and hand.pad != pad:
            self.piezo.rub_ends(hand.pad, self.t)
        there = hand.go_in(self.t, pad, style or hand.style)
        self.piezo.press(there, pad)
        self.piezo.rub(pad, there - 0.3 * (there - self.t), there + RUB_S)
        self.magnets.update_fields()
        return there

    def hand_out(self, pad: int, side: hand_motion.Side | int = "hider") -> float:
        """Draw the hand out from under `pad`; return the time at which it is clear of the edge."""
        hand, there = self.hand(side), self._pad(pad)
        if hand.pad != there:
            raise UsageError(f"the {side}'s hand is not under pad {pad}", "put it there first")
        return self._move_out(hand, there)

    def point(self, pad: int, side: hand_motion.Side = "hitter") -> float:
        """Hold a hand over the edge of `pad` without touching it; return the time of arrival."""
        hand = self.hand(side)
        there = hand.go_in(self.t, self._pad(pad), POINTING)
        hand.pad = None  # it is over the pad, not under it
        self.magnets.update_fields()
        return there

    def draw_back(self, side: hand_motion.Side | int = "hider") -> float:
        """Draw the hand out of any place; return the time at which it is clear of the edge."""
        hand = self.hand(side)
        return self.t if hand.pad is None else self._move_out(hand, hand.pad)

    def _move_out(self, hand: hand_motion.Hand, pad: int) -> float:
        clear = hand.go_out(self.t)
        self.piezo.press(self.t, pad)
        self.piezo.rub_ends(pad, clear)
        self.magnets.update_fields()
        return clear

    def rest(
        self, pad: int, x_offset_mm: float = 0.0, style: hand_motion.HandStyle | None = None, z_mm: float = 25.0
    ) -> float:
        """Put the fist of `pad` on it (`Hand.rest_on`); return the time of arrival."""
        hand, pad = self.hand(pad), self._pad(pad)
        there = hand.rest_on(self.t, pad, -x_offset_mm if self.turned else x_offset_mm, style, z_mm)
        self.piezo.press(there, pad)
        self.magnets.update_fields()
        return there

    def hand_home(self, side: hand_motion.Side | int = "hider") -> float:
        """Move the hand back to its owner; return the time of arrival."""
        hand = self.hand(side)
        self.draw_back(side)
        there = hand.go_home(self.t)
        self.magnets.update_fields()
        return there

    # beads

    def carry(self, bead: str = "bead", *, marked: bool = True, side: hand_motion.Side | int = "hider") -> None:
        """Put `bead` into a hand (or the fist of a pad), from any earlier place."""
        known = self.magnets.beads.get(bead)
        if known is None:
            random = rng(self.seed, Stream.BEAD, 0, len(self.magnets.beads))
            strength = (magnetometers.MARKED_AM2 if marked else magnetometers.UNMARKED_AM2) * random.normal(1.0, 0.03)
            known = self.magnets.beads[bead] = magnetometers.SimBead(strength * _direction(random))
        known.place, known.hand = None, self.hand(side)
        self.magnets.update_fields()

    def drop(
        self, bead: str, where: int | tuple[float, float], facing: tuple[float, float, float] | None = None
    ) -> None:
        """Put `bead` down.

        `where` is a pad (a seeded place inside it) or (x, y) in mm; `facing` turns its moment.
        """
        known = self.magnets.beads.get(bead)
        if known is None:
            self.carry(bead)
            known = self.magnets.beads[bead]
        self._drops += 1
        random = rng(self.seed, Stream.BEAD, 1, self._drops)
        if isinstance(where, int):
            pads = pinmap().pads
            x, y = pads.centre(self._pad(where))
            x += random.uniform(-0.42, 0.42) * pads.width_mm
            y += random.uniform(-0.42, 0.42) * pads.depth_mm
        else:
            x, y = (-where[0], -where[1]) if self.turned else where
        axis = _direction(random) if facing is None else np.array(facing) / np.linalg.norm(facing)
        known.moment = float(np.linalg.norm(known.moment)) * axis
        known.hand, known.place = None, np.array([x, y, magnetometers.LYING_Z])
        self.magnets.update_fields()

    def take(self, bead: str) -> None:
        """Remove `bead` from the mat: into a pocket, or in the open hand far above."""
        known = self.magnets.beads.get(bead)
        if known is not None:
            known.place = known.hand = None
            self.magnets.update_fields()

    def pad_of_bead(self, bead: str = "bead") -> int | None:
        """Return the pad over `bead` now, or None: only for the record and the simulated judge."""
        known = self.magnets.beads.get(bead)
        if known is None or known.place is None:
            return None
        pad = pinmap().pads.at(float(known.place[0]), float(known.place[1]))
        return pad and self._pad(pad)

    # strokes

    def strike(
        self,
        pad: int,
        level_dbfs: float = -20.0,
        second_pad: int | None = None,
        second_after_s: float | None = None,
        after_s: float = 0.0,
    ) -> None:
        """Strike `pad`, `after_s` from now, and `second_pad` (if any) another `second_after_s` later."""
        at = self.t + after_s
        self.piezo.strike(at, self._pad(pad), level_dbfs)
        if second_pad is not None:
            self.piezo.strike(at + (second_after_s or 0.0), self._pad(second_pad), level_dbfs - 2.0)

    def hand(self, side: hand_motion.Side | int) -> hand_motion.Hand:
        """Return the hand of a side, or the fist of a pad."""
        if isinstance(side, int):
            if self.turned:
                return self.hands.setdefault(-self._pad(side), hand_motion.Hand("hitter"))
            return self.hands.setdefault(self._pad(side), hand_motion.Hand("hider"))
        if self.turned:
            side = "hitter" if side == "hider" else "hider"
        return self.hands[side]

    def _pad(self, pad: int) -> int:
        """Convert a pad's number between the hiders' view and the pin map, in either direction."""
        pads = PADS
        if not 1 <= pad <= pads:
            raise UsageError(f"there is no pad {pad}", f"pads are 1 to {pads}")
        return pads + 1 - pad if self.turned else pad


def _direction(random: np.random.Generator) -> np.ndarray:
    """Return a random unit vector, uniform over all directions."""
    v = random.standard_normal(3)
    return v / np.linalg.norm(v)

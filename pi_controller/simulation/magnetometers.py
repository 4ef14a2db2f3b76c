"""Model of the 24 magnetometers: the earth's field, each chip's offset, and the dipole of every bead nearby.

A simulation from physics, not checked against a real mat: it is never evidence about one. Bead fields are recomputed
only after a movement; noise is a function of time on a grid of 20 ms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pi_controller.pinmap import pinmap
from pi_controller.sensing.bead_solver import response
from pi_controller.simulation.conditions import Conditions, Stream, rng
from pi_controller.simulation.hand_motion import Hand

MARKED_AM2 = 0.176
"""D6x6 mm, N42."""
UNMARKED_AM2 = 0.052
"""D4x4 mm, N42."""
LYING_Z = 6.0
GRID_HZ = 50


@dataclass(slots=True)
class SimBead:
    """One bead: in a hand, at rest at `place`, or (neither) away from the mat. `moment` is a vector, A m^2."""

    moment: NDArray[np.float64]
    place: NDArray[np.float64] | None = None
    hand: Hand | None = None


class Magnets:
    """All magnetometers, in wire order."""

    def __init__(self, seed: int, conditions: Conditions) -> None:
        pins = pinmap()
        self._seed = seed
        self._conditions = conditions
        self._range = pins.magnetometers.range_ut
        self._per_ut = pins.magnetometers.counts_per_ut
        fixed = rng(seed, Stream.MAT, 3)
        drawn = np.array(pins.magnetometer_positions(conditions.depth_mm))
        self.count = len(drawn)
        self._places = drawn + conditions.sensor_place_mm * fixed.standard_normal(drawn.shape)
        dip, heading = np.radians(fixed.uniform(55.0, 75.0)), fixed.uniform(0.0, 2 * np.pi)
        earth = 50.0 * np.array([np.cos(dip) * np.cos(heading), np.cos(dip) * np.sin(heading), -np.sin(dip)])
        self._rest = earth + conditions.field_offset_ut * fixed.uniform(-1.0, 1.0, drawn.shape)
        self._gain = 1.0 + conditions.field_gain_error * fixed.standard_normal((self.count, 1))
        self._drift = fixed.standard_normal((2, 3)) * conditions.field_drift_ut
        self._period = fixed.uniform((70.0, 400.0), (200.0, 1500.0))
        self.beads: dict[str, SimBead] = {}
        self._lying: NDArray[np.float64] = np.zeros_like(drawn)
        self._second = -1
        self._noise: NDArray[np.float64] = np.zeros((GRID_HZ, self.count, 3))
        self._bad: NDArray[np.bool_] = np.zeros((GRID_HZ, self.count), bool)
        self._still: tuple[Any, bytes] | None = None
        self._slot = -1
        self._silent: list[bool] = []
        self._words = b""

    def update_fields(self) -> None:
        """Recompute the fields after a bead was put down or taken, or a hand started to move."""
        lying = np.zeros_like(self._lying)
        for bead in self.beads.values():
            if bead.place is not None:
                lying += response(self._places, bead.place) @ bead.moment
        self._lying = lying
        self._still, self._slot = None, -1

    def read(self, i: int, t: float) -> bytes | None:
        """Return magnetometer `i` at time `t`: x, y, z as i16 little endian; None if saturated or silent."""
        slot = int(t * GRID_HZ)
        if slot != self._slot:
            self._turn(slot)
        return None if self._silent[i] else self._words[6 * i : 6 * i + 6]

    def has_failed(self, i: int) -> bool:
        """Return True if the last reading of magnetometer `i` failed on the bus (and was not only saturated)."""
        second, row = divmod(self._slot, GRID_HZ)
        return second == self._second and bool(self._bad[row, i])

    def field(self, t: float) -> NDArray[np.float64]:
        """Return the noise-free field at the sensors at time `t`, microtesla (sensors, 3)."""
        field = self._lying
        for bead in self.beads.values():
            if bead.hand is not None:
                field = field + response(self._places, np.array(bead.hand.at(t))) @ bead.moment
        second = int(t)
        drift = self._drift[0] * np.sin(2 * np.pi * second / self._period[0])
        drift = drift + self._drift[1] * np.sin(2 * np.pi * second / self._period[1])
        return (field + drift) * self._gain + self._rest

    def _turn(self, slot: int) -> None:
        """Compute the readings of time slot `slot`; if no bead moves, those of its whole second at once."""
        second, row = divmod(slot, GRID_HZ)
        t = slot / GRID_HZ
        self._slot = slot
        if second != self._second:
            random = rng(self._seed, Stream.FIELD, second)
            self._noise = self._conditions.field_noise_ut * random.standard_normal((GRID_HZ, self.count, 3))
            self._bad = random.random((GRID_HZ, self.count)) < self._conditions.i2c_error_rate
            self._second, self._still = second, None
        if any(bead.hand is not None and bead.hand.still_from > t for bead in self.beads.values()):
            self._silent, self._words = self._pack(self.field(t) + self._noise[row], self._bad[row])
            return
        if self._still is None:
            self._still = self._pack(self.field(t) + self._noise, self._bad)
        silent, words = self._still
        size = 6 * self.count
        self._silent, self._words = silent[row], words[row * size : (row + 1) * size]

    def _pack(self, seen: NDArray[np.float64], bad: NDArray[np.bool_]) -> tuple[Any, bytes]:
        over = np.abs(seen).max(axis=-1) > self._range
        words = np.rint(np.clip(seen, -self._range, self._range) * self._per_ut).astype("<i2").tobytes()
        return (over | bad).tolist(), words

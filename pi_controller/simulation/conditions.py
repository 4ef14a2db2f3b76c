"""Conditions of a simulated mat: surrounding sound, sensor noise, misalignment.

These figures are assumptions: levels of drums and cross-talk are swept in tests, since they have not been measured on
this build yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np

from pi_controller.errors import UsageError

Preset = Literal["quiet", "drums"]


@dataclass(frozen=True, slots=True)
class Conditions:
    """Surroundings of the mat. Levels in dBFS are peaks against the converter's rail (2048 of its counts = 0 dBFS)."""

    magnetometers: int | None = None
    """How many the mat has (`PinMap.magnetometers_built`)."""
    depth_mm: float | None = None
    """How deep they lie below its surface; None as the pin map says."""
    bias_lsb: float = 12.0
    """Largest offset of a piezo's resting level from mid-scale (1 % resistors), counts."""
    adc_noise_lsb: float = 1.15
    """Noise of one reading of the converter, counts rms; a sample is the sum of 16."""
    spikes_per_minute: float = 0.0
    """Rate of isolated single-sample spikes on each piezo channel."""
    hum_lsb: float = 0.0
    """Mains hum with its harmonics, counts peak."""
    drum_dbfs: float | None = None
    """Median peak of a drum beat at the pads, through the floor; None without drums."""
    drum_hz: float = 2.3
    """Beats a second."""
    rub_dbfs: float = -62.0
    """Rubbing of cloth and hand on a pad while a hand is under it, rms."""
    press_dbfs: float = -45.0
    """Pressure of a hand on its way in and out, peak."""
    touch_noise: float = 1.0
    """Noise of a touch strip, counts rms."""
    touch_drift: float = 3.0
    """Slow wander of a touch strip, counts."""
    field_noise_ut: float = 0.5
    """Noise of a magnetometer axis, microtesla rms."""
    field_offset_ut: float = 25.0
    """Largest offset of a cheap magnetometer on each axis, microtesla."""
    field_drift_ut: float = 1.0
    """Slow wander of the background field, microtesla."""
    field_gain_error: float = 0.003
    """Spread of the magnetometers' gain (fraction, one sigma)."""
    sensor_place_mm: float = 0.2
    """Deviation of a magnetometer from its drawn place, mm (one sigma)."""
    i2c_error_rate: float = 0.0
    """Share of failed chip reads."""
    clock_ppb: int = 18_000
    """Error of the board's crystal, parts in 10^9."""

    @staticmethod
    def quiet() -> Conditions:
        """Return a quiet room: clean sensors, no drums."""
        return Conditions()

    @staticmethod
    def drums() -> Conditions:
        """Return a hall with drums beside the mat, mains hum, a wandering field and cheap chips."""
        return Conditions(
            bias_lsb=20.0,
            spikes_per_minute=1.0,
            hum_lsb=3.0,
            drum_dbfs=-45.0,
            rub_dbfs=-55.0,
            press_dbfs=-38.0,
            touch_noise=1.6,
            touch_drift=6.0,
            field_noise_ut=1.0,
            field_drift_ut=3.0,
            field_gain_error=0.01,
            sensor_place_mm=0.7,
            i2c_error_rate=0.0005,
        )

    @staticmethod
    def from_name(name: str) -> Conditions:
        """Return the preset called `name`; raises `UsageError` for an unknown name."""
        if name == "quiet":
            return Conditions.quiet()
        if name == "drums":
            return Conditions.drums()
        raise UsageError(f"no such conditions: {name!r}", "choose quiet or drums")


# Seeded randomness by name: the same (seed, stream, place in the stream) gives the same numbers, in any order.
class Stream(IntEnum):
    """Purposes of random numbers; the values are part of every recorded seed and must never change."""

    PIEZO = 1
    DRUM = 2
    STRIKE = 3
    PRESS = 4
    RUB = 5
    TOUCH = 6
    FIELD = 7
    MAT = 8
    BEAD = 9
    CLOCK = 10
    SCRIPT = 11
    TOSS = 12


def rng(seed: int, stream: Stream, *place: int) -> np.random.Generator:
    """Return a fresh generator for one place of a stream (all numbers 0 or more)."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence((seed, int(stream), *place))))

"""Conditions of a simulated mat: surrounding sound, sensor noise, misalignment.

These figures are choices, not measurements of a real mat: levels of drums and cross-talk are swept in tests because
nobody has measured them on this build yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pi_controller.errors import UsageError

Preset = Literal["quiet", "pow_wow"]


@dataclass(frozen=True, slots=True)
class Conditions:
    """What surrounds the mat. Levels in dBFS are peaks against the converter's rail (2048 counts = 0 dBFS)."""

    bias_lsb: float = 12.0
    """How far a piezo's rest lies off mid-scale at most (1 % resistors), counts."""
    adc_noise_lsb: float = 0.7
    """Converter noise, counts rms."""
    spikes_per_minute: float = 0.0
    """Isolated single-sample spikes on each piezo channel."""
    hum_lsb: float = 0.0
    """Mains hum with its harmonics, counts peak."""
    drum_dbfs: float | None = None
    """Median peak of a drum beat at the pads, through the floor; None without drums."""
    drum_hz: float = 2.3
    """Beats a second."""
    rub_dbfs: float = -62.0
    """Cloth and hand on a pad while a hand is under it, rms."""
    press_dbfs: float = -45.0
    """A hand's presses on its way in and out, peak."""
    touch_noise: float = 1.0
    """Noise of a touch strip, counts rms."""
    touch_drift: float = 3.0
    """Slow wander of a touch strip, counts."""
    field_noise_ut: float = 0.5
    """Noise of a magnetometer axis, microtesla rms."""
    field_offset_ut: float = 25.0
    """What a magnetometer reads of its own accord on each axis, at most; cheap ones do, microtesla."""
    field_drift_ut: float = 1.0
    """Slow wander of the background field, microtesla."""
    field_gain_error: float = 0.003
    """Spread of the magnetometers' gain (fraction, one sigma)."""
    sensor_place_mm: float = 0.2
    """How far a magnetometer sits from its drawn place, mm (one sigma)."""
    i2c_error_rate: float = 0.0
    """Share of chip reads that fail."""
    clock_ppb: int = 18_000
    """How fast the board's crystal runs, parts in 10^9."""

    @staticmethod
    def quiet() -> Conditions:
        """Return a still room: sensors clean, no drums."""
        return Conditions()

    @staticmethod
    def pow_wow() -> Conditions:
        """Return a hall with drums, mains hum, a wandering field and cheap chips."""
        return Conditions(
            bias_lsb=20.0,
            adc_noise_lsb=1.0,
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
    def named(name: str) -> Conditions:
        """Return the preset called `name`; raises `UsageError` for any other word."""
        if name == "quiet":
            return Conditions.quiet()
        if name == "pow_wow":
            return Conditions.pow_wow()
        raise UsageError(f"no such conditions: {name!r}", "choose quiet or pow_wow")

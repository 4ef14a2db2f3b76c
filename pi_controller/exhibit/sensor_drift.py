"""Measure how far the sensors of an idle mat have drifted since its calibration.

It measures for five seconds at a time, while no visitor has a session and no hand is at the mat. Magnetometers are
left out: a report of the ones near a bead would reveal its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from pi_controller.board.messages import Message, Piezo, Touch
from pi_controller.calibration.profile import Profile
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.running_stats import RunningStats

SCANS = 250
"""Scans of the touch strips in one report: five seconds."""
MAX_DRIFT_SHARE = 0.5
"""A strip has drifted too far if its resting value has moved by this share of the loss that a hand causes."""
MAX_NOISE_RATIO = 4.0
"""A disc has become too noisy if its noise is this many times its value at calibration."""


class DriftReading(NamedTuple):
    """A sensor of `pad`: counts `now` and `then` (at calibration; None if uncalibrated).

    `strip` is None for the disc.
    """

    pad: int
    strip: int | None
    now: float
    then: float | None
    far: bool


class SensorDrift:
    """Measures the drift of a mat against its calibration `profile`, if any; `report` is the last complete report."""

    def __init__(self, profile: Profile | None = None) -> None:
        self.report: tuple[DriftReading, ...] = ()
        strips = len(pinmap().touch.strips)
        known = profile.touch if profile is not None else None
        self._rest = None if known is None else np.array(known.rest).reshape(PADS, strips)
        self._far = None if known is None else MAX_DRIFT_SHARE * np.array(known.lost).reshape(PADS, strips)
        self._noise = profile.strikes.noise if profile is not None and profile.strikes is not None else None
        self._strips = strips
        self.forget()

    def forget(self) -> None:
        """Discard the samples collected so far, because the mat is in use."""
        self._touch, self._piezo = RunningStats((PADS, self._strips)), RunningStats((PADS,))
        self._scans = 0

    def add_messages(self, messages: Iterable[Message]) -> None:
        """Add the messages of an idle mat; renew `report` after `SCANS` touch scans."""
        for message in messages:
            if isinstance(message, Touch):
                self._touch.add(message.counts.astype(np.float64))
                self._scans += 1
            elif isinstance(message, Piezo):
                self._piezo.add(message.counts)
        if self._scans >= SCANS:
            self.report = tuple(self._compare_sensors())
            self.forget()

    def _compare_sensors(self) -> Iterable[DriftReading]:
        noise, rest = self._piezo.rms, self._touch.mean
        for pad in EVERY_PAD:
            then = None if self._noise is None else self._noise[pad - 1]
            now = float(noise[pad - 1])
            yield DriftReading(pad, None, now, then, then is not None and now > MAX_NOISE_RATIO * max(then, 1.0))
            for strip in range(self._strips):
                at = pad - 1, strip
                was = None if self._rest is None else float(self._rest[at])
                far = was is not None and self._far is not None and abs(rest[at] - was) > max(self._far[at], 1.0)
                yield DriftReading(pad, strip, float(rest[at]), was, bool(far))

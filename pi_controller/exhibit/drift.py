"""How far the sensors of a mat at rest have drifted from the day it was calibrated.

Five seconds at a time, while no visitor has a session and no hand is at the mat. Of the magnetometers nothing is said:
which of them a bead is too near to would say where it lies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pi_controller.calibration.detectors import Running
from pi_controller.link.messages import Piezo, Touch
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.calibration.profile import Profile
    from pi_controller.link.messages import Message

SCANS = 250
"""Scans of the touch strips in one look: five seconds."""
FAR_SHARE = 0.5
"""A strip has drifted far when its rest has moved by this share of what a hand takes from it."""
LOUD = 4.0
"""A disc has become loud when its noise is so many times what it was."""


class Drifted(NamedTuple):
    """A sensor of `pad`: `now` counts, `then` when it was calibrated (None: it was not); `strip` None for the disc."""

    pad: int
    strip: int | None
    now: float
    then: float | None
    far: bool


class Drift:
    """Looks at a mat with calibration `profile`, where it has one; `report` is what the last whole look found."""

    def __init__(self, profile: Profile | None = None) -> None:
        self.report: tuple[Drifted, ...] = ()
        strips = len(pinmap().touch.strips)
        known = profile.touch if profile is not None else None
        self._rest = None if known is None else np.array(known.rest).reshape(PADS, strips)
        self._far = None if known is None else FAR_SHARE * np.array(known.lost).reshape(PADS, strips)
        self._noise = profile.strikes.noise if profile is not None and profile.strikes is not None else None
        self._strips = strips
        self.forget()

    def forget(self) -> None:
        """The mat is in use: begin the look anew."""
        self._touch, self._piezo = Running((PADS, self._strips)), Running((PADS,))
        self._scans = 0

    def take(self, messages: Iterable[Message]) -> None:
        """Take what a mat at rest reads."""
        for message in messages:
            if isinstance(message, Touch):
                self._touch.add(message.counts.astype(np.float64))
                self._scans += 1
            elif isinstance(message, Piezo):
                self._piezo.add(message.samples.astype(np.float64))
        if self._scans >= SCANS:
            self.report = tuple(self._found())
            self.forget()

    def _found(self) -> Iterable[Drifted]:
        noise, rest = self._piezo.rms, self._touch.mean
        for pad in EVERY_PAD:
            then = None if self._noise is None else self._noise[pad - 1]
            now = float(noise[pad - 1])
            yield Drifted(pad, None, now, then, then is not None and now > LOUD * max(then, 1.0))
            for strip in range(self._strips):
                at = pad - 1, strip
                was = None if self._rest is None else float(self._rest[at])
                far = was is not None and self._far is not None and abs(rest[at] - was) > max(self._far[at], 1.0)
                yield Drifted(pad, strip, float(rest[at]), was, bool(far))

"""The detectors of a mat under calibration, with access to the raw readings behind their events."""

from collections import deque
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pi_controller.board.messages import BoardEvent, Field, Gap, LinkDown, LinkUp, Message, Piezo, Touch
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.beads import BeadTracker
from pi_controller.sensing.events import MatEvent
from pi_controller.sensing.hands import HandDetector
from pi_controller.sensing.strikes import StrikeDetector, StrikeSettings

Array = NDArray[np.float64]


KEEP_S = 0.5
"""How long the pads' peaks are kept."""
AVERAGED = 5
"""Magnetometer scans averaged, as many as the tracker needs to call the field at rest."""


class Detectors:
    """Runs the detectors and keeps raw readings for the steps. `strikes` are the strike detector's settings.

    `magnetometers` is how many the mat has (`PinMap.magnetometers_built`), `depth_mm` how deep they lie.
    """

    def __init__(
        self, strikes: StrikeSettings, magnetometers: int | None = None, depth_mm: float | None = None
    ) -> None:
        maps = pinmap()
        self.built: NDArray[np.bool_] = np.array(maps.magnetometers_built(magnetometers))
        """Whether each magnetometer is built, in wire order."""
        # one pad is tapped at a time, so the discs of the others rest although they are not dead
        self.settings = replace(strikes, suspect_db=0.0)
        self.hands = HandDetector(PADS, len(maps.touch.strips))
        self.beads = BeadTracker(most=2, magnetometers=magnetometers, depth_mm=depth_mm)
        self.strikes: StrikeDetector | None = None
        self.scans = deque[Field](maxlen=AVERAGED)
        self.counts: Array | None = None
        """The last scan of the touch strips (pads, strips), counts."""
        self.full_scale = 2048
        self.up: LinkUp | None = None
        """The link's last start; None before any."""
        self.events: list[BoardEvent] = []
        """The board's events."""
        self.strip_count = len(maps.touch.strips)
        self._peaks = deque[tuple[float, float, "Array"]]()
        self._middle = np.zeros(PADS)

    def feed(self, message: Message) -> list[MatEvent]:
        """Process one message; return the mat events it caused."""
        match message:
            case Piezo():
                return [*self._piezo(message)]
            case Touch():
                self.counts = message.counts.astype(np.float64)
                return [*self.hands.feed(message)]
            case Field():
                self.scans.append(message)
                return [*self.beads.feed(message)]
            case Gap() | LinkDown():
                if self.strikes is not None:
                    self.strikes.take_gap()
            case LinkUp():
                self.up = message
                self.hands.reset()
                self.beads.sense_again()
            case BoardEvent():
                self.events.append(message)
            case _:
                pass
        return []

    def find_events(self, kind: str) -> list[BoardEvent]:
        """Return the board's events of a kind since the link came up; none without a link."""
        return [event for event in self.events if event.kind == kind and self.up is not None and event.t >= self.up.t]

    def _piezo(self, piezo: Piezo) -> list[MatEvent]:
        if self.strikes is None:
            self.full_scale = piezo.full_scale
            self._middle = piezo.samples.mean(axis=0)
            self.strikes = StrikeDetector(piezo.rate, piezo.samples.shape[1], piezo.full_scale, self.settings)
        end = piezo.t + len(piezo.samples) / piezo.rate
        self._middle += min((end - piezo.t) / 2.0, 1.0) * (piezo.samples.mean(axis=0) - self._middle)
        self._peaks.append((piezo.t, end, np.abs(piezo.samples - self._middle).max(axis=0)))
        while self._peaks[0][1] < end - KEEP_S:
            self._peaks.popleft()
        return [*self.strikes.feed(piezo)]

    def peak_dbfs(self, pad: int, since: float) -> float:
        """Return the peak level of `pad` (1 first) since time `since`, dB full scale."""
        peak = max((float(peaks[pad - 1]) for _, end, peaks in self._peaks if end >= since), default=0.0)
        return 20.0 * float(np.log10(max(peak, 0.5) / self.full_scale))

    def field(self) -> tuple[Array, NDArray[np.bool_]]:
        """Return the mean (sensors, 3) of the last scans, microtesla, and a mask of the sensors valid in all."""
        ok = np.logical_and.reduce([scan.ok for scan in self.scans])
        return np.where(ok[:, None], np.mean([scan.ut for scan in self.scans], axis=0), 0.0), ok

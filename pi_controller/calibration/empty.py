"""Step 1, empty mat: noise of every sensor, the strips at rest, the magnetometers' baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.calibration.detectors import Running, magnetometer_name
from pi_controller.calibration.view import Bar, Finding
from pi_controller.link.messages import Field, Piezo, Touch
from pi_controller.mat.events import Beads, HandIn, Strike
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.calibration.detectors import Detectors
    from pi_controller.link.messages import Message
    from pi_controller.mat.events import MatEvent

CALM_S = 6.0
"""So long nobody touches the mat; it is longer than any detector takes to notice a dead sensor, but a stuck strip."""
DOUBT_S = 20.0
"""So long where a magnet may lie there: time to look, for then the mat is taken to be empty."""
GIVE_UP_S = 60.0
TRIES = 4
"""Strokes felt on an empty mat so many times over are no accident."""
NOISY_COUNTS = 40.0
"""Piezo noise, rms, over which soft strokes are lost: 34 dB under the rail."""
NOISY_TOUCH = 4.0
NOISY_UT = 3.0


class EmptyStep:
    """Measures the mat at rest. Starts over whenever somebody touches it."""

    name = "empty"
    title = "The empty mat"
    pad: int | None = None

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        self._detectors = detectors
        self.over = False
        self.note = ""
        self.found: list[str] = []
        self.wrong: list[Finding] = []
        self._began = t
        self._struck: list[int] = []
        self._magnet: int | None = None
        self._doubt = False
        self._again(t)

    def _again(self, t: float) -> None:
        maps = pinmap()
        self._calm, self._now = t, t
        self._asked = False
        self.piezo = Running((PADS,))
        self.touch = Running((PADS, len(maps.touch.strips)))
        self.field = Running((len(maps.magnetometer_positions()), 3))
        self._received = [0, 0, 0]  # messages of each kind

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Take one message that the senses have been fed."""
        for event in events:
            match event:
                case HandIn():
                    self._disturbed(t, f"A hand was felt at pad {event.pad}: keep hands away from the mat.")
                case Strike():
                    self._struck.append(event.pads[0])
                    self._disturbed(t, f"A stroke was felt on pad {event.pads[0]}: do not touch the mat.")
                case Beads():
                    self._read(t, event)
                case _:
                    pass
        match message:
            case Piezo():
                self.piezo.add(message.samples.astype(np.float64))
                self._received[0] += 1
            case Touch():
                self.touch.add(message.counts.astype(np.float64))
                self._received[1] += 1
            case Field():
                self.field.add(message.ut, message.ok[:, None])
                self._received[2] += 1
            case _:
                pass

    def tick(self, t: float) -> None:
        """Let time pass to `t`: end when it has been calm for long enough."""
        if self.over:
            return
        self._now = t
        if t - self._began > GIVE_UP_S or len(self._struck) >= TRIES:
            self._judge()
        elif t - self._calm >= (DOUBT_S if self._doubt else CALM_S) and self._magnet is None:
            if not self._asked:
                self._asked = True
                self._detectors.beads.known_empty()
            elif self._detectors.beads.baseline is not None or not self._received[2]:
                self._judge()

    def ask(self) -> str:
        """Return what the person is to do now."""
        return "Take the bead off the mat and keep hands, phones and keys away from it."

    def bars(self) -> tuple[Bar, ...]:
        """Return the live bars."""
        noise = self.piezo.rms
        long = DOUBT_S if self._doubt else CALM_S
        quiet = min(self._now - self._calm, long)
        bars = [Bar("still", quiet / long, f"{quiet:.0f} of {long:.0f} s", "now")]
        for pad, rms in enumerate(noise.tolist(), 1):
            state = "bad" if rms > NOISY_COUNTS else "good" if self.over else "now"
            bars.append(Bar(f"pad {pad}", min(rms / NOISY_COUNTS, 1.0), f"noise {rms:.1f} counts", state))
        touch, field = float(self.touch.rms.max()), float(self.field.rms.max())
        for label, rms, most, unit in (
            ("strips", touch, NOISY_TOUCH, "counts"),
            ("magnets", field, NOISY_UT, "\u00b5T"),
        ):
            state = "bad" if rms > most else "good" if self.over else "now"
            bars.append(Bar(label, min(rms / most, 1.0), f"noise {rms:.1f} {unit}", state))
        return tuple(bars)

    def _read(self, t: float, beads: Beads) -> None:
        """Look whether a magnet lies there. Before the empty mat is known that is often a doubt."""
        pad = (beads.found[0].pad or 0) if beads.found else None
        before = self._doubt or self._magnet is not None
        self._magnet = pad if beads.sure else None
        self._doubt = pad is not None and not beads.sure
        if pad is not None:
            where = f"on pad {pad}" if pad else "beside the pads"
            what = f"A magnet is read {where}" if beads.sure else f"A magnet may lie {where}"
            self._disturbed(t, f"{what}: take the bead, phones and keys away from the mat.")
        elif before:
            self._disturbed(t, "")  # what was measured until now was measured beside a magnet

    def _disturbed(self, t: float, note: str) -> None:
        self.note = note
        self._again(t)

    def _judge(self) -> None:
        """Say what is wrong, or what was found."""
        detectors = self._detectors
        self.over, self.note = True, ""
        self._judge_piezo()
        wrong_strips = {(fault.pad, fault.strip): fault.wrong for fault in detectors.hands.faults}
        for (pad, strip), noise in np.ndenumerate(self.touch.rms):
            why = wrong_strips.get((pad + 1, strip)) or ("noisy" if noise > NOISY_TOUCH else "")
            if why and self._received[1]:
                todo = "check its wire and its plug on the touch board"
                self.wrong.append(Finding(f"{detectors.strip_name(pad + 1, strip)} is {why}", todo))
        faults = detectors.beads.faults
        for number, noise in enumerate(self.field.rms.max(axis=1).tolist()):
            why = faults.get(number) or ("noisy" if noise > NOISY_UT else "")
            if why and self._received[2]:
                todo = "check its plug, and its channel on the multiplexer"
                self.wrong.append(Finding(f"{magnetometer_name(number)} is {_reason(why)}", todo))
        for count, what in zip(self._received, ("the pads", "the touch strips", "the magnetometers"), strict=True):
            if not count:
                self.wrong.append(Finding(f"nothing comes from {what}", "run 'moccasin-mat doctor'"))
        if self._magnet is not None:
            where = f"on pad {self._magnet}" if self._magnet else "beside the pads"
            self.wrong.append(Finding(f"a magnet is read {where} all the time", "look for iron or magnets near there"))
        elif self._now - self._calm < CALM_S and not self.wrong:
            self.wrong.append(Finding("the mat never came to rest", "keep hands away from it, then try again"))
        if not self.wrong:
            noise = ", ".join(f"{rms:.1f}" for rms in self.piezo.rms.tolist())
            self.found = [
                f"pads: noise {noise} counts",
                f"touch strips: noise up to {self.touch.rms.max():.1f} counts",
                f"magnetometers: noise up to {self.field.rms.max():.1f} \u00b5T; the empty mat is known",
            ]

    def _judge_piezo(self) -> None:
        detector = self._detectors.strikes
        faults = {} if detector is None else detector.faults
        for pad, noise in enumerate(self.piezo.rms.tolist(), 1):
            if why := faults.get(pad):
                todo = (
                    "check its cable and its bias resistors" if why == "at its rail" else "check its cable and its disc"
                )
                self.wrong.append(Finding(f"the piezo of pad {pad} is {_reason(why)}", todo))
            elif noise > NOISY_COUNTS:
                todo = "check its shield and its ground, and keep chargers away"
                self.wrong.append(Finding(f"the piezo of pad {pad} is noisy: {noise:.0f} counts", todo))
        if len(self._struck) >= TRIES:
            pads = ", ".join(str(pad) for pad in sorted(set(self._struck)))
            todo = "quieten the floor or the drums; else raise [strikes] threshold_db"
            self.wrong.append(Finding(f"strokes are felt where nobody strikes: pad {pads}", todo))


def _reason(why: str) -> str:
    return "at its rail" if why == "rail" else f"losing samples ({why})" if why == "samples are missing" else why

"""Step 1, empty mat: measures every sensor's noise, the strips at rest and the magnetometers' baseline."""

from collections.abc import Sequence

import numpy as np

from pi_controller.board.messages import Field, Message, Piezo, Touch
from pi_controller.calibration.detectors import (
    BUS_HINT,
    MULTIPLEXER_HINT,
    Detectors,
    RunningStats,
    find_silent_multiplexers,
    magnetometer_name,
)
from pi_controller.calibration.steps import Bar, Finding
from pi_controller.pads import PADS
from pi_controller.pinmap import pinmap
from pi_controller.sensing.events import BeadsAtRest, HandIn, MatEvent, Strike

CALM_S = 6.0
"""How long the mat must stay untouched: longer than detecting any dead sensor takes, except a stuck strip."""
DOUBT_S = 20.0
"""The same if a magnet may be on the mat: time to check, because the mat is then assumed to be empty."""
GIVE_UP_S = 60.0
TRIES = 4
"""Strokes detected on an empty mat that are no accident any more."""
NOISY_COUNTS = 40.0
"""Piezo noise, rms, above which soft strokes are lost: 34 dB below the rail."""
NOISY_TOUCH = 4.0
NOISY_UT = 3.0


class EmptyStep:
    """Measures the mat at rest. Restarts whenever the mat is touched.

    With `magnets_only` the discs and the strips may be missing: they are neither waited for nor judged.
    """

    name = "empty"
    title = "The empty mat"
    pad: int | None = None
    spot: int | None = None

    def __init__(self, *, magnets_only: bool = False) -> None:
        self._magnets_only = magnets_only

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
        self._restart_measurement(t)

    def _restart_measurement(self, t: float) -> None:
        maps = pinmap()
        self._calm, self._now = t, t
        self._asked = False
        self.piezo = RunningStats((PADS,))
        self.touch = RunningStats((PADS, len(maps.touch.strips)))
        self.field = RunningStats((len(maps.magnetometer_positions()), 3))
        self._received = [0, 0, 0]  # messages of each kind

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Process one message and the events that the detectors made of it."""
        for event in events:
            if self._magnets_only and not isinstance(event, BeadsAtRest):
                continue
            match event:
                case HandIn():
                    self._note_disturbance(t, f"A hand was felt at pad {event.pad}: keep hands away from the mat.")
                case Strike():
                    self._struck.append(event.pads[0])
                    self._note_disturbance(t, f"A hit was felt on pad {event.pads[0]}: do not touch the mat.")
                case BeadsAtRest():
                    self._read(t, event)
                case _:
                    pass
        match message:
            case Piezo():
                self.piezo.add(message.counts)
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
        """Advance to `t`: end the step once the mat has been calm for long enough."""
        if self.over:
            return
        self._now = t
        if t - self._began > GIVE_UP_S or len(self._struck) >= TRIES:
            self._judge()
        elif t - self._calm >= (DOUBT_S if self._doubt else CALM_S) and self._magnet is None:
            if not self._asked:
                self._asked = True
                self._detectors.beads.set_empty()
            elif self._detectors.beads.baseline is not None or not self._received[2]:
                self._judge()

    def ask(self) -> str:
        """Return the current instruction for the person at the mat."""
        return "Take the bead off the mat and keep hands, phones and keys away from it."

    def bars(self) -> tuple[Bar, ...]:
        """Return the live bars."""
        noise = self.piezo.rms
        long = DOUBT_S if self._doubt else CALM_S
        quiet = min(self._now - self._calm, long)
        bars = [Bar("still", quiet / long, f"{quiet:.0f} of {long:.0f} s", "now")]
        for pad, rms in enumerate([] if self._magnets_only else noise.tolist(), 1):
            state = "bad" if rms > NOISY_COUNTS else "good" if self.over else "now"
            bars.append(Bar(f"pad {pad}", min(rms / NOISY_COUNTS, 1.0), f"noise {rms:.1f} counts", state))
        rows = [("strips", self.touch, NOISY_TOUCH, "counts"), ("magnets", self.field, NOISY_UT, "\u00b5T")]
        rows = rows[self._magnets_only :] if self._detectors.built.any() else rows[:1]
        for label, readings, most, unit in rows:
            rms = float(readings.rms.max())
            state = "bad" if rms > most else "good" if self.over else "now"
            bars.append(Bar(label, min(rms / most, 1.0), f"noise {rms:.1f} {unit}", state))
        return tuple(bars)

    def _read(self, t: float, beads: BeadsAtRest) -> None:
        """Check the beads for a magnet on the mat; without a baseline the reading is often unsure."""
        pad = (beads.found[0].pad or 0) if beads.found else None
        before = self._doubt or self._magnet is not None
        self._magnet = pad if beads.sure else None
        self._doubt = pad is not None and not beads.sure
        if pad is not None:
            where = f"on pad {pad}" if pad else "beside the pads"
            what = f"A magnet is read {where}" if beads.sure else f"There may be a magnet {where}"
            self._note_disturbance(t, f"{what}: take the bead, phones and keys away from the mat.")
        elif before:
            self._note_disturbance(t, "")  # the measurements so far include the magnet

    def _note_disturbance(self, t: float, note: str) -> None:
        self.note = note
        self._restart_measurement(t)

    def _judge(self) -> None:
        """End the step with its faults or its results."""
        detectors = self._detectors
        self.over, self.note = True, ""
        if not self._magnets_only:
            self._judge_piezo()
        silent = [number for number, why in detectors.beads.faults.items() if why == "silent"]
        groups = find_silent_multiplexers(silent, detectors.built)
        is_all_silent = bool(groups) and len(silent) == int(detectors.built.sum())
        if is_all_silent and not self._received[1]:
            what = "nothing on the I2C bus answers: neither the touch chip nor a magnetometer"
            self.wrong.append(Finding(what, BUS_HINT))
        elif is_all_silent:
            self.wrong.append(Finding("no magnetometer answers, on any multiplexer", MULTIPLEXER_HINT))
        else:
            for address, parts in groups.items():
                what = f"none of the {len(parts)} magnetometers behind multiplexer {address:#04x} answers"
                self.wrong.append(Finding(what, MULTIPLEXER_HINT))
        named = {number for parts in groups.values() for number in parts}
        wrong_strips = {(fault.pad, fault.strip): fault.wrong for fault in detectors.hands.faults}
        for (pad, strip), noise in np.ndenumerate(self.touch.rms):
            why = wrong_strips.get((pad + 1, strip)) or ("noisy" if noise > NOISY_TOUCH else "")
            if why and self._received[1] and not self._magnets_only:
                hint = "check its wire and its plug on the touch board"
                self.wrong.append(Finding(f"{detectors.strip_name(pad + 1, strip)} is {why}", hint))
        faults = detectors.beads.faults
        for number, noise in enumerate(self.field.rms.max(axis=1).tolist()):
            why = faults.get(number) or ("noisy" if noise > NOISY_UT else "")
            if why and self._received[2] and number not in named:
                hint = "check its plug, and its channel on the multiplexer"
                self.wrong.append(Finding(f"{magnetometer_name(number)} is {_reason(why)}", hint))
        has_magnetometers = bool(detectors.built.any())
        due = (not self._magnets_only, not self._magnets_only, has_magnetometers)
        parts = ("the pads", "the touch strips", "the magnetometers")
        for count, is_due, what in zip(self._received, due, parts, strict=True):
            if is_due and not count and not (is_all_silent and what == "the touch strips"):
                self.wrong.append(Finding(f"no data from {what}", "run 'moccasin-mat doctor'"))
        if self._magnet is not None:
            where = f"on pad {self._magnet}" if self._magnet else "beside the pads"
            self.wrong.append(Finding(f"a magnet is read {where} all the time", "look for iron or magnets near there"))
        elif self._now - self._calm < CALM_S and not self.wrong:
            self.wrong.append(Finding("the mat never came to rest", "keep hands away from it, then try again"))
        if not self.wrong:
            if not self._magnets_only:
                noise = ", ".join(f"{rms:.1f}" for rms in self.piezo.rms.tolist())
                self.found = [
                    f"pads: noise {noise} counts",
                    f"touch strips: noise up to {self.touch.rms.max():.1f} counts",
                ]
            if has_magnetometers:
                field = self.field.rms.max()
                self.found.append(f"magnetometers: noise up to {field:.1f} \u00b5T; the empty mat is known")

    def _judge_piezo(self) -> None:
        detector = self._detectors.strikes
        faults = {} if detector is None else detector.faults
        for pad, noise in enumerate(self.piezo.rms.tolist(), 1):
            if why := faults.get(pad):
                hint = (
                    "check its cable and its bias resistors" if why == "at its rail" else "check its cable and its disc"
                )
                self.wrong.append(Finding(f"the piezo of pad {pad} is {_reason(why)}", hint))
            elif noise > NOISY_COUNTS:
                hint = "check its shield and its ground, and keep chargers away"
                self.wrong.append(Finding(f"the piezo of pad {pad} is noisy: {noise:.0f} counts", hint))
        if len(self._struck) >= TRIES:
            pads = ", ".join(str(pad) for pad in sorted(set(self._struck)))
            hint = "reduce vibrations from the floor or drums, or raise [strikes] threshold_db"
            self.wrong.append(Finding(f"strikes detected without a hit: pad {pads}", hint))


def _reason(why: str) -> str:
    return "at its rail" if why == "rail" else f"losing samples ({why})" if why == "samples are missing" else why

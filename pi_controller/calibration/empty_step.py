"""Step 1, empty mat: measures every sensor's noise, the strips at rest and the magnetometers' baseline."""

from collections.abc import Sequence

from pi_controller.board.messages import Message
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.mat_diagnosis import PARTS, Readings, diagnose_mat
from pi_controller.calibration.steps import Bar, describe_place, make_fault
from pi_controller.host.findings import Finding, find_failures
from pi_controller.sensing.events import BeadsAtRest, HandIn, MatEvent, Strike
from pi_controller.sensing.magnetometer_diagnosis import NOISY_MAGNETOMETER_UT
from pi_controller.sensing.piezo_diagnosis import NOISY_COUNTS, Sensor
from pi_controller.sensing.strip_diagnosis import NOISY_STRIP_COUNTS
from pi_controller.text import Sentence, join_words

CALM_S = 6.0
"""How long the mat must stay untouched: longer than detecting any dead sensor takes."""
DOUBT_S = 20.0
"""The same if a magnet may be on the mat: time to check, because the mat is then assumed to be empty."""
GIVE_UP_S = 60.0
TRIES = 4
"""Strokes detected on an empty mat that are no accident any more."""


class EmptyStep:
    """Measures the mat at rest. Restarts whenever the mat is touched.

    With `magnets_only` the discs and the strips may be missing: they are neither waited for nor judged.
    """

    name = "empty"
    title = Sentence("The empty mat")
    pad: int | None = None
    spot: int | None = None

    def __init__(self, sensor: Sensor = "piezo", *, magnets_only: bool = False) -> None:
        self._sensor: Sensor = sensor
        self._magnets_only = magnets_only
        self.readings = Readings()

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
        self._calm, self._now = t, t
        self._asked = False
        self.readings.forget()

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Process one message and the events that the detectors made of it."""
        for event in events:
            if self._magnets_only and not isinstance(event, BeadsAtRest):
                continue
            match event:
                case HandIn():
                    words = Sentence("A hand was felt at pad {pad}: keep hands away from the mat.")
                    self._note_disturbance(t, Sentence(words, pad=event.pad))
                case Strike():
                    self._struck.append(event.pads[0])
                    words = Sentence("A hit was felt on pad {pad}: do not touch the mat.")
                    self._note_disturbance(t, Sentence(words, pad=event.pads[0]))
                case BeadsAtRest():
                    self._read(t, event)
                case _:
                    pass
        self.readings.add(message)

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
            elif self._detectors.beads.baseline is not None or not self.readings.field_scans:
                self._judge()

    def ask(self) -> str:
        """Return the current instruction for the person at the mat."""
        return Sentence("Take the bead off the mat and keep hands, phones and keys away from it.")

    def bars(self) -> tuple[Bar, ...]:
        """Return the live bars."""
        long = DOUBT_S if self._doubt else CALM_S
        quiet = min(self._now - self._calm, long)
        bars = [
            Bar(Sentence("still"), quiet / long, Sentence("{n} of {all} s", n=f"{quiet:.0f}", all=f"{long:.0f}"), "now")
        ]
        for pad, rms in enumerate([] if self._magnets_only else self.readings.piezo.rms.tolist(), 1):
            state = "bad" if rms > NOISY_COUNTS else "good" if self.over else "now"
            noise = Sentence("noise {n} counts", n=f"{rms:.1f}")
            bars.append(Bar(Sentence("pad {pad}", pad=pad), min(rms / NOISY_COUNTS, 1.0), noise, state))
        rows = [
            (Sentence("strips"), self.readings.touch, NOISY_STRIP_COUNTS, Sentence("noise {n} counts")),
            (Sentence("magnets"), self.readings.field, NOISY_MAGNETOMETER_UT, Sentence("noise {n} \u00b5T")),
        ]
        rows = rows[self._magnets_only :] if self._detectors.built.any() else rows[:1]
        for label, readings, most, text in rows:
            rms = float(readings.rms.max())
            state = "bad" if rms > most else "good" if self.over else "now"
            bars.append(Bar(label, min(rms / most, 1.0), Sentence(text, n=f"{rms:.1f}"), state))
        return tuple(bars)

    def _read(self, t: float, beads: BeadsAtRest) -> None:
        """Check the beads for a magnet on the mat; without a baseline the reading is often unsure."""
        pad = (beads.found[0].pad or 0) if beads.found else None
        before = self._doubt or self._magnet is not None
        self._magnet = pad if beads.sure else None
        self._doubt = pad is not None and not beads.sure
        if pad is not None:
            words = (
                Sentence("There is a magnet {where}: take the bead, phones and keys away from the mat.")
                if beads.sure
                else Sentence("There may be a magnet {where}: take the bead, phones and keys away from the mat.")
            )
            self._note_disturbance(t, Sentence(words, where=describe_place(pad)))
        elif before:
            self._note_disturbance(t, "")  # the measurements so far include the magnet

    def _note_disturbance(self, t: float, note: str) -> None:
        self.note = note
        self._restart_measurement(t)

    def _judge(self) -> None:
        """End the step with its faults or its results."""
        self.over, self.note = True, ""
        parts = PARTS[2:] if self._magnets_only else PARTS
        self.wrong += find_failures(diagnose_mat(self._detectors, self.readings, self._sensor, parts))
        if len(self._struck) >= TRIES:
            self.wrong.append(
                make_fault(
                    "strikes detected without a hit: pad {pads}",
                    "reduce vibrations from the floor or drums, or raise [strikes] threshold_db",
                    pads=join_words(str(pad) for pad in sorted(set(self._struck))),
                )
            )
        if self._magnet is not None:
            self.wrong.append(
                make_fault(
                    "there is always a magnet {where}",
                    "look for iron or magnets near there",
                    where=describe_place(self._magnet),
                )
            )
        elif self._now - self._calm < CALM_S and not self.wrong:
            self.wrong.append(make_fault("the mat was never still", "keep hands away from it, then try again"))
        if not self.wrong:
            self.found = [*self._describe_noise()]

    def _describe_noise(self) -> Sequence[str]:
        readings, lines = self.readings, list[Sentence]()
        if not self._magnets_only:
            noise = join_words(f"{rms:.1f}" for rms in readings.piezo.rms.tolist())
            lines = [
                Sentence("pads: noise {noise} counts", noise=noise),
                Sentence("touch strips: noise up to {noise} counts", noise=f"{readings.touch.rms.max():.1f}"),
            ]
        if self._detectors.built.any():
            words = Sentence("magnetometers: noise up to {noise} \u00b5T; the empty mat is known")
            lines.append(Sentence(words, noise=f"{readings.field.rms.max():.1f}"))
        return lines

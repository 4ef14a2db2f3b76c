"""Runs the calibration steps in order: empty mat, taps, hands, bead. Turns messages and time into a view.

It advances by itself when a step is complete, so the person at the mat needs no keyboard; a step can also be skipped or
repeated. The caller provides the clock and the board.
"""

from collections.abc import Collection, Iterable

import numpy as np

from pi_controller.board.messages import LinkDown, LinkUp, Message
from pi_controller.calibration.bead_step import BeadStep
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.empty_step import EmptyStep
from pi_controller.calibration.profile import (
    MagnetProfile,
    Profile,
    StrikeProfile,
    TouchProfile,
)
from pi_controller.calibration.slide_step import SlideStep
from pi_controller.calibration.steps import StepView, WalkView
from pi_controller.calibration.tap_step import TapStep
from pi_controller.pads import PADS
from pi_controller.sensing.piezo_diagnosis import Sensor
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.text import Sentence

NO_BOARD = Sentence("Waiting for the board.")
STEPS = (EmptyStep.name, TapStep.name, SlideStep.name, BeadStep.name)
"""Names of the steps, in order."""


class Walk:
    """One calibration. `strikes` are the strike detector's settings for `sensor` pads, the threshold's starting
    point.

    `magnetometers` is how many the mat has (`PinMap.magnetometers_built`); without any, no bead is asked for. They lie
    `depth_mm` below its surface. Steps whose names are in `skipped` are left out from the start. The bead's position is
    no secret here, because no game is played.
    """

    def __init__(
        self,
        strikes: StrikeSettings,
        sensor: Sensor = "piezo",
        magnetometers: int | None = None,
        skipped: Collection[str] = (),
        depth_mm: float | None = None,
    ) -> None:
        self._magnetometers, self._depth_mm = magnetometers, depth_mm
        self._detectors = Detectors(strikes, magnetometers, depth_mm)
        self._sensor = sensor
        self.empty = EmptyStep(sensor, magnets_only={TapStep.name, SlideStep.name} <= {*skipped})
        self.taps, self.slides, self.beads = TapStep(), SlideStep(), BeadStep(PADS)
        self._steps: tuple[EmptyStep | TapStep | SlideStep | BeadStep, ...] = (self.empty, self.taps, self.slides)
        if magnetometers != 0:
            self._steps += (self.beads,)
        self._skipped = {at for at, step in enumerate(self._steps) if step.name in skipped}
        self._left_out = set(self._skipped)
        self._at = 0
        self._t = 0.0
        self._up: LinkUp | None = None
        self._why = ""
        self.board_id = ""
        self.saved = ""
        """Path of the saved profile, for the view."""
        for step in self._steps:
            step.begin(self._detectors, 0.0)

    @property
    def over(self) -> bool:
        """True if all steps are done."""
        return self._at == len(self._steps)

    @property
    def passed(self) -> bool:
        """True if all steps are done without a fault, and not all were skipped."""
        return self.over and not any(step.wrong for step in self._steps) and len(self._left_out) < len(self._steps)

    def step(self, t: float, messages: Iterable[Message]) -> WalkView:
        """Process the messages received by `t`, advance to `t`, and return the view."""
        self._t = t
        for message in messages:
            if isinstance(message, LinkDown):
                self._up, self._why = None, message.why
            elif isinstance(message, LinkUp):
                self._take_link_up(message)
            events = self._detectors.feed(message)
            if not self.over and self._up is not None:
                self._steps[self._at].take(t, message, events)
        if not self.over and self._up is not None:
            self._steps[self._at].tick(t)
            if self._steps[self._at].over:
                self._next()
        return self.view

    def skip_step(self) -> None:
        """Skip the current step; the profile then lacks its results. Without effect when all are done."""
        if not self.over:
            step = self._steps[self._at]
            step.begin(self._detectors, self._t)
            self._left_out.add(self._at)
            self._next()

    def repeat_step(self) -> None:
        """Restart the current step; at the end, the first one that failed."""
        if self.over:
            failed = [at for at, step in enumerate(self._steps) if step.wrong]
            if not failed:
                return
            self._at = failed[0]
        self._begin()

    @property
    def view(self) -> WalkView:
        """The current view."""
        steps = tuple(self._step_view(at) for at in range(len(self._steps)))
        if self.over:
            ask = Sentence("A check failed: the profile was not saved.")
            if self.passed and self._left_out:
                ask = Sentence("The mat is calibrated, except for the skipped steps.")
            elif self.passed:
                ask = Sentence("The mat is calibrated.")
            return WalkView(steps, self._at, ask, over=True, passed=self.passed, saved=self.saved)
        step = self._steps[self._at]
        if self._up is None:
            return WalkView(steps, self._at, NO_BOARD, self._why, pad=step.pad, spot=step.spot)
        return WalkView(steps, self._at, step.ask(), step.note, step.bars(), step.pad, step.spot)

    def profile(self, name: str, made: str, program: str) -> Profile:
        """Return the results as profile `name`; skipped steps are None."""
        done = [at not in self._left_out for at in range(len(self._steps))]
        strokes = strips = magnets = None
        if done[1]:
            strokes = StrikeProfile(
                threshold_db=self.taps.threshold_db,
                sensor=self._sensor,
                noise=_round_values(self.empty.readings.piezo.rms),
                level_dbfs=tuple(self.taps.level_dbfs),
                margin_db=tuple(self.taps.margin_db),
            )
        if done[2]:
            wanted = self.slides.settings()
            strips = TouchProfile(
                touch=wanted.touch,
                clear=wanted.clear,
                brushed=wanted.brushed,
                rest=_round_values(self.empty.readings.touch.mean),
                noise=_round_values(self.empty.readings.touch.rms),
                lost=_round_values(self.slides.lost),
            )
        base = self._detectors.beads.baseline
        if done[0] and base is not None:
            steel = self.beads.steel
            magnets = MagnetProfile(
                offsets=tuple((float(x), float(y), float(z)) for x, y, z in np.round(base.offsets, 3)),
                known=tuple(bool(known) for known in base.known),
                scans=float(base.scans),
                scatter=float(base.scatter),
                level=(float(base.level[0]), float(base.level[1]), float(base.level[2])),
                noise_ut=round(float(self.empty.readings.field.rms.max()), 3),
                moment_am2=tuple(round(moment, 4) for moment in self.beads.moments),
                steel=None if steel is None else (round(steel.depth_mm, 1), round(steel.strength, 3)),
            )
        return Profile(name, made, program, self.board_id, strokes, strips, magnets)

    def _take_link_up(self, up: LinkUp) -> None:
        if self.board_id and up.board_id != self.board_id:
            # another board: discard all measurements
            self._detectors = Detectors(self._detectors.settings, self._magnetometers, self._depth_mm)
            self._at, self._left_out = 0, set(self._skipped)
            for step in self._steps:
                step.begin(self._detectors, self._t)
        self._up, self._why, self.board_id = up, "", up.board_id
        if not self.over:
            self._begin()

    def _begin(self) -> None:
        step = self._steps[self._at]
        step.begin(self._detectors, self._t)
        if step is self.slides and self.empty.found:
            self.slides.set_rest(self.empty.readings.touch.mean, self.empty.readings.touch.rms)

    def _next(self) -> None:
        """Go to the first unfinished step."""
        todo = [at for at, step in enumerate(self._steps) if not step.over and at not in self._left_out]
        self._at = todo[0] if todo else len(self._steps)
        if todo:
            self._begin()

    def _step_view(self, at: int) -> StepView:
        step = self._steps[at]
        if at in self._left_out:
            return StepView(step.name, step.title, "left_out")
        if step.over:
            return StepView(
                step.name, step.title, "failed" if step.wrong else "passed", tuple(step.found), tuple(step.wrong)
            )
        return StepView(step.name, step.title, "now" if at == self._at else "to_come")


def _round_values(values: np.ndarray) -> tuple[float, ...]:
    return tuple(round(float(value), 2) for value in values.ravel())

"""Sequences the calibration steps: empty mat, taps, hands, bead. Messages and time in, a view out.

It goes on by itself when a step has what it needs, so that whoever kneels at the mat needs no keyboard; it may be told
to leave a step out or to do it again. The clock and the board are elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pi_controller.calibration.beads import BeadStep
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.empty import EmptyStep
from pi_controller.calibration.profile import Magnets, Profile, Strips, Strokes
from pi_controller.calibration.slides import SlideStep
from pi_controller.calibration.taps import TapStep
from pi_controller.calibration.view import StepView, WalkView
from pi_controller.link.messages import LinkDown, LinkUp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.calibration.step import Step
    from pi_controller.link.messages import Message
    from pi_controller.mat.strikes import StrikeSettings

NO_BOARD = "Waiting for the board."


class Walk:
    """One calibration. `strikes` are the strike detector's settings of `sensor` pads, which the threshold starts from.

    The bead's place is no secret here: nobody plays.
    """

    def __init__(self, strikes: StrikeSettings, sensor: str = "piezo") -> None:
        self._detectors = Detectors(strikes)
        self._sensor = sensor
        self.empty, self.taps, self.slides, self.beads = EmptyStep(), TapStep(), SlideStep(), BeadStep()
        self._steps: tuple[Step, ...] = (self.empty, self.taps, self.slides, self.beads)
        self._left_out: set[int] = set()
        self._at = 0
        self._t = 0.0
        self._up: LinkUp | None = None
        self._why = ""
        self.board_id = ""
        self.saved = ""
        """Where the profile was kept, for the view."""
        for step in self._steps:
            step.begin(self._detectors, 0.0)

    @property
    def over(self) -> bool:
        """Whether all steps are done."""
        return self._at == len(self._steps)

    @property
    def passed(self) -> bool:
        """Whether no step found anything wrong, and not all of them were left out."""
        return self.over and not any(step.wrong for step in self._steps) and len(self._left_out) < len(self._steps)

    def step(self, t: float, messages: Iterable[Message]) -> WalkView:
        """Take the messages that came by `t`, let time pass to `t`; return what to show."""
        self._t = t
        for message in messages:
            if isinstance(message, LinkDown):
                self._up, self._why = None, message.why
            elif isinstance(message, LinkUp):
                self._linked(message)
            events = self._detectors.feed(message)
            if not self.over and self._up is not None:
                self._steps[self._at].take(t, message, events)
        if not self.over and self._up is not None:
            self._steps[self._at].tick(t)
            if self._steps[self._at].over:
                self._next()
        return self.view

    def leave_out(self) -> None:
        """Go on without the step it is at; the profile then has nothing of it. No effect when all are done."""
        if not self.over:
            step = self._steps[self._at]
            step.begin(self._detectors, self._t)
            self._left_out.add(self._at)
            self._next()

    def again(self) -> None:
        """Do the step it is at once more from its beginning; at the end, the first one that failed."""
        if self.over:
            failed = [at for at, step in enumerate(self._steps) if step.wrong]
            if not failed:
                return
            self._at = failed[0]
        self._begin()

    @property
    def view(self) -> WalkView:
        """What to show."""
        steps = tuple(self._step_view(at) for at in range(len(self._steps)))
        if self.over:
            ask = "Something is not right: nothing was saved."
            if self.passed:
                ask = (
                    "The mat is calibrated, but for what was left out." if self._left_out else "The mat is calibrated."
                )
            return WalkView(steps, self._at, ask, over=True, passed=self.passed, saved=self.saved)
        step = self._steps[self._at]
        if self._up is None:
            return WalkView(steps, self._at, NO_BOARD, self._why, pad=step.pad)
        return WalkView(steps, self._at, step.ask(), step.note, step.bars(), step.pad)

    def profile(self, name: str, made: str, program: str) -> Profile:
        """Return what was found, as profile `name`; steps that were left out are None in it."""
        done = [at not in self._left_out for at in range(len(self._steps))]
        strokes = strips = magnets = None
        if done[1]:
            strokes = Strokes(
                threshold_db=self.taps.threshold_db,
                sensor=self._sensor,
                noise=_rounded(self.empty.piezo.rms),
                level_dbfs=tuple(self.taps.level_dbfs),
                margin_db=tuple(self.taps.margin_db),
            )
        if done[2]:
            wanted = self.slides.settings()
            strips = Strips(
                touch=wanted.touch,
                clear=wanted.clear,
                brushed=wanted.brushed,
                rest=_rounded(self.empty.touch.mean),
                noise=_rounded(self.empty.touch.rms),
                lost=_rounded(self.slides.lost),
            )
        base = self._detectors.beads.baseline
        if done[0] and base is not None:
            magnets = Magnets(
                offsets=tuple((float(x), float(y), float(z)) for x, y, z in np.round(base.offsets, 3)),
                known=tuple(bool(known) for known in base.known),
                scans=float(base.scans),
                scatter=float(base.scatter),
                level=(float(base.level[0]), float(base.level[1]), float(base.level[2])),
                noise_ut=round(float(self.empty.field.rms.max()), 3),
                moment_am2=tuple(round(moment, 4) for moment in self.beads.moments),
            )
        return Profile(name, made, program, self.board_id, strokes, strips, magnets)

    def _linked(self, up: LinkUp) -> None:
        if self.board_id and up.board_id != self.board_id:
            self._detectors = Detectors(self._detectors.settings)  # another board: nothing that was measured holds
            self._at, self._left_out = 0, set()
            for step in self._steps:
                step.begin(self._detectors, self._t)
        self._up, self._why, self.board_id = up, "", up.board_id
        if not self.over:
            self._begin()

    def _begin(self) -> None:
        """Begin the step it is at."""
        step = self._steps[self._at]
        step.begin(self._detectors, self._t)
        if step is self.slides and self.empty.found:
            self.slides.resting(self.empty.touch.mean, self.empty.touch.rms)

    def _next(self) -> None:
        """Go to the first step that is not done yet."""
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


def _rounded(values: np.ndarray) -> tuple[float, ...]:
    return tuple(round(float(value), 2) for value in values.ravel())

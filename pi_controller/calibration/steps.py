"""Base class of a calibration step that goes from pad to pad, and the view of a walk for the terminal and the page."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from pi_controller.host.findings import Finding, Group
from pi_controller.sensing.faults import find_swapped_pads
from pi_controller.text import Sentence

BarState = Literal["wait", "now", "good", "bad"]
StepState = Literal["to_come", "now", "passed", "failed", "left_out"]


class Bar(msgspec.Struct, frozen=True):
    """One live bar: `share` (0 to 1) of it is filled; `text` has the value in numbers.

    All texts of a walk are sentences, which a page translates.
    """

    label: str
    share: float
    text: str
    state: BarState = "wait"


class StepView(msgspec.Struct, frozen=True):
    """One step of the walk: its results (`found`), or its faults (`wrong`)."""

    name: str
    title: str
    state: StepState
    found: tuple[str, ...] = ()
    wrong: tuple[Finding, ...] = ()


class WalkView(msgspec.Struct, frozen=True):
    """The whole walk: `at` is the current step (0 first), `ask` the instruction, `note` the current problem.

    `pad` is the current pad, if the step has one; `spot` is the place on it (0 first), if the step has several.
    """

    steps: tuple[StepView, ...]
    at: int
    ask: str
    note: str = ""
    bars: tuple[Bar, ...] = ()
    pad: int | None = None
    spot: int | None = None
    over: bool = False
    passed: bool = False
    saved: str = ""


PATIENCE_S = 45.0
"""A pad without input for this long is given up."""


def make_fault(message: str, hint: str, /, **values: object) -> Finding:
    """Return the finding that the walk fails for what `message` says, a sentence; `hint` is the remedy."""
    return Group("Calibration").fails("", message, hint, **values)


def describe_place(pad: int | None) -> Sentence:
    """Return where a bead is read: on the `pad`, or beside all (0 or None)."""
    return Sentence("on pad {pad}", pad=pad) if pad else Sentence("beside the pads")


class PadByPad:
    """A step that goes from pad to pad and gives up on one after a timeout."""

    spot: int | None = None

    def __init__(self, pads: int) -> None:
        self.pads = pads
        self.restart(0.0)

    def restart(self, t: float) -> None:
        """Start over at `t`."""
        self.over = False
        self.note = ""
        self.pad: int | None = 1
        self.found: list[str] = []
        self.wrong: list[Finding] = []
        self.states: list[BarState] = ["wait"] * self.pads
        self.states[0] = "now"
        self.moved = t
        """Time of the last input."""

    def fail(self, what: str, hint: str, /, **values: object) -> None:
        """Report a fault of the current pad, which is also the value `pad`."""
        assert self.pad is not None
        self.wrong.append(make_fault(what, hint, pad=self.pad, **values))
        self.states[self.pad - 1] = "bad"

    def report_other_pads(self, felt_on: Mapping[int, int], swapped: Finding, missing: Finding) -> None:
        """Report the pads that were felt on another one (`felt_on`): as `swapped` in a circle, else as `missing`.

        {pad} and {other} in the findings become the two pads.
        """
        groups = find_swapped_pads(felt_on)
        for group in groups:
            what = Sentence.concat(", ", (Sentence(swapped.message, pad=pad, other=felt_on[pad]) for pad in group))
            self.wrong.append(make_fault(what, swapped.hint))
        for pad, other in felt_on.items():
            if other != pad and not any(pad in group for group in groups):
                self.wrong.append(make_fault(missing.message, missing.hint, pad=pad, other=other))

    def next_pad(self, t: float) -> None:
        """Continue with the next pad, or finish."""
        assert self.pad is not None
        if self.states[self.pad - 1] == "now":
            self.states[self.pad - 1] = "good"
        self.note, self.moved = "", t
        if self.pad == self.pads:
            self.over, self.pad = True, None
        else:
            self.pad += 1
            self.states[self.pad - 1] = "now"

    def is_timed_out(self, t: float) -> bool:
        """Return True if the current pad's timeout has expired."""
        return not self.over and t - self.moved > PATIENCE_S

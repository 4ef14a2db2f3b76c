"""Base classes of a calibration step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pi_controller.calibration.view import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.calibration.detectors import Detectors
    from pi_controller.calibration.view import Bar, BarState
    from pi_controller.link.messages import Message
    from pi_controller.mat.events import MatEvent

PATIENCE_S = 45.0
"""A pad on which nothing comes for so long is given up: nothing is felt there."""


class Step(Protocol):
    """A step takes messages with the events they gave until it is `over`; then `found` and `wrong` tell how it went.

    `name` and `title` say which it is, `note` what hinders now, `pad` which pad it is about.
    """

    name: str
    title: str
    over: bool
    note: str
    pad: int | None
    found: list[str]
    wrong: list[Finding]

    def begin(self, detectors: Detectors, t: float) -> None:
        """Start, or start over."""
        ...

    def take(self, t: float, message: Message, events: Sequence[MatEvent]) -> None:
        """Take one message that the senses have been fed."""
        ...

    def tick(self, t: float) -> None:
        """Let time pass to `t`."""
        ...

    def ask(self) -> str:
        """Return what the person is to do now."""
        ...

    def bars(self) -> tuple[Bar, ...]:
        """Return the live bars."""
        ...


class PadByPad:
    """A step that goes from pad to pad and gives up on one after a timeout."""

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
        """When something last came."""

    def fail(self, what: str, todo: str) -> None:
        """Report what is wrong with the current pad."""
        assert self.pad is not None
        self.wrong.append(Finding(what, todo))
        self.states[self.pad - 1] = "bad"

    def next_pad(self, t: float) -> None:
        """Go on to the next pad, or end."""
        assert self.pad is not None
        if self.states[self.pad - 1] == "now":
            self.states[self.pad - 1] = "good"
        self.note, self.moved = "", t
        if self.pad == self.pads:
            self.over, self.pad = True, None
        else:
            self.pad += 1
            self.states[self.pad - 1] = "now"

    def waited(self, t: float) -> bool:
        """Return whether the timeout of the current pad is over."""
        return not self.over and t - self.moved > PATIENCE_S

"""View model of a calibration: the same for the terminal and for the page."""

from __future__ import annotations

from typing import Literal

import msgspec

BarState = Literal["wait", "now", "good", "bad"]
StepState = Literal["to_come", "now", "passed", "failed", "left_out"]


class Bar(msgspec.Struct, frozen=True):
    """One live bar: `share` of it (0 to 1) is filled; `text` says in numbers what it shows."""

    label: str
    share: float
    text: str
    state: BarState = "wait"


class Finding(msgspec.Struct, frozen=True):
    """What is wrong, in one line, and what to do, in one line."""

    what: str
    todo: str


class StepView(msgspec.Struct, frozen=True):
    """One step of the walk: what was `found`, or what is wrong."""

    name: str
    title: str
    state: StepState
    found: tuple[str, ...] = ()
    wrong: tuple[Finding, ...] = ()


class WalkView(msgspec.Struct, frozen=True):
    """The whole walk. `at` is the step it is at (0 first), `ask` what the person is to do, `note` what hinders.

    `pad` is the pad it is about, where it is about one.
    """

    steps: tuple[StepView, ...]
    at: int
    ask: str
    note: str = ""
    bars: tuple[Bar, ...] = ()
    pad: int | None = None
    over: bool = False
    passed: bool = False
    saved: str = ""

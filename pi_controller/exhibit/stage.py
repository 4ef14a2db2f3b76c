"""The stages of an installation, as a pure function of touches and time.

No stage waits for an absent visitor. In every stage but attract, rest and notice, a visitor who does nothing is
asked "still there?", and then the installation returns to attract; an open choice ends in the same way. No session
is longer than its limit, however busy it is. All times are seconds of one clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    pass


StageName = Literal["attract", "choose", "about", "play", "result", "rest", "notice"]
IDLE: tuple[StageName, ...] = ("attract", "rest", "notice")
"""Stages without a visitor's session."""


class Times(NamedTuple):
    """Timeouts of an installation, seconds; see `[exhibit]` in the settings."""

    answer_s: float = 30.0
    ask_after_s: float = 40.0
    leave_after_s: float = 20.0
    longest_s: float = 900.0


class VisitPace(NamedTuple):
    """Durations of the mat's own actions, seconds: slow enough to follow."""

    toss_s: float = 2.5
    hand_s: float = 0.55
    think_s: float = 1.6
    aim_s: float = 1.6
    shown_s: float = 4.5
    step_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Stage:
    """The current stage, entered at `since`; `touched` is the time of the visitor's last action.

    `began` is when this visitor's session began, `asked` the time of the question "still there?", or if `leaving` is
    True, of the question whether the game should end.
    """

    name: StageName = "attract"
    since: float = 0.0
    touched: float = 0.0
    began: float = 0.0
    asked: float | None = None
    leaving: bool = False

    def enter(self, name: StageName, t: float) -> Stage:
        """Return the stage `name`, entered at `t`; entering from an idle stage begins a session."""
        began = t if self.name in IDLE else self.began
        return Stage(name, t, t, began)

    def record_use(self, t: float) -> Stage:
        """Return this stage after an action of a visitor at `t`, which also answers "still there?"."""
        return replace(self, touched=max(self.touched, t), asked=None, leaving=False)

    def deadline(self, times: Times) -> float | None:
        """Return when this stage ends without a visitor's action; None for an idle stage."""
        if self.name in IDLE:
            return None
        if self.asked is not None:
            return self.asked + times.leave_after_s
        if self.name in ("choose", "about", "result"):
            return self.touched + times.answer_s
        return self.touched + times.ask_after_s

    def advance(self, t: float, times: Times, *, idle: StageName = "attract", over: bool = False) -> Stage:
        """Return the stage at the time `t`.

        `idle` is the stage of an installation without a visitor now (attract, rest or notice), `over` is True if
        the session's game has ended.
        """
        if self.name in IDLE:
            return self if self.name == idle else self.enter(idle, t)
        until = self.deadline(times)
        if until is not None and t >= until:
            if self.name == "play" and self.asked is None:
                return replace(self, asked=t)
            return self.enter(idle, t)
        if self.name == "play" and (over or t - self.began >= times.longest_s):
            return self.enter("result", t)
        if t - self.began >= times.longest_s + times.answer_s:
            return self.enter(idle, t)  # a visitor keeps touching: give others a turn
        return self

"""The stages of an installation, as a pure function of touches and time.

Nothing ever waits for a visitor who is not there. In every stage but attract, rest and notice, who does nothing is
asked "still there?", and then the installation goes back to attract; a choice that nobody makes is made by going back,
too. No session is longer than its time, however busy it is. All times are seconds of one clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

StageName = Literal["attract", "choose", "about", "play", "result", "rest", "notice"]
IDLE: tuple[StageName, ...] = ("attract", "rest", "notice")
"""Stages in which no visitor has a session."""


class Times(NamedTuple):
    """How long an installation waits, seconds; see `[exhibit]` in the settings."""

    answer_s: float = 30.0
    ask_after_s: float = 40.0
    leave_after_s: float = 20.0
    longest_s: float = 900.0


class Pace(NamedTuple):
    """How long the mat's own doings take, seconds: slow enough to be followed."""

    toss_s: float = 2.5
    hand_s: float = 0.55
    think_s: float = 1.6
    aim_s: float = 1.6
    shown_s: float = 4.5
    step_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the installation stands: its stage `since` then; `touched` when a visitor last did anything.

    `began` is when this visitor's session began, `asked` since when it is asked whether anybody is still there.
    """

    name: StageName = "attract"
    since: float = 0.0
    touched: float = 0.0
    began: float = 0.0
    asked: float | None = None

    def enter(self, name: StageName, t: float) -> Stage:
        """Return the stage `name`, entered at `t`; one that is entered from an idle one begins a session."""
        began = t if self.name in IDLE else self.began
        return Stage(name, t, t, began)

    def used(self, t: float) -> Stage:
        """Return this stage after a visitor has done something: they are there."""
        return replace(self, touched=max(self.touched, t), asked=None)

    def until(self, times: Times) -> float | None:
        """Return when this stage ends by itself if nobody does anything; None for one that stays."""
        if self.name in IDLE:
            return None
        if self.asked is not None:
            return self.asked + times.leave_after_s
        if self.name in ("choose", "about", "result"):
            return self.touched + times.answer_s
        return self.touched + times.ask_after_s

    def passed(self, t: float, times: Times, *, idle: StageName = "attract", over: bool = False) -> Stage:
        """Return the stage once time has come to `t`.

        `idle` is what an installation without a visitor is in now (attract, rest by the hour, a notice of the staff),
        `over` whether the session's game has ended.
        """
        if self.name in IDLE:
            return self if self.name == idle else self.enter(idle, t)
        until = self.until(times)
        if until is not None and t >= until:
            if self.name == "play" and self.asked is None:
                return replace(self, asked=t)
            return self.enter(idle, t)
        if self.name == "play" and (over or t - self.began >= times.longest_s):
            return self.enter("result", t)
        if t - self.began >= times.longest_s + times.answer_s:
            return self.enter(idle, t)  # somebody keeps touching: others have a turn
        return self

"""Hampa Apena: the state of a game and its actions, before any rule is applied.

Short names as in the project's rules: h, t, m are the hider's, the hitter's and the middle sticks, h + t + m = 20.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pi_controller.games import actions
from pi_controller.games.base import Action, Team, other
from pi_controller.games.sticks import Sticks
from pi_controller.pads import PADS

MIDDLE = "middle"
UNEARNED = Sticks.of(A=0, B=0, middle=20)
"""The long sticks before the toss (chapter 2)."""
TEAMS: tuple[Team, ...] = ("A", "B")

Mode = Literal["ordinary", "sahdogan", "yawapi", "eyeya"]
Owed = Literal["first", "second"]
Hide = Literal["this", "last"]
Finish = Literal["forfeit"]

HIDER_FOULS = (
    "pad_skipped",
    "pad_twice",
    "no_bead",
    "two_beads",
    "bead_showing",
    "bead_off_mat",
    "left_position",
    "outside_help",
)
"""What a hiding team can do wrong (chapter 12)."""
HITTER_FOULS = ("outside_help", "time")
"""What a hitting team can do wrong (chapter 12)."""


@dataclass(frozen=True, slots=True)
class State:
    """One moment of a game. Before the toss nobody hides.

    `mode` is that of the hide in progress; a decision hide (sahdogan, yawapi) keeps it until its second hit, for that
    hit pays by it. `first_pad` is the pad of the first hit while the second is owed, if it was told. `before` is the
    state before the first hit of the hide in progress, `last` that before the first hit of the hide just settled;
    both are bare, so nothing grows with the length of a game. `finish` is how a game ended that was not played out.
    """

    sticks: Sticks = UNEARNED
    short: tuple[int, int] = (0, 0)
    hider: Team | None = None
    mode: Mode = "ordinary"
    owed: Owed | None = None
    winner: Team | None = None
    finish: Finish | None = None
    first_pad: int | None = None
    before: State | None = None
    last: State | None = None

    @property
    def h(self) -> int:
        """The hider's long sticks; 0 before the toss."""
        return self.sticks[self.hider] if self.hider else 0

    @property
    def t(self) -> int:
        """The hitter's long sticks; 0 before the toss."""
        return self.sticks[other(self.hider)] if self.hider else 0

    @property
    def m(self) -> int:
        """The sticks in the middle."""
        return self.sticks[MIDDLE]

    @property
    def situation(self) -> str | None:
        """The mode's name; `wheya` in ordinary mode when only four sticks are left to the hitter; else None.

        The middle counts as the hitter's (chapters 5 and 11).
        """
        if self.mode != "ordinary":
            return self.mode
        return "wheya" if self.hider and self.t + self.m == 4 else None

    def points(self, team: Team) -> int:
        """Return the short sticks of `team`."""
        return self.short[TEAMS.index(team)]

    def bare(self) -> State:
        """Return this state without what it remembers of hits and hides."""
        return replace(self, first_pad=None, before=None, last=None)


@dataclass(frozen=True, slots=True)
class Toss:
    """`winner` takes four from the middle and hides (chapter 2)."""

    winner: Team


@dataclass(frozen=True, slots=True)
class Hit:
    """The hit that is owed: whether it found the bead, and the pad, if told."""

    found: bool
    pad: int | None = None


@dataclass(frozen=True, slots=True)
class Foul:
    """A foul by the hiding or the hitting team of the hide it names."""

    by: Literal["hider", "hitter"]
    kind: str
    hide: Hide = "this"


def read(action: Action) -> Toss | Hit | Foul | actions.Forfeit[Team]:
    """Return the action, or raise `InvalidActionError` where it is none of this game."""
    match actions.word(action, ("toss", "hit", "foul", "forfeit")):
        case "toss":
            actions.only(action, ("winner",))
            return Toss(actions.choice(action, "winner", TEAMS))
        case "hit":
            actions.only(action, ("found",), ("pad",))
            pad = actions.whole(action, "pad", 1, PADS) if "pad" in action else None
            return Hit(actions.flag(action, "found"), pad)
        case "foul":
            actions.only(action, ("by", "kind"), ("hide",))
            by = actions.choice(action, "by", ("hider", "hitter"))
            kind = actions.choice(action, "kind", HIDER_FOULS if by == "hider" else HITTER_FOULS)
            return Foul(by, kind, actions.choice(action, "hide", ("this", "last")) if "hide" in action else "this")
        case "forfeit":
            return actions.forfeit(action, TEAMS)

"""Slahal (Lahal): the state of a game and its actions, before any rule is applied.

H is the hiding team, G the guessing one. A team's live and dead sticks are pools of their own, and so is the hand that
holds the king stick, so all eleven sticks are counted together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pi_controller.games import actions
from pi_controller.games.sticks import Sticks

if TYPE_CHECKING:
    from pi_controller.games.base import Action, Team

TEAMS: tuple[Team, ...] = ("A", "B")
LIVE: dict[Team, str] = {"A": "A_live", "B": "B_live"}
DEAD: dict[Team, str] = {"A": "A_dead", "B": "B_dead"}
KING: dict[Team, str] = {"A": "A_king", "B": "B_king"}
UNWON_KING = "king"
PER_TEAM = 5
"""Live sticks of a team at the start."""
ALL_DEAD = 2 * PER_TEAM
"""Dead sticks of a team that has them all."""
UNPLAYED = Sticks.of(A_live=PER_TEAM, B_live=PER_TEAM, A_dead=0, B_dead=0, A_king=0, B_king=0, king=1)

Signal = Literal["left", "right", "inside", "outside"]
SIGNALS: tuple[Signal, ...] = ("left", "right", "inside", "outside")
OPPOSITE: dict[Signal, Signal] = {"left": "right", "right": "left", "inside": "outside", "outside": "inside"}
ONE_PAIR: tuple[Signal, ...] = ("left", "right")
"""The signals for one bone holder, who has an unmarked bone in the one hand or the other."""

Phase = Literal["duel", "play", "over"]
Finish = Literal["sweep", "time", "king_moved", "forfeit"]


@dataclass(frozen=True, slots=True)
class State:
    """One moment of a game. Until the duel is decided nobody hides, no pairs are out and nobody holds the king.

    At the end `hiding` and `pairs_out` stay as they were.
    """

    sticks: Sticks = UNPLAYED
    hiding: Team | None = None
    pairs_out: Literal[1, 2] | None = None
    winner: Team | None = None
    finish: Finish | None = None

    @property
    def phase(self) -> Phase:
        """The duel for the bones, the play, or over."""
        return "over" if self.winner else "play" if self.hiding else "duel"

    @property
    def king(self) -> Team | None:
        """The team that holds the king stick."""
        return next((team for team in TEAMS if self.sticks[KING[team]]), None)

    def total(self, team: Team) -> int:
        """Return the sticks of `team`: live, dead and the king."""
        return self.sticks[LIVE[team]] + self.sticks[DEAD[team]] + self.sticks[KING[team]]


@dataclass(frozen=True, slots=True)
class Duel:
    """Whether each team's First Guesser succeeded."""

    a: bool
    b: bool


@dataclass(frozen=True, slots=True)
class Guess:
    """The guesser's signal, and the arrangement of the unmarked bones: the signal that would catch them.

    Both are from the guesser's side. Neither a block nor a mirrored guess has an effect on sticks.
    """

    signal: Signal
    actual: Signal
    block: bool = False
    mirror: bool = False


@dataclass(frozen=True, slots=True)
class Rehide:
    """Bones were moved after they had been presented."""


@dataclass(frozen=True, slots=True)
class KingMoved:
    """`by` moved the king stick before its time."""

    by: Team


@dataclass(frozen=True, slots=True)
class Time:
    """The time is up."""


def read(action: Action) -> Duel | Guess | Rehide | KingMoved | Time | actions.Forfeit[Team]:
    """Return the action, or raise `InvalidActionError` where it is none of this game."""
    match actions.word(action, ("duel", "guess", "rehide", "king_moved", "time", "forfeit")):
        case "duel":
            actions.only(action, TEAMS)
            return Duel(actions.flag(action, "A"), actions.flag(action, "B"))
        case "guess":
            actions.only(action, ("signal", "actual"), ("block", "mirror"))
            return Guess(
                signal=actions.choice(action, "signal", SIGNALS),
                actual=actions.choice(action, "actual", SIGNALS),
                block="block" in action and actions.flag(action, "block"),
                mirror="mirror" in action and actions.flag(action, "mirror"),
            )
        case "rehide":
            actions.only(action, ())
            return Rehide()
        case "king_moved":
            actions.only(action, ("by",))
            return KingMoved(actions.choice(action, "by", TEAMS))
        case "time":
            actions.only(action, ())
            return Time()
        case "forfeit":
            return actions.forfeit(action, TEAMS)

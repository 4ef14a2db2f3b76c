"""The Moccasin game of the Mille Lacs Band of Ojibwe: the state of a game and its actions, before any rule is applied.

Rule numbers are those of DGR-13. The hitters are the team that does not hide; one of them, the shooter, opens and hits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from pi_controller.games import actions
from pi_controller.games.base import Action, InvalidActionError, Json, Team
from pi_controller.games.wording import shown
from pi_controller.pads import EVERY_PAD, PADS

if TYPE_CHECKING:
    from pi_controller.games.actions import Forfeit
    from pi_controller.games.sticks import Sticks

COUNTERS = 20
POOL = "pool"
MATE = {1: 4, 2: 3, 3: 2, 4: 1}
"""The other outside pad (1 and 4), or the other inside pad (2 and 3; rules 2, 8 and 9)."""
TEAMS: tuple[Team, ...] = ("A", "B")
Finish = Literal["forfeit"]
DOUBLE = 3
"""With so many shooting sticks left, or fewer, the hitters must shoot for a double (rule 21)."""
RENAMED = {"hunt": "shoot", "lives": "hides_left"}
"""What the action and the key were called before."""


@dataclass(frozen=True, slots=True)
class State:
    """One moment of a game. Before the toss nobody hides.

    `high` is the pad worth eight in the hide in progress; `hides_left` how often the hider may yet be found, and hides
    on but for the last time; `banked` how many finds in a row were made with one shooting stick (rule 22, where it is
    played so). `finish` is how the game ended where not by play.
    """

    counters: Sticks
    short: tuple[int, int] = (0, 0)
    hider: Team | None = None
    high: int | None = None
    hides_left: int = 1
    banked: int = 0
    winner: Team | None = None
    finish: Finish | None = None

    @property
    def shooting(self) -> int | None:
        """The shooting sticks: what the hitters can still pay with, the pool's and their own; None before the toss."""
        return COUNTERS - self.counters[self.hider] if self.hider else None

    @property
    def double(self) -> bool:
        """Whether the hitters must shoot for a double (rules 21 and 22); not before the toss."""
        return self.shooting is not None and self.shooting <= DOUBLE


@dataclass(frozen=True, slots=True)
class Toss:
    """`winner` hides first (rules 1 and 2)."""

    winner: Team


@dataclass(frozen=True, slots=True)
class Shot:
    """What the shooter does about one hide: pads opened in order, then one hit, unless the ball lay under the last one.

    `ball` is the pad where the marked ball was.
    """

    opened: tuple[int, ...]
    hit: int | None
    ball: int

    @property
    def found(self) -> bool:
        """Whether the pad hit held the marked ball (rule 7: finding it is hitting it)."""
        return self.hit == self.ball


def read(action: Action) -> Toss | Shot | Forfeit[Team]:
    """Return the action, or raise `InvalidActionError` where it is none of this game.

    Pads that cannot belong together at any time are no action: one opened twice, all four opened, an opened one hit,
    a pad opened or hit after the ball had come to light, or no pad hit though it had not.
    """
    match actions.word(action, ("toss", "shoot", "forfeit")):
        case "toss":
            actions.only(action, ("winner",))
            return Toss(actions.choice(action, "winner", TEAMS))
        case "forfeit":
            return actions.forfeit(action, TEAMS)
        case "shoot":
            actions.only(action, ("opened", "hit", "ball"))
            opened = _opened(action["opened"])
            hit = None if action["hit"] is None else actions.whole(action, "hit", 1, PADS)
            ball = actions.whole(action, "ball", 1, PADS)
            _check(opened, hit, ball)
            return Shot(opened, hit, ball)


def _opened(value: Json) -> tuple[int, ...]:
    """Return the pads opened: different ones, and one at least left to be hit."""
    if not isinstance(value, list | tuple):
        raise InvalidActionError(f"opened cannot be {shown(value)}", "opened is a list of pads, in their order")
    pads = cast("list[object] | tuple[object, ...]", value)
    opened: list[int] = []
    for pad in pads:
        if type(pad) is not int or pad not in EVERY_PAD:
            raise InvalidActionError(f"opened cannot hold {shown(pad)}", "a pad is a whole number from 1 to 4")
        if pad in opened:
            raise InvalidActionError(f"pad {pad} cannot be opened twice", "opened takes different pads")
        opened.append(pad)
    if len(opened) == PADS:
        raise InvalidActionError("all four pads cannot be opened", "one is left to be hit")
    return tuple(opened)


def _check(opened: tuple[int, ...], hit: int | None, ball: int) -> None:
    """Check that the pads opened, the pad hit and the ball's go together."""
    if ball in opened:
        if opened[-1] != ball:
            raise InvalidActionError(f"no pad is opened after pad {ball}: the ball was there")
        if hit is not None:
            raise InvalidActionError(f"no pad is hit after pad {ball} was opened: the ball was there", "hit is null")
    elif hit is None:
        raise InvalidActionError("the ball was under no opened pad, so one is hit", "hit is a pad from 1 to 4")
    elif hit in opened:
        raise InvalidActionError(f"pad {hit} is opened and cannot be hit", "hit another pad")

"""Roles and permissions of judges. Spectators need no sign-in and have no role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Sequence

Role = Literal["scorekeeper", "judge", "committee", "head"]
Right = Literal["people", "raw", "exhibit"]
"""Besides what is said to the table: to see to the people, to see the sensors of the hide in progress, and the staff
page of an installation.
"""

ROLES: tuple[Role, ...] = get_args(Role)
HEAD = "Head judge"
"""What the first head judge is called until somebody gives a name."""
_KEEPS_SCORE = frozenset({"action", "answer", "hidden", "undo"})
_JUDGES = _KEEPS_SCORE | {"hide_again", "replace", "sensors", "protest", "ruling", "clock", "close", "exhibit"}
_RIGHTS: dict[Role, frozenset[str]] = {
    "scorekeeper": _KEEPS_SCORE,
    "judge": _JUDGES,
    "committee": frozenset({"protest", "ruling", "clock", "close", "new_game"}),
    "head": _JUDGES | {"set", "teams", "people", "raw", "new_game"},
}
"""By the tags of `referee.judge.JudgeCall`; what is not named here nobody may."""


def may(role: str, right: str) -> bool:
    """Return whether somebody of `role` may do what is called `right`: a call's tag, or one of `Right`."""
    return any(right in rights for known, rights in _RIGHTS.items() if known == role)


def of_a_tournament(possible: Sequence[str]) -> bool:
    """Return whether a table where these rulings are `possible` is a tournament's: play never goes on undecided."""
    return "play_on" not in possible


def begins_games(role: str, possible: Sequence[str]) -> bool:
    """Return whether somebody of `role` may begin another game when one is over; `possible` as for `rulings`.

    The head judge may, and at a tournament the committee too.
    """
    return may(role, "new_game") and (role == "head" or of_a_tournament(possible))


def rulings(role: str, possible: Sequence[str]) -> tuple[str, ...]:
    """Return what somebody of `role` may rule on a protest, of what is `possible` at the table.

    Where play may not go on before it is decided, which is at a tournament, the committee decides (chapter 12).
    """
    decides = may(role, "ruling") and (role == "committee" or not of_a_tournament(possible))
    return tuple(possible) if decides else ()

"""Roles and rights of judges. Spectators need no sign-in and have no role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from pi_controller.table.view import View

Role = Literal["scorekeeper", "judge", "committee", "head"]
Right = Literal["people", "raw", "settings", "exhibit"]
"""Rights besides the judge's calls: to manage users, to see the signals of the current hide, to change the settings,
and the staff page of an installation."""
ROLES: tuple[Role, ...] = get_args(Role)
HEAD = "Head judge"
"""The first head judge's default name."""
_SCORING_CALLS = frozenset({"action", "answer", "hidden", "undo", "close_void"})
_JUDGES = _SCORING_CALLS | {"hide_again", "replace", "sensors", "protest", "ruling", "clock", "close", "exhibit"}
_RIGHTS: dict[Role, frozenset[str]] = {
    "scorekeeper": _SCORING_CALLS,
    "judge": _JUDGES,
    "committee": frozenset({"protest", "ruling", "clock", "close", "close_void", "new_game"}),
    "head": _JUDGES | {"set", "teams", "people", "raw", "settings", "new_game"},
}
"""By the tags of `referee.judge.JudgeCommand`; any other call is forbidden."""


def has_right(role: str, right: str) -> bool:
    """Return whether `role` has `right`: a call's tag, or one of `Right`."""
    return any(right in rights for known, rights in _RIGHTS.items() if known == role)


def may_reopen(role: str, view: View) -> bool:
    """Return whether `role` may undo the end of a game that was closed for a side: the same who may close it."""
    return has_right(role, "close") and view.phase == "over" and view.sheet.get("finish") == "forfeit"


def is_tournament(possible: Sequence[str]) -> bool:
    """Return whether these `possible` rulings are a tournament's: play never continues with an undecided protest."""
    return "play_on" not in possible


def can_begin_game(role: str, possible: Sequence[str]) -> bool:
    """Return whether `role` may begin another game when one is over; `possible` as for `allowed_rulings`.

    The head judge may, and at a tournament the committee too.
    """
    return has_right(role, "new_game") and (role == "head" or is_tournament(possible))


def allowed_rulings(role: str, possible: Sequence[str]) -> tuple[str, ...]:
    """Return the rulings on a protest that `role` may make, of those `possible` at the table.

    At a tournament, where play may not continue before the decision, the committee decides (chapter 12).
    """
    decides = has_right(role, "ruling") and (role == "committee" or not is_tournament(possible))
    return tuple(possible) if decides else ()

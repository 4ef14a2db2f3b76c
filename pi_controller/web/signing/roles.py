"""Who may say what. Who only watches needs no sign-in and has no role here."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["scorekeeper", "judge", "head"]
Right = Literal["people", "raw"]
"""Besides what is said to the table: to see to the people, and to see the sensors of the hide in progress."""

ROLES: tuple[Role, ...] = get_args(Role)
_KEEPS_SCORE = frozenset({"action", "answer", "hidden", "undo"})
_JUDGES = _KEEPS_SCORE | {"hide_again", "replace", "sensors", "protest", "ruling", "clock"}
_RIGHTS: dict[Role, frozenset[str]] = {
    "scorekeeper": _KEEPS_SCORE,
    "judge": _JUDGES,
    "head": _JUDGES | {"set", "people", "raw"},
}
"""By the tags of `referee.judge.JudgeCall`; what is not named here nobody may."""


def may(role: str, right: str) -> bool:
    """Return whether somebody of `role` may do what is called `right`: a call's tag, or one of `Right`."""
    return any(right in rights for known, rights in _RIGHTS.items() if known == role)

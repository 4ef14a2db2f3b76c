"""Changes of a score sheet by paths, as a judge types them: `long.A=8`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import cast

from pi_controller.rules.base import InvalidActionError, Json
from pi_controller.text import format_value

_FOLLOW = ("shooting", "double", "phase", "sticks")
_FOLLOW_IN_ROWS = {"notch": (), "out": (True,)}
"""Keys derived from the rest of a sheet in any game; keys derived from the rest of a row, except with these values."""


def apply_changes(sheet: Mapping[str, Json], changes: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    """Return `sheet` with the value at each path (`long.A`, `players.0.sticks`) changed, for `Game.restore`.

    Derived values are removed unless they are among the changes. Raises `InvalidActionError` for an unknown path.
    """
    after = {key: deepcopy(value) for key, value in sheet.items() if key not in _FOLLOW}
    for value in after.values():
        for row in cast("list[dict[str, Json]]", value) if isinstance(value, list) else ():
            for key, kept in _FOLLOW_IN_ROWS.items():
                if row.get(key) not in kept:
                    row.pop(key, None)
    for path, value in changes:
        *way, last = path.split(".")
        at: object = after
        for part in way:
            at = _inside(at, part, path)
        if isinstance(at, dict):
            at[last] = value
        else:
            raise _nowhere(path)
    return after


def _inside(at: object, part: str, path: str) -> object:
    if isinstance(at, dict) and part in at:
        return cast("dict[str, object]", at)[part]
    if isinstance(at, list) and part.isdecimal() and int(part[:9]) < len(cast("list[object]", at)):
        return cast("list[object]", at)[int(part[:9])]
    raise _nowhere(path)


def _nowhere(path: str) -> InvalidActionError:
    return InvalidActionError("the score sheet has no {path}", "name its keys, as in long.A=8", path=format_value(path))

"""Parses and validates a command of the console: its key, the revision it was given for, and the judge's call."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

import msgspec

from pi_controller.games.wording import all_printable
from pi_controller.referee.judge import JudgeCall
from pi_controller.web.request_body import RefusedError, only

if TYPE_CHECKING:
    from collections.abc import Iterable

KEY = r"[A-Za-z0-9_-]{8,64}"
"""What a command's key is, as a regular expression."""
_KEY = re.compile(KEY)
_FIELDS = {str(kind.__struct_config__.tag): {"judge", *kind.__struct_fields__} - {"t"} for kind in get_args(JudgeCall)}
MOST_TEXT = 1000
"""Characters of a reason, a protest, or any text in an action."""
MOST_NUMBER = 2**53
_DEPTH = 6


class Sent(NamedTuple):
    """A command without its time; `tag` is the call's."""

    key: str
    expect: int | None
    tag: str
    call: JudgeCall


def understood(body: dict[str, Any]) -> Sent:
    """Return the command that `body` is. Raises `RefusedError`: what is not exactly one is none."""
    only(body, "key", "expect", "call")
    key, expect, call = body.get("key"), body.get("expect"), body.get("call")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise RefusedError("invalid", "key must be 8 to 64 letters, digits, - or _", "make a new one for each command")
    if expect is not None and (type(expect) is not int or abs(expect) > MOST_NUMBER):
        raise RefusedError("invalid", "expect must be the stand of the picture, or null")
    tag = cast("dict[str, Any]", call).get("judge") if isinstance(call, dict) else None
    if not isinstance(tag, str) or tag not in _FIELDS:
        raise RefusedError("invalid", "this is nothing a judge can say", f"the calls are: {', '.join(_FIELDS)}")
    fields = cast("dict[str, Any]", call)
    only(fields, *sorted(_FIELDS[tag]))
    if not _plain((fields,), _DEPTH):
        raise RefusedError("invalid", "a text is too long, a number too large, or it is nested too deep")
    try:
        made = msgspec.convert({**all_printable(fields), "t": 0.0}, cast("Any", JudgeCall))
    except msgspec.MsgspecError as error:
        raise RefusedError("invalid", f"{tag}: {error}", "see what the call takes") from error
    return Sent(key, expect, tag, made)


def _plain(values: Iterable[Any], depth: int) -> bool:
    """Whether all of it can be kept: the journal is for ever, and no game's action is larger."""
    for value in values:
        match value:
            case str():
                fine = len(value) <= MOST_TEXT
            case bool() | None:
                fine = True
            case int() | float():
                fine = math.isfinite(value) and abs(value) <= MOST_NUMBER
            case dict():
                whole = cast("dict[str, Any]", value)
                fine = depth > 0 and _plain((*whole, *whole.values()), depth - 1)
            case list():
                fine = depth > 0 and _plain(cast("list[Any]", value), depth - 1)
            case _:
                fine = False
        if not fine:
            return False
    return True

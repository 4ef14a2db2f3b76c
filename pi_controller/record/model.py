"""The record of a game: the game and its names, then entries in order: actions, rulings, comments, stated counts.

A record is frozen. Every record can be written (`writing.write`) and is read back equal; values that cannot be written
are refused here with `RecordError`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pi_controller.errors import MatError
from pi_controller.rules.base import Action, Json, Team
from pi_controller.rules.options import Value
from pi_controller.text import NAME_LENGTH, format_value, is_name_length

MAX_TEXT_CHARS = 1000
"""Maximum length of a comment, a ruling or a header's value, characters."""
MAX_WORD_CHARS = 40
"""Maximum length of a word of an action, characters."""
MAX_VALUE_CHARS = 100
"""Maximum length of a path or a value in a check, characters."""
MAX_WORDS = 20
"""Maximum number of words called for one action, and of counts stated in one line."""
MAX_TIME_S = 10**9
RESERVED = re.compile(r"record|game|version|rules|source|option\s.*|team\s+[ab]", re.IGNORECASE | re.ASCII)
"""Headers that have a field of their own."""
HEADER = re.compile(r"([^\W\d_][\w .'-]{0,39}):(?=\s|$)")
WORD = re.compile(r"[^\W\d]\w*")
"""A word called, a key of an action, or the mark of its author."""


class RecordError(MatError, ValueError):
    """An invalid record, or an invalid line of one."""

    code = "record"


@dataclass(frozen=True, slots=True)
class ParseIssue:
    """A problem in a record's text: the line, from 1, and its description."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Move:
    """An action of the game, with the words called for it.

    `t` is in seconds since the record began, in whole milliseconds. `by` is the author (`judge`, `clock`), empty for
    the mat or if unknown. A `superseded` action was taken back and no longer counts.
    """

    action: Action
    calls: tuple[str, ...] = ()
    t: float | None = None
    by: str = ""
    comment: str = ""
    superseded: bool = False

    def __post_init__(self) -> None:
        _time(self.t)
        _text(self.comment)
        _keys(self.action)
        if len(self.calls) > MAX_WORDS:
            raise RecordError(f"{len(self.calls)} words called for one action")
        for word in (*self.calls, *filter(None, (self.by, self.action.get("do")))):
            if not isinstance(word, str) or not WORD.fullmatch(word) or len(word) > MAX_WORD_CHARS:
                raise RecordError(f"{format_value(word)} is not a word")


@dataclass(frozen=True, slots=True)
class Ruling:
    """A ruling of the judge, in words."""

    text: str
    t: float | None = None
    superseded: bool = False

    def __post_init__(self) -> None:
        _time(self.t)
        _text(self.text)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment by any author."""

    text: str

    def __post_init__(self) -> None:
        _text(self.text)


@dataclass(frozen=True, slots=True)
class Check:
    """Values that the author states for the score sheet at this point: `long.A` is 4. Kept even if they are wrong."""

    values: tuple[tuple[str, Json], ...]
    comment: str = ""

    def __post_init__(self) -> None:
        _text(self.comment)
        if len(self.values) > MAX_WORDS:
            raise RecordError(f"{len(self.values)} counts in one line", f"state at most {MAX_WORDS}")
        for path, value in self.values:
            if not isinstance(value, str | int | float | bool | None) or len(str(value)) > MAX_VALUE_CHARS:
                raise RecordError(
                    f"{format_value(path)} cannot be {format_value(value)}", "state a number, a word or null"
                )
            if not re.fullmatch(rf"{WORD.pattern}(\.\w+)*", path) or len(path) > MAX_VALUE_CHARS:
                raise RecordError(f"{format_value(path)} is not a path on a score sheet")


Entry = Move | Ruling | Comment | Check


@dataclass(frozen=True, slots=True)
class Record:
    """A played game. `faults` are the problems found when its text was read; comparison ignores them.

    `options` are those stated, typed as the game reads them. `teams` are the names of A and B, as written. `rules` is
    the name of an organiser's own set, if any; `version` and `source` are the rule set's. `headers` are all other
    headers in order: (name, value).
    """

    game: str
    version: str = ""
    rules: str = ""
    source: str = ""
    options: Mapping[str, Value] = field(default_factory=dict[str, "Value"])
    teams: Mapping[Team, str] = field(default_factory=dict["Team", str])
    headers: tuple[tuple[str, str], ...] = ()
    entries: tuple[Entry, ...] = ()
    faults: list[ParseIssue] = field(default_factory=list[ParseIssue], compare=False)

    def __post_init__(self) -> None:
        for text in (self.game, self.version, self.rules, self.source):
            _text(text)
        for team, name in self.teams.items():
            if team not in ("A", "B") or not is_name_length(name):
                raise RecordError(
                    f"{format_value(name)} cannot name team {format_value(team)}", f"a name has {NAME_LENGTH}"
                )
        for name, value in self.headers:
            matched = HEADER.fullmatch(f"{name}:")
            if not matched or name != name.strip() or RESERVED.fullmatch(name):
                raise RecordError(
                    f"{format_value(name)} cannot name a header", "letters, digits, space, - . ' and no field"
                )
            _text(value)

    def header(self, name: str) -> str:
        """Return the first header of that name (in any case), or ""."""
        return next((value for known, value in self.headers if known.casefold() == name.casefold()), "")

    def moves(self) -> tuple[Move, ...]:
        """Return the actions that count."""
        return tuple(entry for entry in self.entries if isinstance(entry, Move) and not entry.superseded)


def _time(t: float | None) -> None:
    if t is not None and not (0 <= t <= MAX_TIME_S and round(t, 3) == t):
        raise RecordError(f"{format_value(t)} is not a time", "a time is in seconds from 0, in whole milliseconds")


def _text(text: str) -> None:
    if len(text) > MAX_TEXT_CHARS:
        raise RecordError(f"{format_value(text)} is too long", f"at most {MAX_TEXT_CHARS} characters")


def _keys(value: Mapping[Any, Any]) -> None:
    for key, inner in value.items():
        if not isinstance(key, str) or not WORD.fullmatch(key):
            raise RecordError(f"{format_value(key)} cannot name a part of an action")
        if isinstance(inner, Mapping):
            _keys(cast("Mapping[Any, Any]", inner))

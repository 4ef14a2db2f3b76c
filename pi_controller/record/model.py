"""What a record holds: the game and its names, then entries in order: actions, rulings, comments, counts stated.

A record is frozen. What it holds can always be written (`writing.write`) and reads back as the same record; what
cannot be is refused here with `RecordError`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pi_controller.errors import MatError
from pi_controller.games.wording import shown

if TYPE_CHECKING:
    from pi_controller.games.base import Action, Json, Team
    from pi_controller.games.options import Value

LONGEST_TEXT = 1000
"""Characters of a comment, a ruling or a header's value at most."""
LONGEST_NAME = 40
"""Characters of a team's or a header's name at most."""
LONGEST_VALUE = 100
"""Characters of what a check names or states at most."""
MOST_WORDS = 20
"""Words called for one action, counts stated in one line, at most."""
LATEST_S = 10**9
RESERVED = re.compile(r"record|game|version|rules|source|option\s.*|team\s+[ab]", re.IGNORECASE | re.ASCII)
"""Headers that have a field of their own."""
HEADER = re.compile(r"([^\W\d_][\w .'-]{0,39}):(?=\s|$)")
WORD = re.compile(r"[^\W\d]\w*")
"""A word called, a key of an action, a mark of who entered it."""


class RecordError(MatError, ValueError):
    """Not a record, or not a line of one."""

    code = "record"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in a record's text: the line, from 1, and what."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Move:
    """An action of the game, with the words called for it.

    `t` is in seconds since the record began, in whole milliseconds. `by` is who entered it (`judge`, `clock`), empty
    for the mat or when not known. A `superseded` one was taken back and no longer counts.
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
        if len(self.calls) > MOST_WORDS:
            raise RecordError(f"{len(self.calls)} words called for one action")
        for word in (*self.calls, *filter(None, (self.by, self.action.get("do")))):
            if not isinstance(word, str) or not WORD.fullmatch(word) or len(word) > LONGEST_NAME:
                raise RecordError(f"{shown(word)} is no word")


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the judge decided, in words."""

    text: str
    t: float | None = None
    superseded: bool = False

    def __post_init__(self) -> None:
        _time(self.t)
        _text(self.text)


@dataclass(frozen=True, slots=True)
class Comment:
    """A line that anybody wrote."""

    text: str

    def __post_init__(self) -> None:
        _text(self.text)


@dataclass(frozen=True, slots=True)
class Check:
    """What the writer says stands on the score sheet at this point: `long.A` is 4. Kept even where it is wrong."""

    values: tuple[tuple[str, Json], ...]
    comment: str = ""

    def __post_init__(self) -> None:
        _text(self.comment)
        if len(self.values) > MOST_WORDS:
            raise RecordError(f"{len(self.values)} counts in one line", f"state at most {MOST_WORDS}")
        for path, value in self.values:
            if not isinstance(value, str | int | float | bool | None) or len(str(value)) > LONGEST_VALUE:
                raise RecordError(f"{shown(path)} cannot be {shown(value)}", "state a number, a word or null")
            if not re.fullmatch(rf"{WORD.pattern}(\.\w+)*", path) or len(path) > LONGEST_VALUE:
                raise RecordError(f"{shown(path)} names nothing on a score sheet")


Entry = Move | Ruling | Comment | Check


@dataclass(frozen=True, slots=True)
class Record:
    """A played game. `faults` is what reading its text found wrong; it does not count when records are compared.

    `options` are those stated, typed as the game reads them. `teams` are the names of A and B, as written. `rules` is
    the name of an organiser's own set, if any; `version` and `source` are the rule set's. `headers` is everything else
    in its order: (name, value).
    """

    game: str
    version: str = ""
    rules: str = ""
    source: str = ""
    options: Mapping[str, Value] = field(default_factory=dict[str, "Value"])
    teams: Mapping[Team, str] = field(default_factory=dict["Team", str])
    headers: tuple[tuple[str, str], ...] = ()
    entries: tuple[Entry, ...] = ()
    faults: list[Fault] = field(default_factory=list[Fault], compare=False)

    def __post_init__(self) -> None:
        for text in (self.game, self.version, self.rules, self.source):
            _text(text)
        for team, name in self.teams.items():
            if team not in ("A", "B") or not 1 <= len(name) <= LONGEST_NAME:
                raise RecordError(f"{shown(name)} cannot name team {shown(team)}", "a name has 1 to 40 characters")
        for name, value in self.headers:
            matched = HEADER.fullmatch(f"{name}:")
            if not matched or name != name.strip() or RESERVED.fullmatch(name):
                raise RecordError(f"{shown(name)} cannot name a header", "letters, digits, space, - . ' and no field")
            _text(value)

    def header(self, name: str) -> str:
        """Return the first header of that name (any case), or nothing."""
        return next((value for known, value in self.headers if known.casefold() == name.casefold()), "")

    def moves(self) -> tuple[Move, ...]:
        """Return the actions that count."""
        return tuple(entry for entry in self.entries if isinstance(entry, Move) and not entry.superseded)


def _time(t: float | None) -> None:
    if t is not None and not (0 <= t <= LATEST_S and round(t, 3) == t):
        raise RecordError(f"{shown(t)} is no time", "a time is in seconds from 0, in whole milliseconds")


def _text(text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise RecordError(f"{shown(text)} is too long", f"at most {LONGEST_TEXT} characters")


def _keys(value: Mapping[Any, Any]) -> None:
    for key, inner in value.items():
        if not isinstance(key, str) or not WORD.fullmatch(key):
            raise RecordError(f"{shown(key)} cannot name a part of an action")
        if isinstance(inner, Mapping):
            _keys(cast("Mapping[Any, Any]", inner))

"""Names of teams and people: normalisation, comparison, and rejection of unclear names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from pi_controller.rules.base import InvalidActionError
from pi_controller.text import (
    NAME_LENGTH,
    format_value,
    is_name_length,
    mark,
    normalize_name,
    strip_controls,
)

MAX_TEAMS = 512
_ANOTHER = mark("give one of them another name")
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u3164\ufe00-\ufe0f\uffa0]"
)
"""Invisible characters among the letters, marks and joiners."""


def look_alike_key(name: str) -> str:
    """Return a key that is equal for names that look the same; "" if `name` has no visible character.

    >>> look_alike_key("Big\\u00a0 Coulee") == look_alike_key("BIG COU\\u200dLEE")
    True
    """
    seen = "".join(char for char in unicodedata.normalize("NFKC", name) if not _INVISIBLE.match(char))
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


def reject_unclear_names(names: Iterable[str], what: str) -> None:
    """Raise `InvalidActionError` if two of `names` look the same, or one is invisible or has a control character."""
    known: dict[str, str] = {}
    for name in map(normalize_name, names):
        reject_control_characters(name, what)
        key = look_alike_key(name)
        if name and not key:
            raise InvalidActionError("a {what}'s name has no visible character", "type it again", what=what)
        if known.setdefault(key, name) != name:
            raise InvalidActionError(
                "two {what}s are called {known}", _ANOTHER, what=what, known=format_value(strip_controls(known[key]))
            )


def reject_control_characters(name: str, what: str) -> None:
    """Raise `InvalidActionError` if `name` has control characters or ones that change the writing direction."""
    if strip_controls(name) != name:
        raise InvalidActionError(
            "the {what}'s name {name} has a control character",
            "type the name again",
            what=what,
            name=format_value(strip_controls(name)),
        )


def parse_names(
    given: Sequence[str], what: str, fewest: int, most: int = MAX_TEAMS, known: Iterable[str] = ()
) -> tuple[str, ...]:
    """Parse names, each normalised by `normalize_name`; `what` is the kind of name in error messages.

    Raises `InvalidActionError` if their number is not from `fewest` to `most`, for a length that `is_name_length`
    refuses, or if two of them, or one of them and another one of `known`, look the same.
    """
    if not fewest <= len(given) <= most:
        raise InvalidActionError(
            "{given} {what}s are named",
            "name {fewest} to {most}",
            given=len(given),
            what=what,
            fewest=fewest,
            most=most,
        )
    names: list[str] = []
    for name in given:
        plain = normalize_name(name)
        if not is_name_length(plain):
            raise InvalidActionError(
                "a {what}'s name has {name_length}, not {plain}", what=what, name_length=NAME_LENGTH, plain=len(plain)
            )
        names.append(plain)
    reject_unclear_names([*known, *names], what)
    if twice := next((name for n, name in enumerate(names) if name in names[:n]), ""):
        raise InvalidActionError("two {what}s are called {twice}", _ANOTHER, what=what, twice=format_value(twice))
    return tuple(names)

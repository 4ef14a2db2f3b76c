"""Names of teams and of people: how they are compared, and which cannot be."""

from __future__ import annotations

import unicodedata
from typing import cast

from pi_controller.games.base import InvalidActionError
from pi_controller.games.wording import printable, shown

MOST_TEAMS = 512
LONGEST_NAME = 40
"""As of a team at a table."""


def plain_name(name: str) -> str:
    """Return a team's name as names are compared: composed letters (NFC), no space around."""
    return unicodedata.normalize("NFC", name).strip()


def names_of(value: object, what: str, fewest: int, most: int = MOST_TEAMS) -> tuple[str, ...]:
    """Return a list of names, each as `plain_name`; `what` they are the names of is said in errors.

    Raises `InvalidActionError` for what is no list of names of 1 to 40 characters that can be told apart: case and
    invisible characters tell nothing apart.
    """
    if not isinstance(value, list):
        raise InvalidActionError(f"{what}s cannot be {shown(value)}", f"{what}s are a list of names")
    given = cast("list[object]", value)
    if not fewest <= len(given) <= most:
        raise InvalidActionError(f"{len(given)} {what}s are named", f"name {fewest} to {most}")
    names: dict[str, str] = {}
    for name in given:
        if not isinstance(name, str):
            raise InvalidActionError(f"a {what}'s name cannot be {shown(name)}", "it is a text")
        plain = plain_name(name)
        if not 1 <= len(plain) <= LONGEST_NAME:
            raise InvalidActionError(f"a {what}'s name has 1 to {LONGEST_NAME} characters, not {len(plain)}")
        if printable(plain) != plain:
            raise InvalidActionError(f"a control character stands in the name {shown(printable(plain))}")
        if plain.casefold() in names:
            raise InvalidActionError(f"two {what}s are called {shown(plain)}", "give one of them another name")
        names[plain.casefold()] = plain
    return tuple(names.values())

"""How errors speak: a value shown in short, words listed, and the nearest word to a misspelt one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 40


def shown(value: object) -> str:
    """Return `value` in at most about 40 characters, whatever it is; lists and objects only by their kind."""
    match value:
        case str():
            return repr(value) if len(value) <= _LONGEST else repr(value[:_LONGEST]) + "..."
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            # a decimal of thousands of digits is refused by Python itself
            return str(value) if abs(value) < 10**_LONGEST else "a huge number"
        case float():
            return repr(value)
        case list() | tuple():
            return "a list"
        case _:
            return "an object"


def listed(words: Iterable[str]) -> str:
    """Return `a, b, c`."""
    return ", ".join(words)


def nearest(word: str, words: Iterable[str]) -> str:
    """Return `; did you mean X?` for the word that `word` looks like most, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415 - only on the way to an error

    close = get_close_matches(word[:_LONGEST].lower(), list(words), n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else ""

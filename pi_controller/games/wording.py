"""Text for messages: strips invisible characters, shortens values, suggests the nearest word."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 40
_JOINERS = "\u200c\u200d"
_BREAKS = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"


def unseen(char: str) -> bool:
    """Return whether nobody sees `char`: a control, a direction, a line's end, or anything else of category C.

    But for the two joiners: Persian, many scripts of India and some emoji are spelled with them.
    """
    return char in "\u2028\u2029" or (unicodedata.category(char)[0] == "C" and char not in _JOINERS)


def printable(text: str) -> str:
    """Return `text` on one line without what is `unseen`; where a line ended, or a tab stood, is a space.

    In a terminal the rest could move what stands around it, and in a journal's story look like a line of its own.
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(" " if char in _BREAKS else char for char in text if char in _BREAKS or not unseen(char))


def all_printable(value: Any) -> Any:
    """Return a value of JSON with all its texts `printable`, keys too."""
    match value:
        case str():
            return printable(value)
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return {printable(key): all_printable(held) for key, held in pairs}
        case list() | tuple():
            return [all_printable(held) for held in cast("list[Any]", value)]
        case _:
            return value


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

"""One line of a record's body, read and written.

[NUMBER.] [~] [@TIME] WORD PART... [[WHO]] [-> CALL...] [; COMMENT]    an action; ~ marks one taken back [~] !
[@TIME] TEXT                                                      a judge's ruling ; TEXT
a comment = KEY=VALUE... [; COMMENT]                                              what the score sheet shows here end
[KEY=VALUE...]                                                      the last line
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pi_controller.record.model import Check, Comment, Entry, Move, RecordError, Ruling
from pi_controller.record.notation import format_action, parse_action
from pi_controller.record.tokens import ARROW, Token, format_text, format_token, parse_text, scan
from pi_controller.rules.base import Json
from pi_controller.text import format_value

_ENTRY_NUMBER = re.compile(r"([0-9]{1,6})\.\s*")
_TIME = re.compile(r"@([0-9]{1,9})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?(?:\.([0-9]{1,9}))?(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A parsed line: the number it states, if any, its entry, and whether it is the record's last line."""

    entry: Entry
    number: int | None = None
    last: bool = False


def parse(text: str, game: str) -> RecordLine:
    """Parse a line (stripped, not empty) of a record of `game`. Raises `RecordError`."""
    number = None
    superseded = False
    for _ in range(2):  # the mark and the number in either order
        if found := _ENTRY_NUMBER.match(text):
            number, text = int(found[1]), text[found.end() :]
        if text.startswith("~"):
            superseded, text = True, text[1:].lstrip()
    match text[:1]:
        case "":
            raise RecordError("the line is empty")
        case ";" | "#":
            return RecordLine(Comment(parse_text(text[1:])))
        case "!":
            t, rest = _time(text[1:].lstrip())
            return RecordLine(Ruling(parse_text(rest), t, superseded))
        case "=":
            check = _check(text[1:])
            if not check.values:
                raise RecordError("the line states no value", "write key=value")
            return RecordLine(check)
        case _:
            pass
    if re.match(r"end(?=[\s;]|$)", text, re.IGNORECASE):
        return RecordLine(_check(text[3:]), last=True)
    t, text = _time(text)
    tokens, comment = scan(text)
    tokens, calls = _calls(tokens)
    by = tokens.pop().tag if tokens and tokens[-1].tag else ""
    return RecordLine(Move(parse_action(game, tokens), calls, t, by, comment, superseded), number)


def format_entry(entry: Entry, game: str, number: int | None = None) -> str:
    """Return the line for `entry` in a record of `game`; `number` is that of the hide or turn that an action begins."""
    match entry:
        case Comment(text=text):
            return f"   ; {format_text(text)}".rstrip()
        case Ruling(text=text, t=t, superseded=superseded):
            timelike = t is None and _TIME.match(text) is not None
            plain = format_text(text, quote=timelike)
            return " ".join(filter(None, ("  ~!" if superseded else "   !", _clock(t), plain)))
        case Check(values=values, comment=comment):
            parts = (f"{path}={format_token(value)}" for path, value in values)
            return " ".join(("   =", *parts, *_format_comment(comment)))
        case Move():
            lead = "   ~" if entry.superseded else f"{number}.".rjust(4) if number else "    "
            parts = [
                lead,
                _clock(entry.t),
                format_action(game, entry.action),
                f"[{entry.by}]" if entry.by else "",
            ]
            if entry.calls:
                parts += [ARROW, *entry.calls]
            return " ".join((*filter(None, parts), *_format_comment(entry.comment)))


def _format_comment(comment: str) -> Iterable[str]:
    return ("; " + format_text(comment),) if comment else ()


def _check(text: str) -> Check:
    tokens, comment = scan(text)
    values: list[tuple[str, Json]] = []
    for token in tokens:
        if not token.key:
            raise RecordError(f"{format_value(token.word or token.value)} is not a stated value", "write key=value")
        values.append((token.key, token.value))
    return Check(tuple(values), comment)


def _calls(tokens: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    at = next((n for n, token in enumerate(tokens) if token.word == ARROW and not token.key), len(tokens))
    for token in tokens[at + 1 :]:
        if not token.word or token.key:
            raise RecordError(f"{format_value(token.value)} is not a word that can be called")
    return tokens[:at], tuple(token.word for token in tokens[at + 1 :])


def _time(text: str) -> tuple[float | None, str]:
    found = _TIME.match(text)
    if not found:
        return None, text
    seconds = 0
    for part in filter(None, found.group(1, 2, 3)):
        seconds = seconds * 60 + int(part)
    return round(seconds + float(f"0.{found[4] or 0}"), 3), text[found.end() :]


def _clock(t: float | None) -> str:
    """Return a time as `@M:SS.mmm` or `@H:MM:SS.mmm`, without trailing zeros; "" for None."""
    if t is None:
        return ""
    seconds, ms = divmod(round(t * 1000), 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"@{clock}.{ms:03}".rstrip("0").rstrip(".") if ms else f"@{clock}"

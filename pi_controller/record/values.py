"""Tokens of a line: numbers, true, false, null and words bare, everything else as JSON.

`put` and `take` are each other's inverse, and so are `put_text` and `take_text` for free text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, NoReturn, cast

from pi_controller.games.wording import shown, unseen
from pi_controller.record.model import RecordError

if TYPE_CHECKING:
    from pi_controller.games.base import Json

_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")
_CONSTANTS: dict[str, Json] = {"true": True, "false": False, "null": None}
_BARE = re.compile(r"[^\W\d][\w'-]*")
_KEY = re.compile(r"([^\W\d]\w*(?:\.\w+)*)=")
_TAG = re.compile(r"\[([^\W\d]\w*)\](?=[\s;]|$)")
_TOKEN = re.compile(r"[^\s;]+")
_SPACE = re.compile(r"\s*")
_CONTROL = re.compile(r"[\x00-\x08\n-\x1f\x7f-\x9f]")
_LONGEST_NUMBER = 30
ARROW = "->"
MOST_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Token:
    """One item of a line: `key=value`, a bare word, a quoted value, or `[tag]`. `word` is a bare one's text."""

    value: Json
    key: str = ""
    word: str = ""
    tag: str = ""


def scan(text: str) -> tuple[list[Token], str]:
    """Return the items of a line and the comment behind its `;`. Raises `RecordError`."""
    tokens: list[Token] = []
    at = 0
    while True:
        at = _end(_SPACE, text, at)
        if at == len(text):
            return tokens, ""
        if text[at] == ";":
            return tokens, take_text(text[at + 1 :])
        if tag := _TAG.match(text, at):
            tokens.append(Token(None, tag=tag[1]))
            at = tag.end()
            continue
        key = ""
        if named := _KEY.match(text, at):
            key, at = named[1], named.end()
        if len(tokens) == MOST_TOKENS:
            raise RecordError(f"more than {MOST_TOKENS} words in one line")
        word = ""
        if text[at : at + 1] in ('"', "[", "{"):
            value, at = _json(text, at)
        else:
            found = _TOKEN.match(text, at)
            if not found:
                raise RecordError(f"{key}= has no value")
            word, at = found[0], found.end()
            value = take(word)
        tokens.append(Token(value, key, word))


def take(word: str) -> Json:
    """Return the value of a bare word."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if not _NUMBER.fullmatch(word):
        return word
    number = json.loads(_plain(word))
    return number if isfinite(number) else word


def put(value: Json) -> str:
    """Return the text that reads as `value`."""
    if isinstance(value, str) and _BARE.fullmatch(value) and value not in _CONSTANTS:
        return value
    return quoted(value)


def quoted(value: Json) -> str:
    """Return `value` as JSON, in plain Unicode but for what nobody sees."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # JSON leaves the controls from 7f on as they are, and all that turns directions
    return "".join(json.dumps(char)[1:-1] if unseen(char) else char for char in text)


def take_text(raw: str) -> str:
    """Return a free text: as it stands without the space around it, or what a quoted one says."""
    text = raw.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            value = _DECODER.decode(text)
        except ValueError:
            return text
        if isinstance(value, str):
            return value
    return text


def put_text(text: str, *, quote: bool = False) -> str:
    """Return the text that `take_text` reads as `text`: itself, or quoted where it could not stand in a line."""
    if not quote and not any(map(unseen, text)) and take_text(text) == text:
        return text
    return quoted(text)


def without_controls(line: str) -> str:
    """Return `line` without its control characters; tabs stay."""
    return _CONTROL.sub("", line)


def same(a: Json, b: Json) -> bool:
    """Return whether two values are the same to JSON, which tells true, 1 and 1.0 apart."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def decode_object(text: str) -> dict[str, Json]:
    """Return the JSON object that `text` is; raises `RecordError`."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {shown(text)}") from error
    if not isinstance(value, dict):
        raise RecordError(f"an action is an object, not {shown(value)}")
    return cast("dict[str, Json]", value)


def _json(text: str, at: int) -> tuple[Json, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{shown(text[at : at + 60])} is no value") from error
    if end < len(text) and not text[end].isspace() and text[end] != ";":
        raise RecordError(f"{shown(text[end : end + 60])} stands where a space should")
    return value, end


def _plain(number: str) -> str:
    """Return a number as JSON has it: without leading zeros."""
    return re.sub(r"^(-?)0+(?=[0-9])", r"\1", number)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError("a huge number")
    return int(digits)


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_whole)

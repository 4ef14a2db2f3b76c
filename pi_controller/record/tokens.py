"""Tokens of a line: numbers, true, false, null and words bare, everything else as JSON.

`format_token` and `parse_token` are inverse functions, and so are `format_text` and `parse_text` for free text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import isfinite
from typing import NoReturn

from pi_controller.record.model import RecordError
from pi_controller.rules.base import Json
from pi_controller.text import format_value, is_invisible

_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")
_CONSTANTS: dict[str, Json] = {"true": True, "false": False, "null": None}
_BARE = re.compile(r"[^\W\d][\w'-]*")
_KEY = re.compile(r"([^\W\d]\w*(?:\.\w+)*)=")
_TAG = re.compile(r"\[([^\W\d]\w*)\](?=[\s;]|$)")
_TOKEN = re.compile(r"[^\s;]+")
_SPACE = re.compile(r"\s*")
_CONTROL = re.compile(r"[\x00-\x08\n-\x1f\x7f-\x9f]")
_MAX_NUMBER_CHARS = 30
ARROW = "->"
MAX_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Token:
    """One item of a line: `key=value`, a bare word, a quoted value, or `[tag]`. `word` is the text of a bare word."""

    value: Json
    key: str = ""
    word: str = ""
    tag: str = ""


def scan(text: str) -> tuple[list[Token], str]:
    """Return the items of a line and the comment after its `;`. Raises `RecordError`."""
    tokens: list[Token] = []
    at = 0
    while True:
        at = _end(_SPACE, text, at)
        if at == len(text):
            return tokens, ""
        if text[at] == ";":
            return tokens, parse_text(text[at + 1 :])
        if tag := _TAG.match(text, at):
            tokens.append(Token(None, tag=tag[1]))
            at = tag.end()
            continue
        key = ""
        if named := _KEY.match(text, at):
            key, at = named[1], named.end()
        if len(tokens) == MAX_TOKENS:
            raise RecordError(f"more than {MAX_TOKENS} words in one line")
        word = ""
        if text[at : at + 1] in ('"', "[", "{"):
            value, at = _json(text, at)
        else:
            found = _TOKEN.match(text, at)
            if not found:
                raise RecordError(f"{key}= has no value")
            word, at = found[0], found.end()
            value = parse_token(word)
        tokens.append(Token(value, key, word))


def parse_token(word: str) -> Json:
    """Return the value of a bare word."""
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if not _NUMBER.fullmatch(word):
        return word
    number = json.loads(_plain(word))
    return number if isfinite(number) else word


def format_token(value: Json) -> str:
    """Return the text that is read as `value`."""
    if isinstance(value, str) and _BARE.fullmatch(value) and value not in _CONSTANTS:
        return value
    return to_json(value)


def to_json(value: Json) -> str:
    """Return `value` as JSON, in plain Unicode except for invisible characters."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # JSON does not escape controls from 7f on, nor characters that change the text direction
    return "".join(json.dumps(char)[1:-1] if is_invisible(char) else char for char in text)


def parse_text(raw: str) -> str:
    """Parse a free text: stripped, and unquoted if it is quoted."""
    text = raw.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            value = _DECODER.decode(text)
        except ValueError:
            return text
        if isinstance(value, str):
            return value
    return text


def format_text(text: str, *, quote: bool = False) -> str:
    """Return the text that `parse_text` reads as `text`, quoted only if necessary."""
    if not quote and not any(map(is_invisible, text)) and parse_text(text) == text:
        return text
    return to_json(text)


def remove_controls(line: str) -> str:
    """Return `line` without its control characters; tabs are kept."""
    return _CONTROL.sub("", line)


def is_same_json(a: Json, b: Json) -> bool:
    """Return True if two values are equal as JSON, in which true, 1 and 1.0 differ."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _json(text: str, at: int) -> tuple[Json, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{format_value(text[at : at + 60])} is not a value") from error
    if end < len(text) and not text[end].isspace() and text[end] != ";":
        raise RecordError(f"{format_value(text[end : end + 60])}: expected a space before it")
    return value, end


def _plain(number: str) -> str:
    return re.sub(r"^(-?)0+(?=[0-9])", r"\1", number)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _whole(digits: str) -> int:
    if len(digits) > _MAX_NUMBER_CHARS:
        raise ValueError("a number that is too large")
    return int(digits)


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_whole)

"""The short human form of actions, read and written by the forms that each game defines (`Game.forms`).

`hit missed 2`, or `missed 2`, is `hit found=false pad=2`. An action that does not fit its form, or has none, is written
with keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import NoReturn, cast

from pi_controller.record.model import RecordError
from pi_controller.rules import registry
from pi_controller.rules.base import Action, FormPlace, Forms, Json
from pi_controller.text import format_value, is_invisible, join_words

# Tokens of a line: numbers, true, false, null and words bare, everything else as JSON.
#
# `format_token` and `parse_token` are inverse functions, and so are `format_text` and `parse_text` for free text.

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


def decode_object(text: str) -> dict[str, Json]:
    """Return the JSON object in `text`. Raises `RecordError`."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {format_value(text)}") from error
    if not isinstance(value, dict):
        raise RecordError(f"an action is an object, not {format_value(value)}")
    return cast("dict[str, Json]", value)


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


def _read(place: FormPlace, token: Token) -> Json:
    """Return the value of `token` in `place`. Raises `RecordError`."""
    for word in (token.word, token.word.lower()):
        if place.words and word and word in place.words:
            return place.words[word]
    if place.listing and token.word:
        return [parse_token(part) for part in token.word.split(",")]
    return token.value


def _write(place: FormPlace, value: Json) -> str:
    for word, meant in (place.words or {}).items():
        if is_same_json(meant, value):
            return word
    if place.listing and isinstance(value, list) and value:
        return ",".join(map(format_token, cast("list[Json]", value)))
    return format_token(value)


def forms(game: str) -> Forms:
    """Return the forms of the game `game`, or {} if there is no such game."""
    return registry.game_class(game).forms if game in registry.names() else {}


def find_verb(game: str, word: str) -> str:
    """Return the verb of an action whose line begins with `word`: another one if `word` begins only its first part."""
    known, word = forms(game), word.lower()
    if word in known:
        return word
    found = [do for do, places in known.items() if places and _can_begin(places, word)]
    return found[0] if len(found) == 1 else word


def _can_begin(places: Sequence[FormPlace], word: str) -> bool:
    return word in (places[0].words or {}) if not places[0].label else _read_letters(places, word) is not None


def _read_letters(places: Sequence[FormPlace], word: str) -> dict[str, int] | None:
    """Return the counts of all `places` by path, if `word` has a letter for each piece, or is 0; else None."""
    typed = "" if word == "0" else word
    counts = {place.path: typed.count(place.label[0]) for place in places if place.most}
    if not counts or sum(counts.values()) != len(typed):
        return None
    return counts if all(counts.get(place.path, 1) <= place.most for place in places) else None


def parse_action(game: str, tokens: Iterable[Token]) -> dict[str, Json]:
    """Return the action written as the items of a line, whose first item is its word. Raises `RecordError`."""
    items = iter(tokens)
    first = next(items, None)
    if first is None or not first.word or first.key:
        raise RecordError("there is no action in the line")
    do = find_verb(game, first.word)
    if do != first.word.lower():
        items = chain([first], items)
    action: dict[str, Json] = {"do": do}
    places = list(forms(game).get(do, ()))
    for token in items:
        if token.tag:
            raise RecordError(f"[{token.tag}] must come after the action")
        taken = {token.key: token.value} if token.key else _take(places, token, items)
        if taken is None:
            raise RecordError(
                f"{do} does not take {format_value(token.value)}", f"keys are written key=value: {join_words(action)}"
            )
        for path, value in taken.items():
            _set(action, path, value)
    return action


def _take(places: list[FormPlace], token: Token, items: Iterator[Token]) -> Mapping[str, Json] | None:
    """Remove the `places` up to those that `token` fills; return their values by path, None without such a place.

    The value after a label is taken from `items`. Raises `RecordError`.
    """
    word = token.word.lower()
    labelled = next((n for n, place in enumerate(places) if place.label and place.label.lower() == word), None)
    if labelled is not None:
        place = places[labelled]
        del places[: labelled + 1]
        value = next(items, None)
        if value is None or value.key or value.tag:
            raise RecordError(f"there is no value after {place.label}")
        return {place.path: _read(place, value)}
    if word and (counts := _read_letters(places, word)) is not None:
        places.clear()
        return counts
    while places and not places[0].label and places[0].closed and word not in (places[0].words or {}):
        del places[0]
    if not places or places[0].label:
        return None
    place = places.pop(0)
    return {place.path: _read(place, token)}


def format_action(game: str, action: Action) -> str:
    """Return the line for `action`: in its game's short form, with keys for all values that the form does not cover."""
    short = _with_form(game, action)
    try:
        if is_same_json(parse_action(game, scan(short)[0]), action):
            return short
    except RecordError:
        pass  # a name that looks like something else
    return " ".join(
        (format_token(action["do"]), *(_format_key(key, value) for key, value in action.items() if key != "do"))
    )


def _with_form(game: str, action: Action) -> str:
    parts = [str(action["do"])]
    left = _flat(action)
    left.pop("do")
    for place in forms(game).get(str(action["do"]), ()):
        if place.path not in left:
            if place.label or place.closed:
                continue
            break  # the next value would be read in its place
        if place.closed and not any(is_same_json(meant, left[place.path]) for meant in (place.words or {}).values()):
            continue
        text = _write(place, left.pop(place.path))
        parts += [place.label, text] if place.label else [text]
    return " ".join((*parts, *(_format_key(key, value) for key, value in left.items())))


def _format_key(key: str, value: Json) -> str:
    return (
        f"{key}={format_token(value)}"
        if isinstance(value, str | int | float | bool | None)
        else f"{key}={to_json(value)}"
    )


def _flat(action: Action) -> dict[str, Json]:
    """Return the action with nested objects flattened by one level: `red.woman`."""
    flat: dict[str, Json] = {}
    for key, value in action.items():
        if isinstance(value, Mapping) and value:
            inner = cast("Mapping[str, Json]", value)
            flat |= {f"{key}.{part}": held for part, held in inner.items()}
        else:
            flat[key] = value
    return flat


def _set(action: dict[str, Json], path: str, value: Json) -> None:
    *outer, key = path.split(".")
    if len(outer) > 1:
        raise RecordError(f"{format_value(path)} is nested too deeply")
    target = action
    for name in outer:
        inner: Json = target.setdefault(name, {})
        if not isinstance(inner, dict):
            raise RecordError(f"{path} does not fit {name}")
        target = cast("dict[str, Json]", inner)
    if key in target:
        raise RecordError(f"{path} comes twice")
    target[key] = value

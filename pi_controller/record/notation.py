"""The short human form of actions, read and written by the forms that each game defines (`Game.forms`).

`hit missed 2`, or `missed 2`, is `hit found=false pad=2`. An action that does not fit its form, or has none, is written
with keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import cast

from pi_controller.record.model import RecordError
from pi_controller.record.tokens import Token, format_token, is_same_json, parse_token, scan, to_json
from pi_controller.rules import registry
from pi_controller.rules.base import Action, FormPlace, Forms, Json
from pi_controller.text import format_value, join_words


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

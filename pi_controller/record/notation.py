"""The short human form of actions, read and written by the forms that each game gives (`Game.forms`).

`hit missed 2` is `hit found=false pad=2`. An action that does not fit its form, or has none, is written with keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from pi_controller.games import registry
from pi_controller.games.wording import listed, shown
from pi_controller.record.model import RecordError
from pi_controller.record.values import Token, put, quoted, same, scan, take

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.games.base import Action, Json
    from pi_controller.games.forms import Forms, Place


def _read(place: Place, token: Token) -> Json:
    """Return the value that `token` gives in `place`, or raise `RecordError`."""
    for word in (token.word, token.word.lower()):
        if place.words and word and word in place.words:
            return place.words[word]
    if place.listing and token.word:
        return [take(part) for part in token.word.split(",")]
    return token.value


def _fits(place: Place, token: Token) -> bool:
    """Return whether `token` can stand in `place`."""
    return not place.closed or bool(place.words and token.word.lower() in place.words)


def _write(place: Place, value: Json) -> str:
    """Return the text for `value` in `place`."""
    for word, meant in (place.words or {}).items():
        if same(meant, value):
            return word
    if place.listing and isinstance(value, list) and value:
        return ",".join(map(put, cast("list[Json]", value)))
    return put(value)


def forms(game: str) -> Forms:
    """Return the forms of the game `game`; none where there is no such game."""
    return registry.kind(game).forms if game in registry.names() else {}


def current(game: str, action: Action) -> dict[str, Json]:
    """Return what is said of `game`, perhaps by an older version, in the words of this one (`Game.current`)."""
    return dict(registry.kind(game).current(action) if game in registry.names() else action)


def parse_action(game: str, tokens: Iterable[Token]) -> dict[str, Json]:
    """Return the action that the items of a line say, the first being its word. Raises `RecordError`.

    Older words are read (`Game.current`).
    """
    items = iter(tokens)
    first = next(items, None)
    if first is None or not first.word or first.key:
        raise RecordError("there is no action in the line")
    action = current(game, {"do": first.word.lower()})
    do = str(action["do"])
    places = list(forms(game).get(do, ()))
    for token in items:
        if token.tag:
            raise RecordError(f"[{token.tag}] stands in the middle of the action")
        if token.key:
            _set(action, token.key, token.value)
            continue
        ahead = next(
            (n for n, place in enumerate(places) if place.label and place.label.lower() == token.word.lower()), None
        )
        if ahead is not None:
            place = places[ahead]
            del places[: ahead + 1]
            value = next(items, None)
            if value is None or value.key or value.tag:
                raise RecordError(f"nothing stands behind {place.label}")
            _set(action, place.path, _read(place, value))
            continue
        while places and not places[0].label and not _fits(places[0], token):
            del places[0]
        if not places or places[0].label:
            raise RecordError(
                f"{do} does not take {shown(token.value)}", f"keys are written key=value: {listed(action)}"
            )
        place = places.pop(0)
        _set(action, place.path, _read(place, token))
    return current(game, action)


def spoken(game: str, action: Action) -> str:
    """Return the line that says `action`: in its game's short form, and with keys whatever that leaves over."""
    action = current(game, action)
    short = _with_form(game, action)
    try:
        if same(parse_action(game, scan(short)[0]), action):
            return short
    except RecordError:
        pass  # a name that looks like something else
    return " ".join((put(action["do"]), *(_keyed(key, value) for key, value in action.items() if key != "do")))


def _with_form(game: str, action: Action) -> str:
    parts = [str(action["do"])]
    left = _flat(action)
    left.pop("do")
    for place in forms(game).get(str(action["do"]), ()):
        if place.path not in left:
            if place.label or place.closed:
                continue
            break  # what follows would stand in its place
        if place.closed and not any(same(meant, left[place.path]) for meant in (place.words or {}).values()):
            continue
        text = _write(place, left.pop(place.path))
        parts += [place.label, text] if place.label else [text]
    return " ".join((*parts, *(_keyed(key, value) for key, value in left.items())))


def _keyed(key: str, value: Json) -> str:
    return f"{key}={put(value)}" if isinstance(value, str | int | float | bool | None) else f"{key}={quoted(value)}"


def _flat(action: Action) -> dict[str, Json]:
    """Return the action with objects one level deep laid open: `red.woman`."""
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
        raise RecordError(f"{shown(path)} lies too deep")
    target = action
    for name in outer:
        inner: Json = target.setdefault(name, {})
        if not isinstance(inner, dict):
            raise RecordError(f"{path} does not fit {name}")
        target = cast("dict[str, Json]", inner)
    if key in target:
        raise RecordError(f"{path} comes twice")
    target[key] = value

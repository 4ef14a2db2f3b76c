"""The short human form of each game's actions, as data: which parts of an action stand in a line without their key.

`hit missed 2` is `hit found=false pad=2`. An action that does not fit its form, or has none, is written with keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pi_controller.games import registry
from pi_controller.games.wording import listed, shown
from pi_controller.record.model import RecordError
from pi_controller.record.values import Token, put, quoted, same, scan, take

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.games.base import Action, Json


@dataclass(frozen=True, slots=True)
class Place:
    """One part of an action: its `path` (`red.woman` lies in `red`), and how it is said.

    `words` are what stands for some values, the first for a value being the one written. With a `label`, that word
    comes before the value. A `closed` place takes its words only and may be left out. `listing`: numbers with commas.
    """

    path: str
    label: str = ""
    words: Mapping[str, Json] | None = None
    closed: bool = False
    listing: bool = False

    def read(self, token: Token) -> Json:
        """Return the value that `token` gives, or raise `RecordError`."""
        for word in (token.word, token.word.lower()):
            if self.words and word and word in self.words:
                return self.words[word]
        if self.listing and token.word:
            return [take(part) for part in token.word.split(",")]
        return token.value

    def knows(self, token: Token) -> bool:
        """Return whether `token` can stand here."""
        return not self.closed or bool(self.words and token.word.lower() in self.words)

    def write(self, value: Json) -> str:
        """Return the text for `value`."""
        for word, meant in (self.words or {}).items():
            if same(meant, value):
                return word
        if self.listing and isinstance(value, list) and value:
            return ",".join(map(put, cast("list[Json]", value)))
        return put(value)


_TEAM = {"A": "A", "B": "B", "a": "A", "b": "B"}
_YES = {"yes": True, "no": False}
_FOUND = {"found": True, "missed": False, "find": True, "miss": False}
_NONE = {"-": None}

FORMS: dict[str, dict[str, tuple[Place, ...]]] = {
    "dakota": {
        "toss": (Place("winner", words=_TEAM),),
        "hit": (Place("found", words=_FOUND), Place("pad")),
        "foul": (Place("by"), Place("kind"), Place("hide")),
        "forfeit": (Place("by", words=_TEAM),),
    },
    "ojibwe": {
        "toss": (Place("winner", words=_TEAM),),
        "shoot": (
            Place("opened", "open", {"-": []}, listing=True),
            Place("hit", "hit", _NONE),
            Place("ball", "ball"),
        ),
        "forfeit": (Place("by", words=_TEAM),),
    },
    "slahal": {
        "duel": (Place("A", "A", _YES), Place("B", "B", _YES)),
        "guess": (
            Place("signal"),
            Place("actual"),
            Place("block", words={"block": True}, closed=True),
            Place("mirror", words={"mirror": True}, closed=True),
        ),
        "king_moved": (Place("by", words=_TEAM),),
        "forfeit": (Place("by", words=_TEAM),),
    },
    "bageswin": {
        "throw": tuple(Place(f"red.{piece}", piece) for piece in ("woman", "fish", "knives", "buttons")),
        "forfeit": (Place("by"),),
    },
    "plum_stone": {
        "lot": (Place("first", words=_TEAM),),
        "throw": (Place("moons", "moons"), Place("whites", "whites")),
        "forfeit": (Place("by", words=_TEAM),),
    },
    "patol": {
        "start": (Place("player"), Place("river"), Place("direction")),
        "throw": (Place("marked"),),
        "forfeit": (Place("by"),),
    },
}
"""For each game the parts of its actions in their order."""


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
    places = list(FORMS.get(game, {}).get(do, ()))
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
            _set(action, place.path, place.read(value))
            continue
        while places and not places[0].label and not places[0].knows(token):
            del places[0]
        if not places or places[0].label:
            raise RecordError(
                f"{do} does not take {shown(token.value)}", f"keys are written key=value: {listed(action)}"
            )
        place = places.pop(0)
        _set(action, place.path, place.read(token))
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
    for place in FORMS.get(game, {}).get(str(action["do"]), ()):
        if place.path not in left:
            if place.label or place.closed:
                continue
            break  # what follows would stand in its place
        if place.closed and not any(same(meant, left[place.path]) for meant in (place.words or {}).values()):
            continue
        text = place.write(left.pop(place.path))
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

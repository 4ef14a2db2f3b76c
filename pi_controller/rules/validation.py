"""Validates the fields of an action or a score sheet: each helper returns one value, or raises `InvalidActionError`.

JSON types are strict: true is not a number, 1 is not a truth value, 1.0 is not a whole number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, cast

from pi_controller.rules.base import Action, InvalidActionError, Json
from pi_controller.text import format_value, join_words

W = TypeVar("W", bound=str)
N = TypeVar("N", bound=int)


@dataclass(frozen=True, slots=True)
class Forfeit(Generic[W]):
    """The team or player `by` withdraws, does not show up or is disqualified; every game has this action."""

    by: W


def parse_verb(action: object, words: Sequence[W]) -> W:
    """Return the action's `do`, one of `words`. Raises `InvalidActionError` if `action` is not an object."""
    if not isinstance(action, Mapping):
        raise InvalidActionError(
            "an action is an object, not {action}", "write {form}", action=format_value(action), form='{"do": ...}'
        )
    action = cast("Action", action)
    if "do" not in action:
        raise InvalidActionError('the action has no "do"', "do is one of: {words}", words=join_words(words))
    return parse_choice(action, "do", words)


def check_keys(action: Action, needed: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Check that the action has all `needed` keys, and no others except `do` and the `optional` ones."""
    for key in needed:
        if key not in action:
            raise InvalidActionError('{do} needs "{key}"', do=action["do"], key=key)
    for key in action:
        if key != "do" and key not in needed and key not in optional:
            raise InvalidActionError(
                "{do} has no {key}",
                "it takes: {value}",
                do=action["do"],
                key=format_value(key),
                value=join_words((*needed, *optional)) or "nothing more",
            )


def parse_forfeit(action: Action, sides: Sequence[W]) -> Forfeit[W]:
    """Return the forfeit by one of `sides` that the action describes."""
    check_keys(action, ("by",))
    return Forfeit(parse_choice(action, "by", sides))


def parse_choice(action: Action, key: str, words: Sequence[W]) -> W:
    """Return the value of `key`, one of `words`."""
    value = action[key]
    if isinstance(value, str):
        for known in words:
            if value == known:
                return known
    raise InvalidActionError(
        "{key} cannot be {value}",
        "{key} is one of: {words}",
        key=key,
        value=format_value(value),
        words=join_words(words),
    )


def parse_flag(action: Action, key: str) -> bool:
    """Return the value of `key`, true or false."""
    value = action[key]
    if not isinstance(value, bool):
        raise InvalidActionError(
            "{key} cannot be {value}", "{key} is true or false", key=key, value=format_value(value)
        )
    return value


def parse_whole(action: Action, key: str, low: int, high: int) -> int:
    """Return the value of `key`, a whole number from `low` to `high`."""
    value = action[key]
    if type(value) is not int or not low <= value <= high:
        raise InvalidActionError(
            "{key} cannot be {value}",
            "{key} is a whole number from {low} to {high}",
            key=key,
            value=format_value(value),
            low=low,
            high=high,
        )
    return value


def require(holds: object, message: str, /, **values: object) -> None:
    """Raise `InvalidActionError` with `message`, whose places `values` fill, unless it `holds`."""
    if not holds:
        raise InvalidActionError(message, "correct it and set the table again", **values)


def parse_object(value: object, needed: Sequence[str], follow: Sequence[str] = (), path: str = "") -> Action:
    """Return a score sheet, or the object at `path` in one, after checking its keys.

    All `needed` ones must be there, and no others except those that `follow` from them.
    """
    name = path or "a score sheet"
    if not isinstance(value, Mapping):
        raise InvalidActionError(
            "{name} is an object with {keys}, not {value}",
            name=name,
            keys=join_words(needed),
            value=format_value(value),
        )
    for key in needed:
        require(key in value, "{key} is missing", key=".".join(filter(None, (path, key))))
    for key in cast("Mapping[object, Json]", value):
        known = key in needed or key in follow
        require(known, "there is no {key} in {name}", key=format_value(key), name=name)
    return cast("Action", value)


def parse_rows(sheet: Action, key: str, count: int, needed: Sequence[str], follow: Sequence[str]) -> list[Action]:
    """Return the objects in the list under `key`, which has `count` of them; their keys as in `parse_object`."""
    value = sheet[key]
    rows = list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else []
    if len(rows) != count:
        raise InvalidActionError("{key} is a list of {count}, in their order", key=key, count=count)
    return [parse_object(row, needed, follow, f"{key}.{n}") for n, row in enumerate(rows)]


def parse_counts(sheet: Action, key: str, names: Sequence[str], most: int) -> tuple[int, ...]:
    """Return the whole numbers from 0 to `most` under `names` in the object under `key`."""
    part = parse_object(sheet[key], names, path=key)
    return tuple(parse_whole({f"{key}.{name}": part[name]}, f"{key}.{name}", 0, most) for name in names)


def parse_choice_or_null(sheet: Action, key: str, words: Sequence[W]) -> W | None:
    """Return the value of `key`, one of `words`, or None for null."""
    return None if sheet[key] is None else parse_choice(sheet, key, words)


def parse_whole_or_null(sheet: Action, key: str, among: Collection[N]) -> N | None:
    """Return the value of `key`, one of the numbers `among`, or None for null."""
    value = sheet[key]
    if value is not None and (type(value) is not int or value not in among):
        words = join_words(map(str, sorted(among)))
        raise InvalidActionError(
            "{key} is {words} or null, not {value}", key=key, words=words, value=format_value(value)
        )
    return cast("N | None", value)


def parse_finish(sheet: Action, winner: str | None) -> Literal["forfeit"] | None:
    """Return the `finish` of a game that ends by play or by a forfeit, which has a `winner`."""
    finish = parse_choice_or_null(sheet, "finish", ("forfeit",))
    require(finish is None or winner, "a forfeit ends the game: winner is the side that won by it")
    return finish


def check_sum(total: int, counts: Iterable[int], what: str) -> None:
    """Check that `counts`, described by `what`, add up to `total`."""
    found = sum(counts)
    require(found == total, "{what} add up to {found}, not {total}", what=what, found=found, total=total)


def check_winner(winner: str | None, points: Mapping[W, int], most: int, *, forfeit: bool) -> None:
    """Check that by play the team with `most` points has won, and that by a `forfeit` no team has them."""
    for team, count in points.items():
        holds = count != most if forfeit else (count == most) == (team == winner)
        require(holds, "{team} has {count} short sticks, and {most} win", team=team, count=count, most=most)


def check_derived(sheet: Action, own: Mapping[str, Json], keys: Sequence[str]) -> None:
    """Check that the values of `keys` on `sheet`, if it has them, are those of the state's `own` sheet."""
    for key in keys:
        stated = sheet.get(key, own[key])
        require(
            stated == own[key],
            "{key} is derived from the rest: it is {own}, not {stated}",
            key=key,
            own=format_value(own[key]),
            stated=format_value(stated),
        )

"""Validates the fields of an action: each helper returns one value, or raises `InvalidActionError`.

JSON types are strict: true is not a number, 1 is not a truth value, 1.0 is not a whole number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from pi_controller.rules.base import Action, InvalidActionError
from pi_controller.text import format_value, join_words

W = TypeVar("W", bound=str)


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

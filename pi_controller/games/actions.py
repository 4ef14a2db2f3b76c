"""Validates the fields of an action: each helper returns one value, or raises `InvalidActionError`.

JSON's kinds are kept apart: true is no number, 1 is no truth, 1.0 is no whole number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from pi_controller.games.base import Action, InvalidActionError
from pi_controller.games.wording import listed, shown

W = TypeVar("W", bound=str)


@dataclass(frozen=True, slots=True)
class Forfeit(Generic[W]):
    """The team or player `by` withdraws, does not come or is disqualified; every game takes this action."""

    by: W


def word(action: object, words: Sequence[W]) -> W:
    """Return the action's `do`, one of `words`."""
    if not isinstance(action, Mapping):
        raise InvalidActionError(f"an action is an object, not {shown(action)}", 'write {"do": ...}')
    action = cast("Action", action)
    if "do" not in action:
        raise InvalidActionError('the action has no "do"', f"do is one of: {listed(words)}")
    return choice(action, "do", words)


def only(action: Action, needed: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Check that the action has all the keys `needed`, and beside them and `do` none but `optional`."""
    for key in needed:
        if key not in action:
            raise InvalidActionError(f'{action["do"]} needs "{key}"')
    for key in action:
        if key != "do" and key not in needed and key not in optional:
            raise InvalidActionError(
                f"{action['do']} has no {shown(key)}", f"it takes: {listed((*needed, *optional)) or 'nothing more'}"
            )


def forfeit(action: Action, sides: Sequence[W]) -> Forfeit[W]:
    """Return the forfeit that the action says, by one of `sides`."""
    only(action, ("by",))
    return Forfeit(choice(action, "by", sides))


def choice(action: Action, key: str, words: Sequence[W]) -> W:
    """Return the value of `key`, one of `words`."""
    value = action[key]
    if isinstance(value, str):
        for known in words:
            if value == known:
                return known
    raise InvalidActionError(f"{key} cannot be {shown(value)}", f"{key} is one of: {listed(words)}")


def flag(action: Action, key: str) -> bool:
    """Return the value of `key`, true or false."""
    value = action[key]
    if not isinstance(value, bool):
        raise InvalidActionError(f"{key} cannot be {shown(value)}", f"{key} is true or false")
    return value


def letters(words: Sequence[str], pieces: Mapping[str, tuple[str, int]]) -> dict[str, int] | None:
    """Return how many of each piece show what a throw counts by, said by one word of a letter a piece; 0 for none.

    `pieces` are the score sheet's name and how many there are, by the letter. None where `words` say no throw.
    """
    if len(words) != 1:
        return None
    letters_typed = words[0].lower()
    shown = {name: letters_typed.count(letter) for letter, (name, _) in pieces.items()}
    if letters_typed != "0" and sum(shown.values()) != len(letters_typed):
        return None
    return None if any(shown[name] > count for name, count in pieces.values()) else shown


def whole(action: Action, key: str, low: int, high: int) -> int:
    """Return the value of `key`, a whole number from `low` to `high`."""
    value = action[key]
    if type(value) is not int or not low <= value <= high:
        raise InvalidActionError(f"{key} cannot be {shown(value)}", f"{key} is a whole number from {low} to {high}")
    return value

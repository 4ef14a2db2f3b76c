"""The score sheet as a form: one field for each of its values, named and with the choices it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_controller.games.registry import kind
from pi_controller.show.game_show import player_rows
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import player_name
from pi_controller.show.words import plain
from pi_controller.web.game_page import page_of

if TYPE_CHECKING:
    from pi_controller.table.view import View


class Field(msgspec.Struct, frozen=True):
    """One value of the sheet at `path`. `choices` are [value, label] pairs; without them it is a whole number.

    `fixed` says that it is a name that is told and cannot be set.
    """

    path: tuple[str | int, ...]
    label: str
    value: Any
    choices: tuple[tuple[Any, str], ...] = ()
    fixed: bool = False


_SIDES = {"hider", "hiding", "winner", "thrower", "king"}
_OF_ONE_OF = {"name", "player"}


def fields(view: View, language: str = "en") -> tuple[Field, ...]:
    """Return the fields of the sheet that `view` shows."""
    return tuple(_of(view, view.sheet, (), language))


def _of(view: View, part: Any, path: tuple[str | int, ...], language: str) -> list[Field]:
    if isinstance(part, dict):
        return [field for key, value in part.items() for field in _of(view, value, (*path, key), language)]
    if isinstance(part, list | tuple):
        return [field for i, value in enumerate(part) for field in _of(view, value, (*path, i), language)]
    return [_field(view, part, path, language)]


def _field(view: View, value: Any, path: tuple[str | int, ...], language: str) -> Field:
    text = catalogue(language).gettext
    key = next(str(step) for step in reversed(path) if isinstance(step, str) and step not in {"A", "B"})
    label = _label(view, path)
    if key in _OF_ONE_OF:
        return Field(path, label, value, fixed=True)
    words: tuple[Any, ...]
    if isinstance(value, bool):
        words = (True, False)
    elif key in _SIDES:
        words = (None, *(player_rows(view.sheet) or "AB"))
    elif key == "finish":
        words = (None, *kind(view.game).finishes)
    else:
        words = page_of(view).choices.get(key, ())
    if not words:
        return Field(path, label, value)
    labels = {None: text("none"), True: text("yes"), False: text("no")}
    named = tuple(
        (
            one,
            labels[one]
            if one is None or isinstance(one, bool)
            else player_name(view, one)
            if key in _SIDES
            else plain(str(one)),
        )
        for one in words
    )
    return Field(path, label, value, named)


def _label(view: View, path: tuple[str | int, ...]) -> str:
    """Return a path as words: `Long: Big Coulee`, `Players 2: sticks`."""
    first, *rest = path
    label = plain(str(first))
    for step in rest:
        if isinstance(step, int):
            label += f" {step + 1}"
        elif step in {"A", "B"}:
            label += f": {player_name(view, step)}"
        else:
            label += f": {plain(step).lower()}"
    return label

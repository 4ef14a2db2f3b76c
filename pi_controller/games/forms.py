"""The short human form of an action as data: which parts of it stand in a line without their key, in which order.

A game gives the forms of its actions (`Game.forms`); lines are read and written by `record.notation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_controller.games.base import Json


@dataclass(frozen=True, slots=True)
class Place:
    """One part of an action: its `path` (`red.woman` lies in `red`), and how it is said.

    `words` are what stands for some values, the first for a value being the one written. With a `label`, that word
    comes before the value. A `closed` place takes its words only and may be left out. `listing`: numbers with commas.
    `asks` is what is to be said there, for who left it out.
    """

    path: str
    label: str = ""
    words: Mapping[str, Json] | None = None
    closed: bool = False
    listing: bool = False
    asks: str = ""


Forms = Mapping[str, tuple[Place, ...]]
"""For each word of a game the parts of its action in their order."""
TEAM: Mapping[str, Json] = {"A": "A", "B": "B", "a": "A", "b": "B"}
YES: Mapping[str, Json] = {"yes": True, "no": False}
FOUND: Mapping[str, Json] = {"found": True, "missed": False, "find": True, "miss": False}
NONE: Mapping[str, Json] = {"-": None}

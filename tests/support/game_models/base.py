"""What the models of the games share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from random import Random

OTHER = {"A": "B", "B": "A", None: None}
FORFEITS = [{"do": "forfeit", "by": team} for team in "AB"]


def need(allowed: Any) -> None:
    """Raise `PermissionError`, a model's word for an illegal action."""
    if not allowed:
        raise PermissionError


class Model:
    """The rules of a game in the order in which the page has them. A state is a plain object and is never changed.

    `play` raises `PermissionError` for an illegal action and `ValueError` for an invalid one.
    """

    options: ClassVar[dict[str, tuple[Any, ...]]]
    """The values that are tried of each option, the default first."""
    bounds: ClassVar[dict[str, tuple[int, int]]] = {}
    """The least and the greatest value of the options that are numbers, or lists of names."""
    invalid: ClassVar[list[Any]] = []
    """What is no action of this game although each of its keys has a value of the right type."""
    distinct: ClassVar[bool] = True
    """Whether any two legal actions differ in what they come to."""

    def __init__(self, **chosen: Any) -> None:
        self.o = {name: values[0] for name, values in self.options.items()} | chosen

    def opening(self) -> dict[str, Any]:
        """Return the state before anything has happened."""
        raise NotImplementedError

    def kinds(self) -> list[tuple[float, list[dict[str, Any]]]]:
        """Return (how often it is tried, actions); all of them together are every action of the game."""
        raise NotImplementedError

    def act(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        """Change `s` by `action` and call the words."""
        raise NotImplementedError

    def sheet(self, s: dict[str, Any]) -> dict[str, Any]:
        """Return the score sheet."""
        return s

    def jump(self, chance: Random, s: dict[str, Any]) -> dict[str, Any] | None:
        """Return a state that play seldom comes to, or None: the game is set to it."""
        return None

    def play(self, before: dict[str, Any], action: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the state after `action`, and the words called."""
        s, calls = json.loads(json.dumps(before)), []
        self.act(s, action, calls)
        return s, calls

    def forfeit(self, s: dict[str, Any], action: dict[str, Any], calls: list[str]) -> None:
        """Of two teams the other has won."""
        need(not s["winner"])
        s |= {"winner": OTHER[action["by"]], "finish": "forfeit"}
        calls += ["forfeit", "game"]

"""A table without its daemon: somebody sits down at a journal, and hides the bead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.referee.selection import referee_for
from pi_controller.rules import registry
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut
from pi_controller.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

TEAMS = {"A": "Red", "B": "Blue"}


def sit(
    journal: Any, game: Any = "dakota", options: Any = None, teams: Mapping[str, str] = TEAMS, t: float = 0.0
) -> Table:
    """Return a table at `journal` with a game, given by its name and options, whose seals are all alike."""
    rules = registry.game(game, options or {}) if isinstance(game, str) else game
    return Table(journal, rules, teams, referee_for(rules, None, bytes), t)


def hide(table: Table, pad: int, t: float = 3.0) -> None:
    """Pass a hand under each pad, and press ready a second before `t`, with the bead under `pad`."""
    for p in (1, 2, 3, 4):
        table.mat_event(HandIn(t - 2.0, p))
        table.mat_event(HandOut(t - 2.0, p))
    table.mat_event(BeadsAtRest(t - 1.0, (Bead(pad),)))
    table.mat_event(Button(t - 1.0, "ready"))

"""The tables of the games that are told by their score sheet: a view in, HTML out, for page and script alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.web.games import bageswin, ojibwe, patol, plum_stone, slahal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_controller.table.view import View

TABLES: Mapping[str, Callable[[View, str], str]] = {
    "ojibwe": ojibwe.table,
    "slahal": slahal.table,
    "bageswin": bageswin.table,
    "plum_stone": plum_stone.table,
    "patol": patol.table,
}
"""How each game's table is made, from the view and the language."""

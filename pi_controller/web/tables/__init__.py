"""The tables of the games that are told by their score sheet: a view in, HTML out, for page and script alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.web.tables import bowl, ojibwe, patol, slahal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_controller.table.view import View

TABLES: Mapping[str, Callable[[View, str], str]] = {
    "ojibwe": ojibwe.table,
    "slahal": slahal.table,
    "bageswin": bowl.bageswin,
    "plum_stone": bowl.plum_stone,
    "patol": patol.table,
}
"""How each game's table is made, from the view and the language."""

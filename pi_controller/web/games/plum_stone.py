"""The plum stone game on the page: the counters of each player and the pile, and the last throw.

A stroke is a share of all counters there are, a twentieth of them, so any number fits; the numbers are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.show.i18n import catalogue
from pi_controller.show.paint import share
from pi_controller.web.markup import bowl_value, head, middle, strokes, team

if TYPE_CHECKING:
    from pi_controller.table.view import View

_STROKES = 20


def table(view: View, language: str) -> str:
    """Return the plum stone game as HTML: the counters of each player and the pile, and the last throw."""
    text, sheet = catalogue(language).gettext, view.sheet
    total = sheet["pile"] + sum(sheet["counters"].values())
    sections: dict[str, str] = {}
    for letter in "AB":
        held = sheet["counters"][letter]
        inside = head(view, letter, None, "", language)
        inside += strokes("long", share(held, total, _STROKES), _STROKES) + f'<p class="count">{held}</p>'
        sections[letter] = team(view, letter, sheet["thrower"], inside)
    pile = strokes("long", share(sheet["pile"], total, _STROKES), _STROKES) + f'<p class="count">{sheet["pile"]}</p>'
    return (
        f"{sections['A']}{middle(text('In the pile'), pile)}{sections['B']}"
        f'<section class="tossed"><div class="bowl">{bowl_value(sheet["value"], text("last throw"))}</div></section>'
    )

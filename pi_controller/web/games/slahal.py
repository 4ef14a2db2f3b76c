"""Slahal on the page: each team's live and dead sticks, who holds the king stick, and which pairs of bones are out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.slahal_state import ALL_DEAD, PER_TEAM
from pi_controller.show.i18n import catalogue
from pi_controller.web.markup import chip, head, middle, safe, strokes, team

if TYPE_CHECKING:
    from pi_controller.table.view import View

# two bones side by side, the marked one with its band; which hand holds which is nowhere known
_PAIR = (
    '<svg class="pair {state}" viewBox="0 0 64 46" aria-hidden="true"><rect class="bone" x="4" y="4" width="56" '
    'height="16" rx="8"/><rect class="bone" x="4" y="26" width="56" height="16" rx="8"/>'
    '<rect class="band" x="25" y="26" width="14" height="16"/></svg>'
)


def table(view: View, language: str) -> str:
    """Return the table as HTML."""
    text, sheet = catalogue(language).gettext, view.sheet
    sections: dict[str, str] = {}
    for letter in "AB":
        king = chip(text("king stick") if sheet["king"] == letter else "")
        heaps = "".join(
            f'<div class="heap {kind}"><p class="label">{safe(said)}</p>{strokes(kind, sheet[kind][letter], of)}'
            f"<b>{sheet[kind][letter]}</b></div>"
            for kind, said, of in (("live", text("live"), PER_TEAM), ("dead", text("dead"), ALL_DEAD))
        )
        inside = head(view, letter, (sheet["sticks"][letter], text("sticks")), king, language)
        sections[letter] = team(view, letter, sheet["hiding"], f'{inside}<div class="heaps">{heaps}</div>')
    out = sheet["pairs_out"] or 0
    caught = 2 - out if sheet["pairs_out"] else 0
    bones = _PAIR.format(state="out") * out + _PAIR.format(state="caught") * caught
    said = {0: text("not yet"), 1: text("one pair, one caught"), 2: text("two pairs")}[out]
    king = chip(text("king stick not won yet")) if sheet["king"] is None else ""
    inside = f'<div class="bones">{bones}<p class="said">{safe(said)}</p>{king}</div>'
    return f"{sections['A']}{middle(text('Bones out'), inside)}{sections['B']}"

"""The Mille Lacs Moccasin game on the page: counters, short sticks, and the four pads with what a miss there pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.ojibwe import HIGH, HIGH_MATE, value
from pi_controller.games.ojibwe_state import COUNTERS
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap
from pi_controller.show.i18n import catalogue
from pi_controller.web.markup import chip, head, label, middle, safe, strokes, team

if TYPE_CHECKING:
    from pi_controller.table.view import View

_SLOTS = 5
_MARKS = {HIGH: "high", HIGH_MATE: "mate"}


def table(view: View, language: str) -> str:
    """Return the table as HTML."""
    text, sheet = catalogue(language).gettext, view.sheet
    slots = min(pinmap().lights.short, max(_SLOTS, *sheet["short"].values()))
    sections: dict[str, str] = {}
    for letter in "AB":
        hides = letter == sheet["hider"]
        said = ""
        if hides and sheet["hides_left"] > 1:
            said = text("hides left: {n}").format(n=sheet["hides_left"])
        elif sheet["double"] and not hides:
            banked = sheet["banked"]
            said = text("double, banked: {n}").format(n=banked) if banked else text("double")
        short, counters = sheet["short"][letter], sheet["counters"][letter]
        inside = head(
            view,
            letter,
            (short, text("short sticks")),
            strokes("short", min(short, slots), slots) + chip("" if sheet["winner"] else said),
            language,
        )
        inside += strokes("long", counters, COUNTERS) + f'<p class="count">{counters}</p>'
        sections[letter] = team(view, letter, sheet["hider"], inside)
    pool = strokes("long", sheet["pool"], COUNTERS) + f'<p class="count">{sheet["pool"]}</p>'
    pads = "".join(
        _pad(pad, sheet["high"], text("open") if pad in view.opened else "", text("high")) for pad in EVERY_PAD
    )
    return (
        f"{sections['A']}{middle(text('In the pool'), pool)}{sections['B']}"
        f'<section class="mat">{label(text("What a miss pays at each pad"))}<ol class="pads">{pads}</ol></section>'
    )


def _pad(pad: int, high: int | None, opened: str, said: str) -> str:
    worth = value(pad, high)
    mark = _MARKS.get(worth, "")
    what = safe(", ".join(filter(None, (said if mark == "high" else "", opened))))
    return (
        f'<li data-value="{mark}"><span class="number">{pad}<b class="worth">{worth}</b></span>'
        f'<span class="what">{what}</span></li>'
    )

"""Pa-tol on the page: the ring of forty stones drawn from above, north up, with its rivers and the horses beside it.

Notch 0 is the north river, 10, 20 and 30 the others; a notch between lies between two stones, where Lummis has the
horse laid. Horses in one notch stand one behind the other outwards.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pi_controller.games.patol import RIVERS, STONES
from pi_controller.show import sheet_phrases
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import player_name
from pi_controller.web.markup import safe
from pi_controller.web.shapes import RADIUS, drawn, horse

if TYPE_CHECKING:
    from pi_controller.table.view import View

_RING, _STONE = 165.0, 9.0
_HALF_RIVER = 7.0  # degrees from a river's middle to the stone beside it
_PER_RIVER = STONES // len(RIVERS)
_STEP = (90 - 2 * _HALF_RIVER) / (_PER_RIVER - 1)
_STACK, _BEHIND = 4, 2 * RADIUS + 3  # horses in one column, and from one to the next


def _angle(notch: int) -> float:
    """Return where a notch is, degrees clockwise from north."""
    quarter, within = divmod(notch, _PER_RIVER)
    return 90 * quarter + (_HALF_RIVER + (within - 0.5) * _STEP if within else 0.0)


def _at(angle: float, reach: float, aside: float = 0.0) -> tuple[float, float]:
    """Return (x, y) at `angle` degrees clockwise from north, `reach` from the middle and `aside` along the ring."""
    turn = math.radians(angle)
    return (
        reach * math.sin(turn) + aside * math.cos(turn),
        -reach * math.cos(turn) + aside * math.sin(turn),
    )


def _stones() -> str:
    said = ""
    for stone in range(STONES):
        quarter, within = divmod(stone, _PER_RIVER)
        x, y = _at(90 * quarter + _HALF_RIVER + within * _STEP, _RING)
        said += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_STONE:g}"/>'
    return f'<g class="stones">{said}</g>'


_STONES = _stones()


def _rivers(language: str) -> str:
    text, said = catalogue(language).gettext, ""
    for river, notch in RIVERS.items():
        (x1, y1), (x2, y2) = _at(_angle(notch), _RING - 19), _at(_angle(notch), _RING + 12)
        x, y = _at(_angle(notch), _RING - (34 if notch in {0, 20} else 46))
        said += (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
            f'<text x="{x:.1f}" y="{y + 5:.1f}">{safe(text(sheet_phrases.RIVERS[river]))}</text>'
        )
    return f'<g class="rivers">{said}</g>'


def _horses(horses: list[dict[str, Any]], thrower: str | None) -> tuple[str, float]:
    """Return the horses as shapes, and how far from the middle they reach."""
    standing: dict[int, list[int]] = {}
    for number, told in enumerate(horses, 1):
        if told["notch"] is not None:
            standing.setdefault(told["notch"], []).append(number)
    said, reach = "", _RING + 14 + 2 * RADIUS + 8
    for notch, here in sorted(standing.items()):
        columns = -(-len(here) // _STACK)
        for i, number in enumerate(here):
            column, place = divmod(i, _STACK)
            aside = (column - (columns - 1) / 2) * 2 * RADIUS
            out = _RING + 14 + RADIUS + place * _BEHIND
            reach = max(reach, out + RADIUS + 4)
            said += horse(
                number, *_at(_angle(notch), out, aside), "throws" if horses[number - 1]["player"] == thrower else ""
            )
    return said, reach


def table(view: View, language: str) -> str:
    """Return the table as HTML."""
    text, sheet = catalogue(language).gettext, view.sheet
    shapes, reach = _horses(sheet["horses"], None if sheet["winner"] else sheet["thrower"])
    value = "–" if sheet["value"] is None else sheet["value"]
    riders = ""
    for number, told in enumerate(sheet["horses"], 1):
        won = told["player"] == sheet["winner"]
        state = "won" if won else "throws" if told["player"] == sheet["thrower"] and not sheet["winner"] else ""
        does = {"won": text("wins"), "throws": text("throws")}.get(state, "")
        riders += (
            f'<li class="p{number}" data-value="{state}" data-player="{number}">{drawn(number, str(number))}'
            f"<div><h2><bdi>{safe(player_name(view, told['player']))}</bdi></h2>"
            f"<p>{safe(sheet_phrases.horse(told, language))}</p>"
            + (f'<span class="role">{safe(does)}</span>' if does else "")
            + "</div></li>"
        )
    return (
        f'<section class="ring"><svg viewBox="{-reach:.0f} {-reach:.0f} {2 * reach:.0f} {2 * reach:.0f}" role="img" '
        f'aria-label="{safe(text("The ring of forty stones"))}">{_STONES}{_rivers(language)}{shapes}'
        f'<text class="worth" y="12">{value}</text><text class="under" y="44">{safe(text("last throw"))}</text></svg>'
        f'</section><section class="riders"><ol>{riders}</ol></section>'
    )

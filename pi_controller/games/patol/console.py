"""Pages of Pa-tol: the ring of forty stones seen from above, north up, with its rivers and horses.

Notch 0 is the north river, 10, 20 and 30 are the others; any other notch is between two stones, where Lummis places the
horse. Horses in one notch are drawn side by side; if the neighbouring notches are occupied, one behind the other
outwards.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from pi_controller.display.i18n import Translator
from pi_controller.games.patol.display import DIRECTION_NAMES, RIVER_NAMES
from pi_controller.games.patol.rules import DIRECTIONS, RIVERS, STONES, HorseRow, PatolSheet
from pi_controller.table.view import View
from pi_controller.web.entry_forms import EntryForm, FormButton, FormContext
from pi_controller.web.game_page import GamePage
from pi_controller.web.templates import RADIUS

Text = Callable[[str], str]


_RING = 165.0
_HALF_RIVER = 7.0  # degrees from a river's middle to the stone beside it
_PER_RIVER = STONES // len(RIVERS)
_STEP = (90 - 2 * _HALF_RIVER) / (_PER_RIVER - 1)
_STACK, _BEHIND = 4, 2 * RADIUS + 3  # horses in one column, and from one to the next
_SIDE_BY_SIDE = 3  # horses in one row, if the neighbouring notches are empty


def _angle(notch: int) -> float:
    """Return the angle of a notch, degrees clockwise from north."""
    quarter, within = divmod(notch, _PER_RIVER)
    return 90 * quarter + (_HALF_RIVER + (within - 0.5) * _STEP if within else 0.0)


def _at(angle: float, reach: float, aside: float = 0.0) -> tuple[float, float]:
    """Return (x, y) at `angle` degrees clockwise from north, `reach` from the middle and `aside` along the ring."""
    turn = math.radians(angle)
    return (
        reach * math.sin(turn) + aside * math.cos(turn),
        -reach * math.cos(turn) + aside * math.sin(turn),
    )


_STONES = [
    tuple(f"{n:.1f}" for n in _at(90 * quarter + _HALF_RIVER + within * _STEP, _RING))
    for quarter, within in (divmod(stone, _PER_RIVER) for stone in range(STONES))
]
"""The coordinates of each stone, formatted."""


def _rivers(tr: Translator) -> list[dict[str, str]]:
    """Return the rivers as lines across the ring, each with its name inside."""
    rivers: list[dict[str, str]] = []
    for river, notch in RIVERS.items():
        (x1, y1), (x2, y2) = _at(_angle(notch), _RING - 19), _at(_angle(notch), _RING + 12)
        x, y = _at(_angle(notch), _RING - (34 if notch in {0, 20} else 46))
        ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "x": x, "y": y + 5}
        rivers.append({"name": tr.text(RIVER_NAMES[river]), **{key: f"{n:.1f}" for key, n in ends.items()}})
    return rivers


def _horses(horses: list[HorseRow], thrower: str | None) -> tuple[list[dict[str, Any]], float]:
    """Return the position of each horse, and the radius that they need."""
    standing: dict[int, list[int]] = {}
    for number, horse in enumerate(horses, 1):
        if horse["notch"] is not None:
            standing.setdefault(horse["notch"], []).append(number)
    drawn, reach = list[dict[str, Any]](), _RING + 14 + 2 * RADIUS + 8
    for notch, here in sorted(standing.items()):
        beside = {(notch + 1) % STONES, (notch - 1) % STONES} & standing.keys()
        stack = _STACK if beside else max(1, -(-len(here) // _SIDE_BY_SIDE))
        columns = -(-len(here) // stack)
        for i, number in enumerate(here):
            column, place = divmod(i, stack)
            aside = (column - (columns - 1) / 2) * 2 * RADIUS
            out = _RING + 14 + RADIUS + place * _BEHIND
            reach = max(reach, out + RADIUS + 4)
            x, y = _at(_angle(notch), out, aside)
            state = "turn" if horses[number - 1]["player"] == thrower else ""
            drawn.append({"number": number, "x": f"{x:.1f}", "y": f"{y:.1f}", "state": state})
    return drawn, reach


class PatolPage(GamePage[PatolSheet]):
    """Shows Pa-tol."""

    template: ClassVar[str | Path] = Path(__file__).with_suffix(".html")
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"river": (None, *RIVERS), "direction": (None, *DIRECTIONS)}
    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"start", "throw"})

    def values(self, view: View) -> dict[str, Any]:
        """Return the template's values."""
        sheet = self.sheet(view)
        horses, reach = _horses(sheet["horses"], None if sheet["winner"] else sheet["thrower"])
        return {
            "box": f"{-reach:.0f} {-reach:.0f} {2 * reach:.0f} {2 * reach:.0f}",
            "stones": _STONES,
            "rivers": _rivers(self.tr),
            "horses": horses,
        }

    def form(self, moment: FormContext) -> EntryForm | None:
        """Return the form of a start, or of a throw."""
        if "throw" in moment.words:
            label = self.tr.text("{n} marked")
            buttons = tuple(
                FormButton(f"marked-{n}", label.format(n=n), moment.make_call({"do": "throw", "marked": n}), "", str(n))
                for n in range(4)
            )
            return EntryForm("choice", moment.title or self.tr.text("How many marked faces are up?"), buttons)
        player = next((one["player"] for one in moment.actions if one["do"] == "start"), None)
        return None if player is None else EntryForm("choice", moment.title, _starts(moment, player))


def _starts(moment: FormContext, player: str) -> tuple[FormButton, ...]:
    tr = moment.tr
    return tuple(
        FormButton(
            f"start-{river}-{way}",
            tr.text("{river}, {direction}", river=tr.text(river_name), direction=tr.text(way_name)),
            moment.make_call({"do": "start", "player": player, "river": river, "direction": way}),
        )
        for river, river_name in RIVER_NAMES.items()
        for way, way_name in DIRECTION_NAMES.items()
    )


PAGE = PatolPage

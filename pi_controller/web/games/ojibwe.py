"""The Mille Lacs Moccasin game on the pages: counters, short sticks, and the four pads with what a miss there pays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pi_controller.games.ojibwe import HIGH, HIGH_MATE, OjibweSheet, value
from pi_controller.games.ojibwe_state import COUNTERS
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import team_name
from pi_controller.show.paint import share
from pi_controller.web.console_play import Button, Moment, Play, Row, first_team, pads, ready_button
from pi_controller.web.game_page import STROKES, Card, Cell, GamePage, Pad, Pool, Strip

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_controller.table.view import View

    Text = Callable[[str], str]

_SLOTS = 5
_MARKS = {HIGH: "high", HIGH_MATE: "mate"}


class OjibwePage(GamePage[OjibweSheet]):
    """How the game stands on the pages."""

    template: ClassVar[str | Path] = Path(__file__).with_suffix(".html")
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"high": (None, *EVERY_PAD)}
    replaced: ClassVar[frozenset[str]] = frozenset({"toss", "shoot"})

    def name_of(self, view: View, side: str) -> str:
        """Return how a team is named at the table."""
        return team_name(view, side)

    def values(self, view: View, language: str) -> dict[str, Any]:
        """Return what the template takes."""
        sheet = self.sheet(view)
        return {
            "sides": self.sides(view, language),
            "slots": min(pinmap().lights.short, max(_SLOTS, *sheet["short"].values())),
            "total": COUNTERS,
            "pads": [_pad(view, pad, catalogue(language).gettext) for pad in EVERY_PAD],
        }

    def strip(self, view: View, language: str) -> Strip:
        """Return the short sticks and the counters of each team, and the pool."""
        sheet = self.sheet(view)
        cells = [
            Cell(team, sheet["short"][team], n, share(n, COUNTERS, STROKES)) for team, n in sheet["counters"].items()
        ]
        return Strip(cells, Pool(catalogue(language).gettext("pool"), sheet["pool"]))

    def pads(self, view: View, language: str) -> list[Pad]:
        """Return the pads: which were opened, where the marked ball lay once that is known, and what a miss pays."""
        text, opened = catalogue(language).gettext, view.opening
        lay = opened.pad if opened is not None and view.phase in {"show", "over"} and opened.hide == view.hide else 0
        found = "found" if "found" in view.calls else "bead"
        high = self.sheet(view)["high"]
        pads: list[Pad] = []
        for pad in EVERY_PAD:
            worth = value(pad, high)
            mark = found if pad == lay else "opened" if pad in view.opened else ""
            description = text("the marked ball was here") if pad == lay else text("high ball") if worth == HIGH else ""
            pads.append(Pad(mark, description, str(worth), _MARKS.get(worth, "")))
        return pads

    def of_side(self, view: View, side: str, text: Text) -> str:
        """Return how often the hiders may yet be found, or that the shooters have a double."""
        sheet, hides = self.sheet(view), side == self.sheet(view)["hider"]
        if sheet["winner"]:
            return ""
        if hides:
            return text("hides left: {n}").format(n=sheet["hides_left"]) if sheet["hides_left"] > 1 else ""
        if not sheet["double"]:
            return ""
        return text("double, banked: {n}").format(n=sheet["banked"]) if sheet["banked"] else text("double")

    def facts(self, view: View, language: str) -> tuple[str, ...]:
        """Return which pad is the high one."""
        high = self.sheet(view)["high"]
        return (catalogue(language).gettext("High ball: pad {pad}").format(pad=high),) if high else ()

    def team_card(self, view: View, team: str, role: str, text: Text) -> Card:
        """Return a team with its counters and short sticks."""
        sheet = self.sheet(view)
        numbers = [(sheet["counters"][team], text("counters")), (sheet["short"][team], text("short sticks"))]
        return Card(team.lower(), team_name(view, team), role, numbers)

    def rest_card(self, view: View, text: Text) -> list[Card]:
        """Return the pool."""
        return [Card("middle", text("In the pool"), "", [(self.sheet(view)["pool"], text("counters"))])]

    def form(self, moment: Moment) -> Play | None:
        """Return the form of the toss, or of a shot."""
        text = moment.text
        if "toss" in moment.words:
            label = text("{team} hides first")
            return first_team(moment, ("toss", "winner"), text("Who won the toss?"), label, team_name)
        if "shoot" not in moment.words:
            return None
        rows = (
            Row("opened", text("Opened, in order"), pads(text), int(moment.options.get("max_open") or 2), needed=False),
            Row("hit", text("Struck"), pads(text), needed=False),
            Row("ball", text("The marked ball lay under"), pads(text)),
        )
        submit = Button("shoot", text("Enter the shot"), moment.act({"do": "shoot"}), "main", "e")
        return Play("shoot", moment.title, (), rows, ready_button(moment, text("Hidden")), submit)


def _pad(view: View, pad: int, text: Text) -> dict[str, object]:
    worth = value(pad, PAGE.sheet(view)["high"])
    mark = _MARKS.get(worth, "")
    labels = (text("high") if mark == "high" else "", text("open") if pad in view.opened else "")
    return {"number": pad, "worth": worth, "mark": mark, "said": ", ".join(filter(None, labels))}


PAGE = OjibwePage()

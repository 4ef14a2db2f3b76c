"""Pages of the Mille Lacs Moccasin game: counters, short sticks, and the four pads with the price of a miss."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from pi_controller.display.drawing import scale_to_pixels, team_name
from pi_controller.display.i18n import catalogue
from pi_controller.games.ojibwe.rules import COUNTERS, HIGH, HIGH_MATE, OjibweSheet, miss_value
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap
from pi_controller.table.view import View
from pi_controller.web import game_page as page

Text = Callable[[str], str]


_SLOTS = 5
_MARKS = {HIGH: "high", HIGH_MATE: "mate"}


class OjibwePage(page.GamePage[OjibweSheet]):
    """Shows the Mille Lacs Moccasin game."""

    template: ClassVar[str | Path] = Path(__file__).with_suffix(".html")
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"high": (None, *EVERY_PAD)}
    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"toss", "shoot"})
    name_of = staticmethod(team_name)

    def values(self, view: View, language: str) -> dict[str, Any]:
        """Return the template's values."""
        sheet = self.sheet(view)
        return {
            "sides": self.sides(view, language),
            "slots": min(pinmap().lights.short, max(_SLOTS, *sheet["short"].values())),
            "total": COUNTERS,
            "pads": [_pad(view, pad, catalogue(language).gettext) for pad in EVERY_PAD],
        }

    def strip(self, view: View, language: str) -> page.Strip:
        """Return the short sticks and the counters of each team, and the pool."""
        sheet = self.sheet(view)
        cells = [
            page.Cell(team, sheet["short"][team], n, scale_to_pixels(n, COUNTERS, page.MAX_STROKES))
            for team, n in sheet["counters"].items()
        ]
        return page.Strip(cells, page.Pool(catalogue(language).gettext("pool"), sheet["pool"]))

    def pads(self, view: View, language: str) -> list[page.Pad]:
        """Return the pads: which were opened, where the marked ball lay once that is known, and what a miss pays."""
        text, opened = catalogue(language).gettext, view.opening
        lay = opened.pad if opened is not None and view.phase in {"show", "over"} and opened.hide == view.hide else 0
        found = "found" if "found" in view.calls else "bead"
        high = self.sheet(view)["high"]
        pads: list[page.Pad] = []
        for pad in EVERY_PAD:
            worth = miss_value(pad, high)
            mark = found if pad == lay else "opened" if pad in view.opened else ""
            description = text("the marked ball was here") if pad == lay else text("high ball") if worth == HIGH else ""
            pads.append(page.Pad(mark, description, str(worth), _MARKS.get(worth, "")))
        return pads

    def side_note(self, view: View, side: str, text: Text) -> str:
        """Return how many hides the hiders have left, or the shooters' double."""
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

    def team_card(self, view: View, team: str, role: str, text: Text) -> page.Card:
        """Return a team with its counters and short sticks."""
        sheet = self.sheet(view)
        numbers = [(sheet["counters"][team], text("counters")), (sheet["short"][team], text("short sticks"))]
        return page.Card(team.lower(), team_name(view, team), role, numbers)

    def rest_card(self, view: View, text: Text) -> list[page.Card]:
        """Return the pool."""
        return [page.Card("middle", text("In the pool"), "", [(self.sheet(view)["pool"], text("counters"))])]

    def form(self, moment: page.FormContext) -> page.Play | None:
        """Return the form of the toss, or of a shot."""
        text = moment.text
        if "toss" in moment.words:
            label = text("{team} hides first")
            return page.first_team(moment, ("toss", "winner"), text("Who won the toss?"), label, team_name)
        if "shoot" not in moment.words:
            return None
        rows = (
            page.Row(
                "opened",
                text("Opened, in order"),
                page.pad_choices(text),
                int(moment.options.get("max_open") or 2),
                needed=False,
            ),
            page.Row("hit", text("Struck"), page.pad_choices(text), needed=False),
            page.Row("ball", text("Marked ball under"), page.pad_choices(text)),
        )
        submit = page.Button("shoot", text("Enter the shot"), moment.make_call({"do": "shoot"}), "main", "e")
        return page.Play("shoot", moment.title, (), rows, page.ready_button(moment, text("Hidden")), submit)


def _pad(view: View, pad: int, text: Text) -> dict[str, object]:
    worth = miss_value(pad, PAGE.sheet(view)["high"])
    mark = _MARKS.get(worth, "")
    labels = (text("high") if mark == "high" else "", text("open") if pad in view.opened else "")
    return {"number": pad, "worth": worth, "mark": mark, "said": ", ".join(filter(None, labels))}


PAGE = OjibwePage()

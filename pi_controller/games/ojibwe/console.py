"""Pages of the Mille Lacs Moccasin game: the forms of the toss and of a shot."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display.shown_names import team_name
from pi_controller.games.ojibwe.rules import OjibweSheet
from pi_controller.pads import EVERY_PAD
from pi_controller.web import game_page as page


class OjibwePage(page.GamePage[OjibweSheet]):
    """Shows the Mille Lacs Moccasin game."""

    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"high": (None, *EVERY_PAD)}
    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"toss", "shoot"})

    def form(self, moment: page.FormContext) -> page.EntryForm | None:
        """Return the form of the toss, or of a shot."""
        text = moment.text
        if "toss" in moment.words:
            label = text("{team} hides first")
            return page.first_team(moment, ("toss", "winner"), text("Who won the toss?"), label, team_name)
        if "shoot" not in moment.words:
            return None
        rows = (
            page.ChoiceRow(
                "opened",
                text("Opened, in order"),
                page.pad_choices(text),
                int(moment.options.get("max_open") or 2),
                needed=False,
            ),
            page.ChoiceRow("hit", text("Struck"), page.pad_choices(text), needed=False),
            page.ChoiceRow("ball", text("Marked ball under"), page.pad_choices(text)),
        )
        submit = page.FormButton("shoot", text("Enter the shot"), moment.make_call({"do": "shoot"}), "main", "e")
        return page.EntryForm("shoot", moment.title, (), rows, page.ready_button(moment, text("Hidden")), submit)


PAGE = OjibwePage()

"""Pages of the Mille Lacs Moccasin game: the forms of the toss and of a shot."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display.shown_names import team_name
from pi_controller.games.ojibwe.rules import OjibweSheet
from pi_controller.pads import EVERY_PAD
from pi_controller.web.entry_forms import (
    ChoiceRow,
    EntryForm,
    FormButton,
    FormContext,
    first_team,
    pad_choices,
    ready_button,
)
from pi_controller.web.game_page import GamePage


class OjibwePage(GamePage[OjibweSheet]):
    """Shows the Mille Lacs Moccasin game."""

    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"high": (None, *EVERY_PAD)}
    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"toss", "shoot"})

    def form(self, moment: FormContext) -> EntryForm | None:
        """Return the form of the toss, or of a shot."""
        if "toss" in moment.words:
            label = self.tr.text("{team} hides first")
            return first_team(moment, ("toss", "winner"), self.tr.text("Who won the toss?"), label, team_name)
        if "shoot" not in moment.words:
            return None
        rows = (
            ChoiceRow(
                "opened",
                self.tr.text("Opened, in order"),
                pad_choices(self.tr),
                int(moment.options.get("max_open") or 2),
                needed=False,
            ),
            ChoiceRow("hit", self.tr.text("Struck"), pad_choices(self.tr), needed=False),
            ChoiceRow("ball", self.tr.text("Marked ball under"), pad_choices(self.tr)),
        )
        submit = FormButton("shoot", self.tr.text("Enter the shot"), moment.make_call({"do": "shoot"}), "main", "e")
        return EntryForm("shoot", moment.title, (), rows, ready_button(moment, self.tr.text("Hidden")), submit)


PAGE = OjibwePage

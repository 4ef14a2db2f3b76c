"""Pages of the plum stone game: the forms of the lot and of a throw."""

from typing import ClassVar

from pi_controller.display.shown_names import player_name
from pi_controller.games.plum_stone.display import SHOW
from pi_controller.games.plum_stone.rules import VALUES, PlumStoneSheet
from pi_controller.web.entry_forms import (
    ChoiceRow,
    EntryForm,
    FormContext,
    first_team,
    no_piece,
    piece_choices,
    throw_form,
)
from pi_controller.web.game_page import GamePage


class PlumStonePage(GamePage[PlumStoneSheet]):
    """Shows the plum stone game."""

    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"lot", "throw"})

    def form(self, moment: FormContext) -> EntryForm | None:
        """Return the form of the lot, or of a throw."""
        if "lot" in moment.words:
            label = self.tr.text("{team} throws first")
            return first_team(
                moment, ("lot", "first"), self.tr.text("Who drew the lot and throws first?"), label, player_name
            )
        if "throw" not in moment.words:
            return None
        moons, whites = (
            self.tr.text("Touch each stone that shows its moon"),
            self.tr.text("Touch each stone that shows white"),
        )
        rows = (
            ChoiceRow("moons", moons, piece_choices("moon", self.tr.text("moon"), 2), 2, needed=False),
            ChoiceRow("whites", whites, piece_choices("white", self.tr.text("white"), 3), 3, needed=False),
            no_piece(self.tr.text("No moon and no white shows")),
        )
        return throw_form(moment, rows, ("no_throw", SHOW.slips["no_throw"]), VALUES)


PAGE = PlumStonePage

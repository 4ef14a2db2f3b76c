"""Pages of Bageswin: the form of a throw."""

from typing import ClassVar

from pi_controller.games.bageswin import display as show
from pi_controller.games.bageswin.rules import PIECES, VALUES, BageswinSheet
from pi_controller.web.entry_forms import ChoiceRow, EntryForm, FormContext, no_piece, piece_choices, throw_form
from pi_controller.web.game_page import GamePage


class BageswinPage(GamePage[BageswinSheet]):
    """Shows Bageswin."""

    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"throw"})

    def form(self, moment: FormContext) -> EntryForm | None:
        """Return the form of a throw."""
        if "throw" not in moment.words:
            return None
        label = self.tr.text("Touch each piece that shows red")
        rows = [
            ChoiceRow(
                kind,
                "" if i else label,
                piece_choices(kind, self.tr.text(show.PIECES[kind]), n),
                n,
                needed=False,
            )
            for i, (kind, n) in enumerate(PIECES.items())
        ]
        slip = ("double_tap", show.SHOW.slips["double_tap"])
        values = VALUES.get(str(moment.options.get("table")))
        return throw_form(moment, (*rows, no_piece(self.tr.text("No piece shows red"))), slip, values)


PAGE = BageswinPage

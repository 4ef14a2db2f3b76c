"""Pages of Bageswin: the form of a throw."""

from typing import ClassVar

from pi_controller.games.bageswin import display as show
from pi_controller.games.bageswin.rules import PIECES, VALUES, BageswinSheet
from pi_controller.web import game_page as page


class BageswinPage(page.GamePage[BageswinSheet]):
    """Shows Bageswin."""

    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"throw"})

    def form(self, moment: page.FormContext) -> page.EntryForm | None:
        """Return the form of a throw."""
        if "throw" not in moment.words:
            return None
        label = self.tr.text("Touch each piece that shows red")
        rows = [
            page.ChoiceRow(
                kind, "" if i else label, page.piece_choices(kind, self.tr.text(show.PIECES[kind]), n), n, needed=False
            )
            for i, (kind, n) in enumerate(PIECES.items())
        ]
        slip = ("double_tap", show.SHOW.slips["double_tap"])
        values = VALUES.get(str(moment.options.get("table")))
        return page.throw_form(moment, (*rows, page.no_piece(self.tr.text("No piece shows red"))), slip, values)


PAGE = BageswinPage

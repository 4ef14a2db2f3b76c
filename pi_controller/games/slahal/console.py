"""Pages of Slahal: the forms of the duo and of a guess."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pi_controller.display.shown_names import isolate_name, team_name
from pi_controller.games.slahal.display import SIGNALS, SlahalShow
from pi_controller.games.slahal.rules import ONE_PAIR, SlahalSheet
from pi_controller.web.entry_forms import (
    ChoiceRow,
    EntryForm,
    FormButton,
    FormChoice,
    FormContext,
    make_call,
    ready_button,
)
from pi_controller.web.game_page import GamePage


class SlahalPage(GamePage[SlahalSheet]):
    """Shows Slahal."""

    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"pairs_out": (None, 1, 2), "phase": ("duo", "play", "over")}
    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"duo", "guess"})

    def form(self, moment: FormContext) -> EntryForm | None:
        """Return the form of the duo, or of a guess."""
        if "duo" in moment.words:
            return EntryForm("choice", moment.title or self.tr.text("Who guessed right?"), self._duo(moment))
        return self._guess(moment) if "guess" in moment.words else None

    def _duo(self, moment: FormContext) -> tuple[FormButton, ...]:
        only = self.tr.text("Only {team}")
        results = (
            (True, False, only.format(team=isolate_name(team_name(moment.view, "A"))), "a"),
            (False, True, only.format(team=isolate_name(team_name(moment.view, "B"))), "b"),
            (True, True, self.tr.text("Both, or neither: again"), ""),
        )
        return tuple(
            FormButton(f"duo-{i}", label, moment.make_call({"do": "duo", "A": a, "B": b}), look, str(i))
            for i, (a, b, label, look) in enumerate(results, 1)
        )

    def _guess(self, moment: FormContext) -> EntryForm:
        again = moment.again is not None
        two = again or self.sheet(moment.view)["pairs_out"] != 1
        signals = tuple(
            FormChoice(name, self.tr.text(options), look=name, on=two or name in ONE_PAIR)
            for name, options in SIGNALS.items()
        )
        options = (
            {"block": self.tr.text("Block: one holder at a time, first the one on the guesser's left")} if two else {}
        )
        if not two or again:
            options["mirror"] = self.tr.text("Mirrored: shown with the bones that were caught")
        rows = (
            *(
                ChoiceRow(key, "", (FormChoice(value=True, label=label),), needed=False)
                for key, label in options.items()
            ),
            ChoiceRow("signal", self.tr.text("The guess, as the guesser shows it"), signals),
            ChoiceRow("actual", self.tr.text("The signal that would have caught the bones"), signals),
        )
        submit = FormButton("guess", self.tr.text("Enter the guess"), moment.make_call({"do": "guess"}), "main", "e")
        more = () if again else tuple(self._rare_buttons(moment))
        return EntryForm("guess", moment.title, (), rows, ready_button(moment, self.tr.text("Hands out")), submit, more)

    def _rare_buttons(self, moment: FormContext) -> Iterator[FormButton]:
        for action in moment.legal:
            if action["do"] in SlahalShow.slips:
                yield FormButton(action["do"], self.tr.text(SlahalShow.slips[action["do"]]), make_call(action))
            elif action["do"] == "king_moved":
                team = isolate_name(team_name(moment.view, action["by"]))
                label = self.tr.text("{team} moved the king stick too early", team=team)
                yield FormButton(f"king-{action['by']}", label, make_call(action))


PAGE = SlahalPage

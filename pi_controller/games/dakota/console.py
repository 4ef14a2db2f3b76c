"""Pages of Hampa Apena: the forms of a toss, a hit and a foul."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display.game_display import key_to_words
from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.shown_names import isolate_name, team_name
from pi_controller.games.dakota.rules import FOUL_KINDS, DakotaSheet, DakotaState
from pi_controller.referee.story import SETTLED
from pi_controller.rules.base import Game, IllegalActionError, opposing_team
from pi_controller.table.view import View
from pi_controller.web.entry_forms import (
    ChoiceRow,
    EntryForm,
    FormButton,
    FormContext,
    FoulButton,
    FoulsOf,
    WhichHide,
    first_team,
    pad_choices,
    ready_button,
)
from pi_controller.web.game_page import GamePage


class DakotaPage(GamePage[DakotaSheet]):
    """Shows Hampa Apena."""

    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "owed": (None, "first", "second"),
        "situation": (None, "wheya", "sahdogan", "yawapi", "eyeya"),
    }
    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"toss", "hit"})

    def form(self, moment: FormContext) -> EntryForm | None:
        """Return the form of the toss, or of a hit."""
        view = moment.view
        if "toss" in moment.words:
            label = self.tr.text("{team} hides first")
            return first_team(moment, ("toss", "winner"), self.tr.text("Who won the toss?"), label, team_name)
        if not moment.words & {"hit", "foul"}:
            return None
        second, owed = self.sheet(view)["owed"] == "second" and not moment.again, "hit" in moment.words
        struck = frozenset(hit.pad for hit in view.hits if second and hit.pad is not None)
        buttons = tuple(
            FormButton(look, label, moment.make_call({"do": "hit", "found": found}), look, key, on=owed)
            for look, label, found, key in (
                ("found", self.tr.text("Found"), True, "f"),
                ("missed", self.tr.text("Missed"), False, "m"),
            )
        )
        row = ChoiceRow("pad", self.tr.text("Which pad was hit (optional)"), pad_choices(self.tr, struck), needed=False)
        return EntryForm("hits", moment.title, buttons, (row,), ready_button(moment, self.tr.text("Hidden")))

    def fouls(self, view: View, game: Game[Any], state: object) -> tuple[FoulsOf, ...]:
        """Return the fouls that the rules allow now, by hide: the current one, and the one just settled.

        While the bead is shown the hide just settled comes first: a foul seen then is nearly always of that one.
        """
        return self._fouls(view, game, state) if isinstance(state, DakotaState) else ()

    def _fouls(self, view: View, game: Game[Any], state: DakotaState) -> tuple[FoulsOf, ...]:
        found: list[FoulsOf] = []
        settled = view.phase in SETTLED
        for hide in ("last", "this") if settled else ("this", "last"):
            began = state.last if hide == "last" else state
            if began is None or began.hider is None:
                continue
            buttons = self._foul_buttons(view, game, state, hide, began)
            if buttons:
                label = self._hide_label(view, hide, began, settled=settled)
                found.append(FoulsOf(hide, label, not found, buttons))
        return tuple(found)

    def _hide_label(self, view: View, hide: WhichHide, began: DakotaState, *, settled: bool) -> str:
        number = view.hide + (settled and hide == "this") - (not settled and hide == "last")
        template = (
            self.tr.text("Hide {n}, just settled: {team} hid")
            if hide == "last"
            else self.tr.text("Hide {n}: {team} hides")
        )
        return template.format(n=number, team=isolate_name(team_name(view, began.hider or "A")))

    def _foul_buttons(
        self, view: View, game: Game[Any], state: DakotaState, hide: WhichHide, began: DakotaState
    ) -> tuple[FoulButton, ...]:
        buttons: list[FoulButton] = []
        for by, kinds in FOUL_KINDS.items():
            for kind in kinds:
                named = hide == "last" or view.phase == "show"  # between two hides the table requires it
                action = {"do": "foul", "by": by, "kind": kind} | ({"hide": hide} if named else {})
                try:
                    after, _ = game.play(state, action)
                except IllegalActionError:
                    continue
                outcome = self._foul_outcome(view, game, by, began, state, after)
                buttons.append(
                    FoulButton(
                        by, kind, hide, foul_label(kind, self.tr), outcome, {"judge": "action", "action": action}
                    )
                )
        return tuple(buttons)

    def _foul_outcome(
        self, view: View, game: Game[Any], by: str, began: DakotaState, now: DakotaState, after: DakotaState
    ) -> str:
        """Return which team gains by the foul, and the score of both teams afterwards."""
        if game.sheet(now) == game.sheet(after):
            return self.tr.text("A warning: nothing changes.")
        assert began.hider
        team = opposing_team(began.hider) if by == "hider" else began.hider
        opponents = opposing_team(team)
        if after.winner:
            template = self.tr.text("For {team}: {sticks}, {points}, and the game")
        elif after.owed == "second":
            template = self.tr.text(
                "For {team}: {sticks}, {points} ({opponents}: {count}). The second hit is still to come"
            )
        elif after.hider == team:
            template = self.tr.text("For {team}: {sticks}, {points} ({opponents}: {count}). They hide next")
        else:
            template = self.tr.text("For {team}: {sticks}, {points} ({opponents}: {count}). They hit next")
        return template.format(
            team=isolate_name(team_name(view, team)),
            opponents=isolate_name(team_name(view, opponents)),
            sticks=self.tr.plural("{n} stick", "{n} sticks", after.sticks[team]),
            points=self.tr.plural("{n} point", "{n} points", after.points(team)),
            count=after.sticks[opponents],
        )


def foul_label(kind: str, tr: Translator) -> str:
    """Return the short label of a foul's button."""
    return Phrases(tr).foul(kind).rstrip(".") or key_to_words(kind)


PAGE = DakotaPage

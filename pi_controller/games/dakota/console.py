"""Pages of Hampa Apena: the forms of a toss, a hit and a foul."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pi_controller.display import phrases
from pi_controller.display.game_display import key_to_words
from pi_controller.display.i18n import catalogue
from pi_controller.display.shown_names import isolate_name, team_name
from pi_controller.games.dakota.rules import FOUL_KINDS, DakotaSheet, DakotaState
from pi_controller.rules.base import Game, IllegalActionError, opposing_team
from pi_controller.table.view import View
from pi_controller.web import game_page as page


class DakotaPage(page.GamePage[DakotaSheet]):
    """Shows Hampa Apena."""

    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "owed": (None, "first", "second"),
        "situation": (None, "wheya", "sahdogan", "yawapi", "eyeya"),
    }
    replaceable_actions: ClassVar[frozenset[str]] = frozenset({"toss", "hit"})

    def form(self, moment: page.FormContext) -> page.EntryForm | None:
        """Return the form of the toss, or of a hit."""
        view, text = moment.view, moment.text
        if "toss" in moment.words:
            label = text("{team} hides first")
            return page.first_team(moment, ("toss", "winner"), text("Who won the toss?"), label, team_name)
        if not moment.words & {"hit", "foul"}:
            return None
        second, owed = self.sheet(view)["owed"] == "second" and not moment.again, "hit" in moment.words
        struck = frozenset(hit.pad for hit in view.hits if second and hit.pad is not None)
        buttons = tuple(
            page.FormButton(look, label, moment.make_call({"do": "hit", "found": found}), look, key, on=owed)
            for look, label, found, key in (
                ("found", text("Found"), True, "f"),
                ("missed", text("Missed"), False, "m"),
            )
        )
        row = page.ChoiceRow("pad", text("Which pad was hit (optional)"), page.pad_choices(text, struck), needed=False)
        return page.EntryForm("hits", moment.title, buttons, (row,), page.ready_button(moment, text("Hidden")))

    def fouls(self, view: View, game: Game[Any], state: object, language: str = "en") -> tuple[page.FoulsOf, ...]:
        """Return the fouls that the rules allow now, by hide: the current one, and the one just settled.

        While the bead is shown the hide just settled comes first: a foul seen then is nearly always of that one.
        """
        return _fouls(view, game, state, language) if isinstance(state, DakotaState) else ()


def _fouls(view: View, game: Game[Any], state: DakotaState, language: str) -> tuple[page.FoulsOf, ...]:
    found: list[page.FoulsOf] = []
    settled = view.phase in {"show", "over"}
    for hide in ("last", "this") if settled else ("this", "last"):
        began = state.last if hide == "last" else state
        if began is None or began.hider is None:
            continue
        buttons = _foul_buttons(view, game, state, hide, began, language)
        if buttons:
            label = _hide_label(view, hide, began, settled=settled, language=language)
            found.append(page.FoulsOf(hide, label, not found, buttons))
    return tuple(found)


def _hide_label(view: View, hide: page.WhichHide, began: DakotaState, *, settled: bool, language: str) -> str:
    text = catalogue(language).gettext
    number = view.hide + (settled and hide == "this") - (not settled and hide == "last")
    template = text("Hide {n}, just settled: {team} hid") if hide == "last" else text("Hide {n}: {team} hides")
    return template.format(n=number, team=isolate_name(team_name(view, began.hider or "A")))


def _foul_buttons(
    view: View, game: Game[Any], state: DakotaState, hide: page.WhichHide, began: DakotaState, language: str
) -> tuple[page.FoulButton, ...]:
    buttons: list[page.FoulButton] = []
    for by, kinds in FOUL_KINDS.items():
        for kind in kinds:
            named = hide == "last" or view.phase == "show"  # between two hides the table requires it
            action = {"do": "foul", "by": by, "kind": kind} | ({"hide": hide} if named else {})
            try:
                after, _ = game.play(state, action)
            except IllegalActionError:
                continue
            outcome = _foul_outcome(view, game, by, began, state, after, language)
            buttons.append(
                page.FoulButton(
                    by, kind, hide, foul_label(kind, language), outcome, {"judge": "action", "action": action}
                )
            )
    return tuple(buttons)


def _foul_outcome(
    view: View, game: Game[Any], by: str, began: DakotaState, now: DakotaState, after: DakotaState, language: str
) -> str:
    """Return which team gains by the foul, and the score of both teams afterwards."""
    text, plural = catalogue(language).gettext, catalogue(language).ngettext
    if game.sheet(now) == game.sheet(after):
        return text("A warning: nothing changes.")
    assert began.hider
    team = opposing_team(began.hider) if by == "hider" else began.hider
    opponents = opposing_team(team)
    if after.winner:
        template = text("For {team}: {sticks}, {points}, and the game")
    elif after.owed == "second":
        template = text("For {team}: {sticks}, {points} ({opponents}: {count}). The second hit is owed")
    elif after.hider == team:
        template = text("For {team}: {sticks}, {points} ({opponents}: {count}). They hide next")
    else:
        template = text("For {team}: {sticks}, {points} ({opponents}: {count}). They hit next")
    return template.format(
        team=isolate_name(team_name(view, team)),
        opponents=isolate_name(team_name(view, opponents)),
        sticks=plural("{n} stick", "{n} sticks", after.sticks[team]).format(n=after.sticks[team]),
        points=plural("{n} point", "{n} points", after.points(team)).format(n=after.points(team)),
        count=after.sticks[opponents],
    )


def foul_label(kind: str, language: str = "en") -> str:
    """Return the short label of a foul's button."""
    return phrases.foul(kind, language).rstrip(".") or key_to_words(kind)


PAGE = DakotaPage()

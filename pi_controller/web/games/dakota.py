"""Hampa Apena on the pages: the sticks and points of two teams, and the pads that are hit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pi_controller.games.base import other
from pi_controller.pinmap import pinmap
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import team_name
from pi_controller.show.paint import share
from pi_controller.web.console_play import Button, Moment, Play, Row, first_team, pads, ready_button
from pi_controller.web.game_page import STROKES, Card, Cell, GamePage, Pool, Strip

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_controller.table.view import View

    Text = Callable[[str], str]


class DakotaPage(GamePage):
    """How the game stands on the pages. Its table is the layout `live`, which the script patches key by key."""

    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "owed": (None, "first", "second"),
        "situation": (None, "wheya", "sahdogan", "yawapi", "eyeya"),
    }
    replaced: ClassVar[frozenset[str]] = frozenset({"toss", "hit"})

    def turn(self, view: View) -> str | None:
        """Return the team that hides, or that has won."""
        return view.winner or (view.hider if view.phase not in {"toss", "over"} else None)

    def strip(self, view: View, language: str) -> Strip:
        """Return the points and the sticks of each team, and the middle."""
        total = pinmap().lights.a
        cells = [
            Cell(team, view.short.get(team, 0), n, share(n, total, STROKES))
            for team, n in ((team, view.long.get(team, 0)) for team in "AB")
        ]
        return Strip(cells, Pool(catalogue(language).gettext("middle"), view.middle) if view.long else None)

    def cards(self, view: View, language: str) -> list[Card]:
        """Return the teams with the middle between them."""
        text = catalogue(language).gettext
        a, b = (self.team_card(view, team, _role(view, team, text), text) for team in "AB")
        return [a, *self.rest_card(view, text), b]

    def team_card(self, view: View, team: str, role: str, text: Text) -> Card:
        """Return a team with its sticks and points."""
        numbers = [(view.long.get(team, 0), text("sticks")), (view.short.get(team, 0), text("points"))]
        return Card(team.lower(), team_name(view, team), role, numbers)

    def rest_card(self, view: View, text: Text) -> list[Card]:
        """Return the middle."""
        return [Card("middle", text("In the middle"), "", [(view.middle, text("sticks"))])]

    def form(self, moment: Moment) -> Play | None:
        """Return the form of the toss, or of a hit."""
        view, text = moment.view, moment.text
        if "toss" in moment.words:
            label = text("{team} hides first")
            return first_team(moment, ("toss", "winner"), text("Who won the toss?"), label, team_name)
        if not moment.words & {"hit", "foul"}:
            return None
        second, owed = view.owed == "second" and not moment.again, "hit" in moment.words
        struck = frozenset(hit.pad for hit in view.hits if second and hit.pad is not None)
        buttons = tuple(
            Button(look, label, moment.act({"do": "hit", "found": found}), look, key, on=owed)
            for look, label, found, key in (
                ("found", text("Found"), True, "f"),
                ("missed", text("Missed"), False, "m"),
            )
        )
        row = Row("pad", text("Pad hit, if you want it kept"), pads(text, struck), needed=False)
        return Play("hits", moment.title, buttons, (row,), ready_button(moment, text("Hidden")))


def _role(view: View, team: str, text: Text) -> str:
    if view.phase == "over":
        return text("wins") if view.winner == team else ""
    if view.hider not in {"A", "B"}:
        return ""
    return text("hides") if view.hider == team else text("hits") if other(view.hider) == team else ""  # type: ignore[arg-type]


PAGE = DakotaPage()

"""Hampa Apena on the pages: the sticks and points of two teams, and the pads that are hit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pi_controller.games.base import IllegalActionError, other
from pi_controller.games.dakota import DakotaSheet
from pi_controller.games.dakota_state import HIDER_FOULS, HITTER_FOULS, State
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap
from pi_controller.show import phrases
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import inline, team_name
from pi_controller.show.paint import share
from pi_controller.show.words import plain
from pi_controller.web.console_play import (
    Button,
    FoulButton,
    FoulsOf,
    Moment,
    Play,
    Row,
    Which,
    first_team,
    pads,
    ready_button,
)
from pi_controller.web.game_page import STROKES, Card, Cell, GamePage, Pad, Pool, Strip

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_controller.games.base import Game
    from pi_controller.table.view import View

    Text = Callable[[str], str]


class DakotaPage(GamePage[DakotaSheet]):
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

    def pads(self, view: View, language: str) -> list[Pad]:
        """Return the pads of this hide: what was hit, and after it where the bead lay."""
        text, opened = catalogue(language).gettext, view.opening
        pads: dict[int, Pad] = {pad: Pad() for pad in EVERY_PAD}
        if opened is not None and opened.hide == view.hide and opened.pad in pads:
            pads[opened.pad] = Pad("bead", text("the bead was here"))
        for number, hit in enumerate(view.hits[:2], 1):
            if hit.pad is not None:
                order = text("first hit") if number == 1 else text("second hit")
                template = text("{order}: found") if hit.found else text("{order}: not found")
                pads[hit.pad] = Pad("found" if hit.found else "struck", template.format(order=order))
        return [*pads.values()]

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

    def fouls(self, view: View, game: Game[Any], state: object, language: str = "en") -> tuple[FoulsOf, ...]:
        """Return the fouls that the rules allow now, by their hide: the one in progress, the one just settled.

        While the bead is shown the hide just settled comes first: a foul seen then is nearly always of that one.
        """
        return _fouls(view, game, state, language) if isinstance(state, State) else ()


def _role(view: View, team: str, text: Text) -> str:
    if view.phase == "over":
        return text("wins") if view.winner == team else ""
    if view.hider not in {"A", "B"}:
        return ""
    return text("hides") if view.hider == team else text("hits") if other(view.hider) == team else ""


def _fouls(view: View, game: Game[Any], state: State, language: str) -> tuple[FoulsOf, ...]:
    found: list[FoulsOf] = []
    settled = view.phase in {"show", "over"}
    for hide in ("last", "this") if settled else ("this", "last"):
        began = state.last if hide == "last" else state
        if began is None or began.hider is None:
            continue
        buttons = _foul_buttons(view, game, state, hide, began, language)
        if buttons:
            label = _hide_label(view, hide, began, settled=settled, language=language)
            found.append(FoulsOf(hide, label, not found, buttons))
    return tuple(found)


def _hide_label(view: View, hide: Which, began: State, *, settled: bool, language: str) -> str:
    text = catalogue(language).gettext
    number = view.hide + (settled and hide == "this") - (not settled and hide == "last")
    template = text("Hide {n}, just settled: {team} hid") if hide == "last" else text("Hide {n}: {team} hides")
    return template.format(n=number, team=inline(team_name(view, began.hider or "A")))


def _foul_buttons(
    view: View, game: Game[Any], state: State, hide: Which, began: State, language: str
) -> tuple[FoulButton, ...]:
    buttons: list[FoulButton] = []
    for by, kinds in (("hider", HIDER_FOULS), ("hitter", HITTER_FOULS)):
        for kind in kinds:
            action = {"do": "foul", "by": by, "kind": kind} | ({"hide": "last"} if hide == "last" else {})
            try:
                after, _ = game.play(state, action)
            except IllegalActionError:
                continue
            outcome = _foul_outcome(view, game, by, began, state, after, language)
            buttons.append(
                FoulButton(by, kind, hide, foul_label(kind, language), outcome, {"judge": "action", "action": action})
            )
    return tuple(buttons)


def _foul_outcome(view: View, game: Game[Any], by: str, began: State, now: State, after: State, language: str) -> str:
    """Return whom the foul is for, and how both teams stand then."""
    text, plural = catalogue(language).gettext, catalogue(language).ngettext
    if game.sheet(now) == game.sheet(after):
        return text("A warning: nothing changes.")
    assert began.hider
    team = other(began.hider) if by == "hider" else began.hider
    opponents = other(team)
    if after.winner:
        template = text("For {team}: {sticks}, {points}, and the game")
    elif after.owed == "second":
        template = text("For {team}: {sticks}, {points} ({opponents}: {count}). The second hit is owed")
    elif after.hider == team:
        template = text("For {team}: {sticks}, {points} ({opponents}: {count}). They hide next")
    else:
        template = text("For {team}: {sticks}, {points} ({opponents}: {count}). They hit next")
    return template.format(
        team=inline(team_name(view, team)),
        opponents=inline(team_name(view, opponents)),
        sticks=plural("{n} stick", "{n} sticks", after.sticks[team]).format(n=after.sticks[team]),
        points=plural("{n} point", "{n} points", after.points(team)).format(n=after.points(team)),
        count=after.sticks[opponents],
    )


def foul_label(kind: str, language: str = "en") -> str:
    """Return a foul as a button says it: a few words."""
    return phrases.foul(kind, language).rstrip(".") or plain(kind)


PAGE = DakotaPage()

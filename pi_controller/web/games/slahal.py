"""Slahal on the pages: each team's live and dead sticks, who holds the king stick, and which pairs of bones are out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pi_controller.games.slahal import SlahalSheet
from pi_controller.games.slahal_state import ALL_DEAD, ONE_PAIR, PER_TEAM
from pi_controller.show.games.slahal import SIGNALS, SlahalShow
from pi_controller.show.names import inline, team_name
from pi_controller.show.paint import share
from pi_controller.web.console_play import Button, Choice, Moment, Play, Row, act, ready_button
from pi_controller.web.game_page import STROKES, Card, Cell, GamePage, Strip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pi_controller.table.view import View

    Text = Callable[[str], str]


class SlahalPage(GamePage[SlahalSheet]):
    """How the game stands on the pages."""

    template: ClassVar[str | Path] = Path(__file__).with_suffix(".html")
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"pairs_out": (None, 1, 2), "phase": ("duel", "play", "over")}
    replaced: ClassVar[frozenset[str]] = frozenset({"duel", "guess"})

    def name_of(self, view: View, side: str) -> str:
        """Return how a team is named at the table."""
        return team_name(view, side)

    def values(self, view: View, language: str) -> dict[str, Any]:
        """Return what the template takes."""
        return {"sides": self.sides(view, language), "per_team": PER_TEAM, "all_dead": ALL_DEAD}

    def strip(self, view: View, language: str) -> Strip:  # noqa: ARG002 - numbers alone
        """Return all sticks of each team."""
        sticks = self.sheet(view)["sticks"]
        return Strip([Cell(team, n, None, share(n, sum(sticks.values()) or 1, STROKES)) for team, n in sticks.items()])

    def team_card(self, view: View, team: str, role: str, text: Text) -> Card:
        """Return a team with its live and dead sticks, and the king stick where it holds that."""
        sheet = self.sheet(view)
        numbers = [(sheet["live"][team], text("live")), (sheet["dead"][team], text("dead"))]
        king = text("king stick") if sheet["king"] == team else ""
        return Card(team.lower(), team_name(view, team), role, numbers, king)

    def rest_card(self, view: View, text: Text) -> list[Card]:
        """Return the bones that are out."""
        out = self.sheet(view)["pairs_out"]
        return [Card("middle", text("Bones"), "", [(out, text("pairs out"))] if out else [])]

    def form(self, moment: Moment) -> Play | None:
        """Return the form of the duel, or of a guess."""
        if "duel" in moment.words:
            return Play("choice", moment.title or moment.text("Who guessed the bones?"), _duel(moment))
        return _guess(moment) if "guess" in moment.words else None


def _duel(moment: Moment) -> tuple[Button, ...]:
    text = moment.text
    only = text("Only {team}")
    results = (
        (True, False, only.format(team=inline(team_name(moment.view, "A"))), "a"),
        (False, True, only.format(team=inline(team_name(moment.view, "B"))), "b"),
        (True, True, text("Both, or neither: again"), ""),
    )
    return tuple(
        Button(f"duel-{i}", label, moment.act({"do": "duel", "A": a, "B": b}), look, str(i))
        for i, (a, b, label, look) in enumerate(results, 1)
    )


def _guess(moment: Moment) -> Play:
    text, again = moment.text, moment.again is not None
    two = again or PAGE.sheet(moment.view)["pairs_out"] != 1
    signals = tuple(
        Choice(name, text(options), look=name, on=two or name in ONE_PAIR) for name, options in SIGNALS.items()
    )
    options = {"block": text("Block: one holder at a time, the one at the guesser's left first")} if two else {}
    if not two or again:
        options["mirror"] = text("Mirrored: shown with the bones that were caught")
    rows = (
        *(Row(key, "", (Choice(value=True, label=label),), needed=False) for key, label in options.items()),
        Row("signal", text("The guess, as the guesser shows it"), signals),
        Row("actual", text("What would have caught the bones out"), signals),
    )
    submit = Button("guess", text("Enter the guess"), moment.act({"do": "guess"}), "main", "e")
    more = () if again else tuple(_seldom(moment))
    return Play("guess", moment.title, (), rows, ready_button(moment, text("Hands out")), submit, more)


def _seldom(moment: Moment) -> Iterator[Button]:
    for action in moment.legal:
        if action["do"] in SlahalShow.slips:
            yield Button(action["do"], moment.text(SlahalShow.slips[action["do"]]), act(action))
        elif action["do"] == "king_moved":
            team = inline(team_name(moment.view, action["by"]))
            label = moment.text("{team} moved the king stick too early").format(team=team)
            yield Button(f"king-{action['by']}", label, act(action))


PAGE = SlahalPage()

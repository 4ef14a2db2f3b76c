"""How a game stands on the pages: its table, its cells in a stream's strip, its cards and form on the judge's console.

`GamePage` does it for any game that is shown by its score sheet, plainly. A game that wants more has a subclass of it,
`PAGE` of its module in `web/games/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from pi_controller.games import registry
from pi_controller.show.game_show import (
    POOL_NAMES,
    everything,
    has_sheet,
    held,
    plain,
    player_rows,
    pool,
    show_of,
)
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import inline, player_name, team_name
from pi_controller.show.paint import share
from pi_controller.web.console_play import Button, Moment, Play, plain_buttons
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pi_controller.games.base import Game
    from pi_controller.table.view import View
    from pi_controller.web.console_play import FoulsOf

    Text = Callable[[str], str]
    Action = Mapping[str, Any]

SheetT = TypeVar("SheetT")

STROKES = 20
"""Strokes of a row that stands for all there is."""


class Side(NamedTuple):
    """A team's section of the table. `mark` is `won`, `hides` for whose turn it is, `hits` for the other, or empty."""

    letter: str
    name: str
    role: str
    mark: str


class Player(NamedTuple):
    """A player's place at the table. `holding` is what they have, `state` is `won`, `throws`, `out` or nothing."""

    name: str
    holding: object
    state: str
    role: str


class Pool(NamedTuple):
    """What nobody holds: how it is called, and how much it is."""

    name: str
    amount: int


class Cell(NamedTuple):
    """A team or player in the strip: the large number, the sticks where those are another number, strokes lit of 20."""

    player: str
    points: int
    sticks: int | None = None
    lit: int | None = None


class Strip(NamedTuple):
    """The score in one strip: a cell for each team or player, and what nobody holds."""

    cells: Sequence[Cell]
    rest: Pool | None = None


class Pad(NamedTuple):
    """A pad of the room's mat. `mark` is `struck`, `found`, `bead`, `opened` or nothing, `look` `high` or `mate`."""

    mark: str = ""
    said: str = ""
    worth: str = ""
    look: str = ""


class Card(NamedTuple):
    """Who plays and what they hold, on the judge's console; `numbers` each with its unit, `number` a player's."""

    look: str
    name: str
    role: str
    numbers: Sequence[tuple[object, str]]
    more: str = ""
    number: int = 0


class GamePage(Generic[SheetT]):
    """What any game's score sheet can be shown by."""

    template: ClassVar[str | Path] = "plain.html"
    """The template of its table."""
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """What may stand under a key of the score sheet, None for nothing, where it is no number and no side."""
    replaced: ClassVar[frozenset[str]] = frozenset()
    """The words of actions that another of their kind can be put in the place of, at once."""

    def sheet(self, view: View) -> SheetT:
        """Return the score sheet in `view`, by the keys of its game."""
        return cast("SheetT", view.sheet)

    def table(self, view: View, language: str = "en") -> str:
        """Return the table as HTML."""
        return render(self.template, language, view=view, sheet=view.sheet, **self.values(view, language))

    def values(self, view: View, language: str) -> dict[str, Any]:
        """Return what the template takes besides `view`, `sheet` and `text`."""
        counts, total, rest, show = held(view.sheet), everything(view.sheet), pool(view.sheet), show_of(view.game)
        return {
            "sides": [] if show.of_players(view.sheet) else self.sides(view, language).values(),
            "players": self.players(view, language) if show.of_players(view.sheet) else [],
            "held": counts,
            "lit": {side: share(n, total, STROKES) for side, n in counts.items()},
            "pool": Pool(plain(rest[0]), rest[1]) if rest else None,
            "pool_lit": share(rest[1], total, STROKES) if rest else 0,
            "others": [f"{plain(key)}: {value}" for key, value in show.others(view)],
        }

    def sides(self, view: View, language: str) -> dict[str, Side]:
        """Return the two teams by their letters."""
        show, winner, sides = show_of(view.game), view.sheet.get("winner"), dict[str, Side]()
        turn = show.turn(view)
        for letter in "AB":
            mark = "" if turn is None else "hides" if turn == letter else "hits"
            if winner:
                mark = "won" if winner == letter else ""
            sides[letter] = Side(letter, self.name_of(view, letter), show.role(view, letter, language), mark)
        return sides

    def name_of(self, view: View, side: str) -> str:
        """Return how a side is named at the table."""
        return player_name(view, side)

    def players(self, view: View, language: str) -> list[Player]:
        """Return the players in turn order."""
        show, players = show_of(view.game), list[Player]()
        for name, n in held(view.sheet).items():
            role = show.role(view, name, language)
            state = "won" if view.sheet.get("winner") == name else "throws" if role else ""
            players.append(Player(player_name(view, name), self.holding(view, name, n, language), state, role))
        return players

    def holding(self, view: View, name: str, n: int, language: str) -> object:  # noqa: ARG002 - a game may say more
        """Return what a player has: `n`, the number of it on the score sheet."""
        return n

    def turn(self, view: View) -> str | None:
        """Return the side whose turn it is, or who has won."""
        return view.sheet.get("winner") or view.winner or show_of(view.game).turn(view)

    def strip(self, view: View, language: str) -> Strip:
        """Return the score for the strip."""
        total, rest = everything(view.sheet), pool(view.sheet)
        cells = [Cell(side, n, None, share(n, total, STROKES)) for side, n in held(view.sheet).items()]
        return Strip(cells, self._pool(rest, language))

    @staticmethod
    def _pool(rest: tuple[str, int] | None, language: str) -> Pool | None:
        name = POOL_NAMES.get(rest[0]) if rest else None
        return Pool(catalogue(language).gettext(name) if name else plain(rest[0]), rest[1]) if rest else None

    def pads(self, view: View, language: str) -> Sequence[Pad]:  # noqa: ARG002 - most have none
        """Return the four pads as they lie, for the mat in the room; nothing in a game that is played without."""
        return ()

    def of_side(self, view: View, side: str, text: Text) -> str:  # noqa: ARG002 - most have none
        """Return what is special about a side's turn in a few words, or nothing."""
        return ""

    def facts(self, view: View, language: str) -> tuple[str, ...]:  # noqa: ARG002 - most have none
        """Return short facts on the hide or turn that only this game has, for the judge."""
        return ()

    def cards(self, view: View, language: str) -> list[Card]:
        """Return the judge's cards: the teams with what nobody holds between them, or the players and then that."""
        text, show, sheet = catalogue(language).gettext, show_of(view.game), view.sheet
        rest = self.rest_card(view, text)
        if not show.of_players(sheet):
            roles = {team: show.role(view, team, language) for team in "AB"}
            a, b = (self.team_card(view, team, roles[team], text) for team in "AB")
            return [a, *rest, b]
        rows, unit = player_rows(sheet), self.unit(text)
        players = [
            Card(
                f"p{i}",
                player_name(view, name),
                show.role(view, name, language),
                [(n, unit)],
                text("out") if rows[name].get("out") else "",
                i,
            )
            for i, (name, n) in enumerate(held(sheet).items(), 1)
        ]
        return [*players, *rest]

    def unit(self, text: Text) -> str:  # noqa: ARG002
        """Return what is counted on the cards: sticks, counters, notches."""
        return ""

    def team_card(self, view: View, team: str, role: str, text: Text) -> Card:
        """Return the card of a team."""
        return Card(team.lower(), team_name(view, team), role, [(held(view.sheet)[team], self.unit(text))])

    def rest_card(self, view: View, text: Text) -> list[Card]:
        """Return the card of what nobody holds, if there is one."""
        rest = pool(view.sheet)
        return [Card("middle", text(POOL_NAMES[rest[0]]), "", [(rest[1], self.unit(text))])] if rest else []

    def play(
        self,
        view: View,
        legal: Sequence[Action],
        language: str = "en",
        options: Mapping[str, Any] | None = None,
        again: Action | None = None,
        *,
        begins: bool = False,
    ) -> Play:
        """Return what can be entered now; with `again`, the last action, what could have been in its place.

        `legal` are the actions that the game allows (`Game.legal_actions`), `options` the game's: what throws are
        worth. `begins`: who looks may begin another game once this one is over.
        """
        text = catalogue(language).gettext
        moment = Moment(view, legal, text, options or {}, again)
        # a foul of the hide just settled may still be called when the game is over, and has its place elsewhere
        if view.phase == "over" and not again:
            return Play("over", text("The game is over"), new_games(moment) if begins else ())
        if made := self.form(moment):
            return made
        if legal and not again:
            return Play("choice", "", plain_buttons(view.game, legal))
        return Play("choice", moment.title or text("Nothing to enter"))

    def fouls(self, view: View, game: Game[Any], state: object, language: str = "en") -> tuple[FoulsOf, ...]:  # noqa: ARG002
        """Return the fouls that the judge can call now, by the hide they are of; `state` is the game's in `view`."""
        return ()

    def form(self, moment: Moment) -> Play | None:  # noqa: ARG002
        """Return the form of the game's own by which the judge enters what happens, or None where it has none now."""
        return None


def new_games(moment: Moment) -> tuple[Button, ...]:
    """Return buttons for another game by the same rules, and for teams one in which each sits where the other did."""
    text, command = moment.text, {"judge": "new_game"}
    confirm = text("Touch again: this game is kept, and another begins")
    if "players" in moment.options:
        return (Button("new-game", text("New game"), command, confirm=confirm),)
    swapped = text("Rematch, sides changed: {a} at B, {b} at A")
    names = {key: inline(team_name(moment.view, team)) for key, team in (("a", "A"), ("b", "B"))}
    return (
        Button("new-game", text("Rematch"), command, confirm=confirm),
        Button("new-game-swapped", swapped.format(**names), {**command, "swapped": True}, confirm=confirm),
    )


_PLAIN = GamePage[Mapping[str, Any]]()


@cache
def named(game: str) -> GamePage[Any]:
    """Return how the game of that name stands on the pages: by `PAGE` of its own module, plainly where it has none."""
    own = registry.floor(game, "web.games")
    return _PLAIN if own is None else own.PAGE


def page_of(view: View) -> GamePage[Any]:
    """Return how the game of `view` stands on the pages.

    A view without a score sheet is shown as the sticks that it holds, which are Hampa Apena's.
    """
    return named(view.game if has_sheet(view) else registry.DEFAULT)

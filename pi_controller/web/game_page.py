"""A game's parts of the pages: its scoreboard as texts and strokes, and its form on the judge's console.

`GamePage` shows any game by its scoreboard. A game can have a subclass, `PAGE` of its module `console`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from pi_controller.display import drawing, game_display
from pi_controller.display.i18n import Translator
from pi_controller.display.shown_names import isolate_name, player_name, team_name
from pi_controller.rules import registry
from pi_controller.rules.base import Game
from pi_controller.rules.scoreboard import Count, Side
from pi_controller.table.view import View
from pi_controller.web.entry_forms import Action, EntryForm, FormButton, FormContext, FoulsOf, plain_buttons
from pi_controller.web.templates import render

MAX_STROKES = 20
"""Strokes of a row that represents the total."""


class CountBar(NamedTuple):
    """A count with its unit as text, and its strokes: `lit` of `of`."""

    unit: str
    n: int
    lit: int
    of: int


class DrawnSide(NamedTuple):
    """A side of the scoreboard as texts. `look` is a, b, or p1 to p8, `sign` its letter or number.

    `state` is `won`, `turn`, `waits` (it has a role, but not the turn), `out` or "". `bars` are the counts besides the
    score, or the score alone.
    """

    look: str
    sign: str
    name: str
    role: str
    state: str
    score: CountBar
    bars: tuple[CountBar, ...]
    notes: tuple[str, ...]

    @property
    def counts(self) -> tuple[CountBar, ...]:
        """All counts, the score first."""
        return self.bars if self.score in self.bars else (self.score, *self.bars)


SheetT = TypeVar("SheetT")


class GamePage(Generic[SheetT]):
    """Shows any game by its scoreboard."""

    template: ClassVar[str | Path] = ""
    """The template of what the game draws above its scoreboard; "" for nothing."""
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """The choices of a key of the score sheet (None for none) that is neither a number nor a side."""
    replaceable_actions: ClassVar[frozenset[str]] = frozenset()
    """The names of actions that the judge can replace at once by another of their kind."""

    def __init__(self, game: str, tr: Translator) -> None:
        self.tr, self.show = tr, game_display.get_show(game, tr)

    @classmethod
    def sheet(cls, view: View) -> SheetT:
        """Return the score sheet in `view`, typed as this game's."""
        return cast("SheetT", view.sheet)

    def table(self, view: View) -> str:
        """Return the table as HTML."""
        own = render(self.template, self.tr, sheet=view.sheet, **self.values(view)) if self.template else ""
        return own + render(
            "scoreboard.html",
            self.tr,
            sides=self.draw_sides(view),
            pool=self.draw_pool(view),
            notes=self.describe_notes(view),
            teams=view.scoreboard.of_teams and not self.template,  # all sides stand beside the game's own drawing
            goal=view.scoreboard.goal,
        )

    def values(self, view: View) -> dict[str, Any]:  # noqa: ARG002 - for subclasses
        """Return the template's values besides `sheet` and `text`."""
        return {}

    def make_bar(self, count: Count) -> CountBar:
        """Return a count of the scoreboard as text and strokes."""
        of = min(count.of, MAX_STROKES)
        unit = self.show.label(count.unit)
        return CountBar(unit, count.n, drawing.count_pixels(count.n, count.of, of), of)

    def draw_sides(self, view: View) -> list[DrawnSide]:
        """Return the sides of the scoreboard of `view` as texts."""
        board = view.scoreboard

        def draw(number: int, side: Side) -> DrawnSide:
            state = "waits" if side.role else "out" if side.out else ""
            state = "won" if side.key == board.winner else "turn" if side.key == board.turn else state
            role = side.role or ("out" if side.out else "")
            return DrawnSide(
                side.key.lower() if board.of_teams else f"p{number}",
                side.key if board.of_teams else str(number),
                player_name(view, side.key),
                self.show.label(role) if role else "",
                state,
                self.make_bar(side.counts[0]),
                tuple(self.make_bar(bar) for bar in side.bars),
                tuple(self.show.describe_note(note) for note in side.notes),
            )

        return [draw(number, side) for number, side in enumerate(board.sides, 1)]

    def draw_pool(self, view: View) -> CountBar | None:
        """Return the pool of the scoreboard of `view`, or None."""
        return self.make_bar(view.scoreboard.pool) if view.scoreboard.pool else None

    def describe_notes(self, view: View) -> list[str]:
        """Return the notes on the whole game."""
        return [self.show.describe_note(note) for note in view.scoreboard.notes]

    def cards(self, view: View) -> str:
        """Return the judge's cards as HTML: the teams with the pool between them, or the players and then the pool."""
        sides, pool = self.draw_sides(view), self.draw_pool(view)
        return render("cards.html", self.tr, sides=sides, pool=pool, teams=view.scoreboard.of_teams)

    def entry_form(
        self,
        view: View,
        legal: Sequence[Action],
        options: Mapping[str, Any] | None = None,
        again: Action | None = None,
        *,
        begins: bool = False,
    ) -> EntryForm:
        """Return the form for the next action; with `again`, the last action, the form that replaces it.

        `legal` are the actions that the game allows (`Game.legal_actions`), `options` the game's, such as the worth of
        throws. `begins` is whether the user may begin another game after this one.
        """
        moment = FormContext(view, legal, self.tr, options or {}, again)
        # a foul of the last hide can still be called after the game, in its own form
        if view.phase == "over" and view.void and not again:
            # no rematch: it would block the hub's match
            return EntryForm("over", self.tr.text("Waiting for the next match from the hub"))
        if view.phase == "over" and not again:
            return EntryForm("over", self.tr.text("The game is over"), new_games(moment) if begins else ())
        if made := self.form(moment):
            return made
        if legal and not again:
            return EntryForm("choice", "", plain_buttons(view.game, legal))
        return EntryForm("choice", moment.title or self.tr.text("No entry is needed now"))

    def fouls(self, view: View, game: Game[Any], state: object) -> tuple[FoulsOf, ...]:  # noqa: ARG002
        """Return the fouls that the judge can call now, by hide; `state` is the game's state in `view`."""
        return ()

    def form(self, moment: FormContext) -> EntryForm | None:  # noqa: ARG002
        """Return the game's own form for the next action, or None if it has none now."""
        return None


def new_games(moment: FormContext) -> tuple[FormButton, ...]:
    """Return the buttons for another game by the same rules; teams also get one with changed sides."""
    tr, command = moment.tr, {"judge": "new_game"}
    confirm = tr.text("Touch again: this game is saved and a new one starts")
    if "players" in moment.options:
        return (FormButton("new-game", tr.text("New game"), command, confirm=confirm),)
    names = {key: isolate_name(team_name(moment.view, team)) for key, team in (("a", "A"), ("b", "B"))}
    swapped = tr.text("Rematch with sides changed: {a} as B, {b} as A", **names)
    return (
        FormButton("new-game", tr.text("Rematch"), command, confirm=confirm),
        FormButton("new-game-swapped", swapped, {**command, "swapped": True}, confirm=confirm),
    )


@cache
def page_of_game(game: str, tr: Translator) -> GamePage[Any]:
    """Return the page of the game with this name: of the class `PAGE` of its module, else the plain one."""
    own = registry.game_module(game, "console") if registry.playable(game) else None
    return (GamePage[Mapping[str, Any]] if own is None else own.PAGE)(game, tr)


def page_of(view: View, tr: Translator) -> GamePage[Any]:
    """Return the page of the game of `view`."""
    return page_of_game(view.game, tr)

"""A game's parts of the pages: its scoreboard as texts and strokes, and its form on the judge's console.

`GamePage` shows any game by its scoreboard. A game can have a subclass, `PAGE` of its module `console`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, cast

import msgspec

from pi_controller.display import drawing, game_display
from pi_controller.display.i18n import Translator
from pi_controller.display.shown_names import isolate_name, player_name, team_name
from pi_controller.pinmap import pinmap
from pi_controller.record.notation import format_action
from pi_controller.rules import registry
from pi_controller.rules.base import Game
from pi_controller.rules.scoreboard import Count, Side
from pi_controller.table.view import View
from pi_controller.web.templates import render

Action = Mapping[str, Any]

# Input forms of the judge's console: possible actions as buttons and rows of choices with stable ids.
#
# A `Play` has one of five shapes, which the script draws: `choice` (buttons), `hits` (pads, found, missed), `shoot`
# and `guess` (a row for each value), `piece_choices` (the visible pieces in the bowl). Each game builds its form
# (`GamePage.form`) from the parts in this module.


class FormButton(msgspec.Struct, frozen=True):
    """One button: `id` fixes its place, `say` is the command without its time, `look` its style, `key` a shortcut.

    `on` is whether the rules allow it now. With `confirm` the first touch shows that text and the second sends the
    command.
    """

    id: str
    label: str
    say: dict[str, Any]
    look: str = ""
    key: str = ""
    on: bool = True
    confirm: str = ""


class FormChoice(msgspec.Struct, frozen=True):
    """One choice of a row; `look` is its picture, `said` its text for screen readers."""

    value: Any
    label: str
    said: str = ""
    look: str = ""
    on: bool = True


class ChoiceRow(msgspec.Struct, frozen=True):
    """A field for up to `many` of its choices, in the order of touch; a `needed` one must be filled in."""

    key: str
    label: str
    choices: tuple[FormChoice, ...]
    many: int = 1
    needed: bool = True


class EntryForm(msgspec.Struct, frozen=True):
    """A form: `ready` is the hiders' button, `rows` are filled in before `submit`, `more` are rarely used buttons.

    `values` is the worth of a throw by the counts of its pieces, such as `0100`; other throws are worth 0.
    """

    shape: str
    title: str
    buttons: tuple[FormButton, ...] = ()
    rows: tuple[ChoiceRow, ...] = ()
    ready: FormButton | None = None
    submit: FormButton | None = None
    more: tuple[FormButton, ...] = ()
    values: dict[str, int] | None = None


NO_PIECE_KEY = "none"
"""The key of the row whose only choice means that none of the pieces shows."""


def make_call(action: Action, *, again: bool = False) -> dict[str, Any]:
    """Return the call for `action`; with `again` the call that replaces the last action by it."""
    return {"judge": "replace" if again else "action", "action": dict(action)}


WhichHide = Literal["this", "last"]


class FoulButton(msgspec.Struct, frozen=True):
    """One foul to enter: `say` is the call without its time, `outcome` describes its effect."""

    by: str
    kind: str
    hide: WhichHide
    label: str
    outcome: str
    say: dict[str, Any]


class FoulsOf(msgspec.Struct, frozen=True):
    """The fouls of one hide; `label` names the hide and its hiders, `chosen` is whether it is shown first."""

    hide: WhichHide
    label: str
    chosen: bool
    buttons: tuple[FoulButton, ...]


class FormContext(NamedTuple):
    """The input of a form: the view, its `legal` actions (`Game.legal_actions`), and the game's options.

    With `again`, the last action, the form is for replacing that action.
    """

    view: View
    legal: Sequence[Action]
    tr: Translator
    options: Mapping[str, Any]
    again: Action | None = None

    @property
    def words(self) -> set[str]:
        """The names of the possible actions."""
        return {self.again["do"]} if self.again else {action["do"] for action in self.legal}

    @property
    def actions(self) -> Sequence[Action]:
        """The possible actions, or the one action to be replaced."""
        return self.legal if self.again is None else [self.again]

    @property
    def title(self) -> str:
        """The title of a form that replaces the last action; else ""."""
        return self.tr.text("What was it?") if self.again else ""

    def make_call(self, action: Action) -> dict[str, Any]:
        """Return the call for `action`, or the call that replaces the last action by it."""
        return make_call(action, again=self.again is not None)


def plain_buttons(game: str, legal: Sequence[Action]) -> tuple[FormButton, ...]:
    """Return one button for each legal action, labelled by its notation."""
    labels = (game_display.key_to_words(format_action(game, action)) for action in legal)
    return tuple(
        FormButton(f"action-{i}", label, make_call(action), "", str(i) if i < 10 else "")
        for i, (label, action) in enumerate(zip(labels, legal, strict=True), 1)
    )


def first_team(
    moment: FormContext, action: tuple[str, str], title: str, label: str, name: Callable[..., str]
) -> EntryForm:
    """Return the form that asks which team comes first; `action` is the action's name and key, `name` names a team."""
    do, key = action
    buttons = tuple(
        FormButton(
            f"{do}-{team}",
            label.format(team=isolate_name(name(moment.view, team))),
            moment.make_call({"do": do, key: team}),
            team.lower(),
            str(number),
        )
        for number, team in enumerate("AB", 1)
    )
    return EntryForm("choice", moment.title or title, buttons)


def ready_button(moment: FormContext, label: str) -> FormButton | None:
    """Return the hiders' button; it has the same place in every game with hiding."""
    hiding = moment.view.phase in {"hide", "show"} and moment.view.question is None
    return None if moment.again else FormButton("hidden", label, {"judge": "hidden"}, "", "h", on=hiding)


def pad_choices(tr: Translator, off: frozenset[int] = frozenset()) -> tuple[FormChoice, ...]:
    """Return the pads as choices; those in `off` are disabled."""
    return tuple(
        FormChoice(pad, str(pad), tr.text("pad {pad}", pad=pad), on=pad not in off)
        for pad in range(1, pinmap().pads.count + 1)
    )


def no_piece(label: str) -> ChoiceRow:
    """Return the row for a throw without visible pieces, so that an empty form is not such a throw."""
    return ChoiceRow(NO_PIECE_KEY, "", (FormChoice(value=True, label=label),), needed=False)


def piece_choices(look: str, label: str, n: int) -> tuple[FormChoice, ...]:
    """Return `n` pieces of one kind as choices with the picture `look`."""
    return tuple(FormChoice(i, label, f"{label} {i}" if n > 1 else label, look) for i in range(1, n + 1))


def throw_form(
    moment: FormContext,
    rows: tuple[ChoiceRow, ...],
    slip: tuple[str, str],
    values: Mapping[tuple[int, ...], int] | None,
) -> EntryForm:
    """Return the form of a throw of pieces; `slip` is the name of a second button's action, and its label.

    `values` is the worth of a throw by the counts of its pieces.
    """
    submit = FormButton("throw", moment.tr.text("Enter the throw"), moment.make_call({"do": "throw"}), "main", "e")
    worth = {"".join(map(str, counts)): value for counts, value in values.items()} if values else None
    word, label = slip
    again = FormButton(word, moment.tr.text(label), moment.make_call({"do": word}))
    return EntryForm("pieces", moment.title, (), rows, None, submit, (again,), worth)


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
            teams=view.scoreboard.of_teams,
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

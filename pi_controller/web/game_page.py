"""A game's parts of the pages: its table, its cells in the stream's strip, its cards and form on the judge's console.

`GamePage` shows any game by its score sheet. A game can have a subclass: `PAGE` of its module `console`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, cast

import msgspec

from pi_controller.display import drawing, game_display
from pi_controller.display.i18n import catalogue
from pi_controller.pinmap import pinmap
from pi_controller.record.notation import format_action
from pi_controller.rules import registry
from pi_controller.rules.base import Game
from pi_controller.table.view import View
from pi_controller.web.templates import render

Text = Callable[[str], str]
Action = Mapping[str, Any]

# Input forms of the judge's console: possible actions as buttons and rows of choices with stable ids.
#
# A `Play` has one of five shapes, which the script draws: `choice` (buttons), `hits` (pads, found, missed), `shoot`
# and `guess` (a row for each value), `piece_choices` (the visible pieces in the bowl). Each game builds its form
# (`GamePage.form`) from the parts in this module.


class Button(msgspec.Struct, frozen=True):
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


class Choice(msgspec.Struct, frozen=True):
    """One choice of a row; `look` is its picture, `said` its text for screen readers."""

    value: Any
    label: str
    said: str = ""
    look: str = ""
    on: bool = True


class Row(msgspec.Struct, frozen=True):
    """A field for up to `many` of its choices, in the order of touch; a `needed` one must be filled in."""

    key: str
    label: str
    choices: tuple[Choice, ...]
    many: int = 1
    needed: bool = True


class Play(msgspec.Struct, frozen=True):
    """A form: `ready` is the hiders' button, `rows` are filled in before `submit`, `more` are rarely used buttons.

    `values` is the worth of a throw by the counts of its pieces, such as `0100`; other throws are worth 0.
    """

    shape: str
    title: str
    buttons: tuple[Button, ...] = ()
    rows: tuple[Row, ...] = ()
    ready: Button | None = None
    submit: Button | None = None
    more: tuple[Button, ...] = ()
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
    text: Text
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
        return self.text("What was it?") if self.again else ""

    def make_call(self, action: Action) -> dict[str, Any]:
        """Return the call for `action`, or the call that replaces the last action by it."""
        return make_call(action, again=self.again is not None)


def plain_buttons(game: str, legal: Sequence[Action]) -> tuple[Button, ...]:
    """Return one button for each legal action, labelled by its notation."""
    labels = (game_display.key_to_words(format_action(game, action)) for action in legal)
    return tuple(
        Button(f"action-{i}", label, make_call(action), "", str(i) if i < 10 else "")
        for i, (label, action) in enumerate(zip(labels, legal, strict=True), 1)
    )


def first_team(moment: FormContext, action: tuple[str, str], title: str, label: str, name: Callable[..., str]) -> Play:
    """Return the form that asks which team comes first; `action` is the action's name and key, `name` names a team."""
    do, key = action
    buttons = tuple(
        Button(
            f"{do}-{team}",
            label.format(team=drawing.isolate_name(name(moment.view, team))),
            moment.make_call({"do": do, key: team}),
            team.lower(),
            str(number),
        )
        for number, team in enumerate("AB", 1)
    )
    return Play("choice", moment.title or title, buttons)


def ready_button(moment: FormContext, label: str) -> Button | None:
    """Return the hiders' button; it has the same place in every game with hiding."""
    hiding = moment.view.phase in {"hide", "show"} and moment.view.question is None
    return None if moment.again else Button("hidden", label, {"judge": "hidden"}, "", "h", on=hiding)


def pad_choices(text: Text, off: frozenset[int] = frozenset()) -> tuple[Choice, ...]:
    """Return the pads as choices; those in `off` are disabled."""
    return tuple(
        Choice(pad, str(pad), text("pad {pad}").format(pad=pad), on=pad not in off)
        for pad in range(1, pinmap().pads.count + 1)
    )


def no_piece(label: str) -> Row:
    """Return the row for a throw without visible pieces, so that an empty form is not such a throw."""
    return Row(NO_PIECE_KEY, "", (Choice(value=True, label=label),), needed=False)


def piece_choices(look: str, label: str, n: int) -> tuple[Choice, ...]:
    """Return `n` pieces of one kind as choices with the picture `look`."""
    return tuple(Choice(i, label, f"{label} {i}" if n > 1 else label, look) for i in range(1, n + 1))


def throw_form(
    moment: FormContext, rows: tuple[Row, ...], slip: tuple[str, str], values: Mapping[tuple[int, ...], int] | None
) -> Play:
    """Return the form of a throw of pieces; `slip` is the name of a second button's action, and its label.

    `values` is the worth of a throw by the counts of its pieces.
    """
    submit = Button("throw", moment.text("Enter the throw"), moment.make_call({"do": "throw"}), "main", "e")
    worth = {"".join(map(str, counts)): value for counts, value in values.items()} if values else None
    word, label = slip
    again = Button(word, moment.text(label), moment.make_call({"do": word}))
    return Play("pieces", moment.title, (), rows, None, submit, (again,), worth)


SheetT = TypeVar("SheetT")

MAX_STROKES = 20
"""Strokes of a row that represents the total."""


class Side(NamedTuple):
    """A team's section of the table. `mark` is `won`, `hides` for the team whose turn it is, `hits` for the other, or
    "".
    """

    letter: str
    name: str
    role: str
    mark: str


class Player(NamedTuple):
    """A player's place at the table. `holding` is their score, `state` is `won`, `throws`, `out` or ""."""

    name: str
    holding: object
    state: str
    role: str


class Pool(NamedTuple):
    """The sticks or counters that belong to no side: name and amount."""

    name: str
    amount: int


class Cell(NamedTuple):
    """A team or player in the strip: the points, the sticks if they are counted apart, and the lit strokes of 20."""

    player: str
    points: int
    sticks: int | None = None
    lit: int | None = None


class Strip(NamedTuple):
    """The score as a strip: a cell for each team or player, and the pool."""

    cells: Sequence[Cell]
    rest: Pool | None = None


class Pad(NamedTuple):
    """A pad of the room's mat. `mark` is `struck`, `found`, `bead`, `opened` or "", `look` is `high`, `mate` or ""."""

    mark: str = ""
    said: str = ""
    worth: str = ""
    look: str = ""


class Card(NamedTuple):
    """A team, player or pool on the judge's console; `numbers` each with its unit, `number` is a player's."""

    look: str
    name: str
    role: str
    numbers: Sequence[tuple[object, str]]
    more: str = ""
    number: int = 0


class GamePage(Generic[SheetT]):
    """Shows any game by its score sheet."""

    template: ClassVar[str | Path] = "plain.html"
    """The template of the game's table."""
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """The choices of a key of the score sheet (None for none) that is neither a number nor a side."""
    replaceable_actions: ClassVar[frozenset[str]] = frozenset()
    """The names of actions that the judge can replace at once by another of their kind."""
    name_of = staticmethod(drawing.player_name)
    """The display name of a side at the table."""

    def sheet(self, view: View) -> SheetT:
        """Return the score sheet in `view`, typed as this game's."""
        return cast("SheetT", view.sheet)

    def table(self, view: View, language: str = "en") -> str:
        """Return the table as HTML."""
        return render(self.template, language, view=view, sheet=view.sheet, **self.values(view, language))

    def values(self, view: View, language: str) -> dict[str, Any]:
        """Return the template's values besides `view`, `sheet` and `text`."""
        sheet, show = view.sheet, game_display.get_show(view.game)
        counts, total = game_display.counts_by_side(sheet), game_display.total_count(sheet)
        rest = game_display.pool(sheet)
        return {
            "sides": [] if show.of_players(view.sheet) else self.sides(view, language).values(),
            "players": self.players(view, language) if show.of_players(view.sheet) else [],
            "held": counts,
            "lit": {side: drawing.scale_to_pixels(n, total, MAX_STROKES) for side, n in counts.items()},
            "pool": Pool(game_display.key_to_words(rest[0]), rest[1]) if rest else None,
            "pool_lit": drawing.scale_to_pixels(rest[1], total, MAX_STROKES) if rest else 0,
            "others": [f"{game_display.key_to_words(key)}: {value}" for key, value in show.others(view)],
        }

    def sides(self, view: View, language: str) -> dict[str, Side]:
        """Return the two teams by their letters."""
        show, winner, sides = game_display.get_show(view.game), view.sheet.get("winner"), dict[str, Side]()
        turn = show.turn(view)
        for letter in "AB":
            mark = "" if turn is None else "hides" if turn == letter else "hits"
            if winner:
                mark = "won" if winner == letter else ""
            sides[letter] = Side(letter, self.name_of(view, letter), show.role(view, letter, language), mark)
        return sides

    def players(self, view: View, language: str) -> list[Player]:
        """Return the players in turn order."""
        show, players = game_display.get_show(view.game), list[Player]()
        for name, n in game_display.counts_by_side(view.sheet).items():
            role = show.role(view, name, language)
            state = "won" if view.sheet.get("winner") == name else "throws" if role else ""
            players.append(Player(drawing.player_name(view, name), self.holding(view, name, n, language), state, role))
        return players

    def holding(self, view: View, name: str, n: int, language: str) -> object:  # noqa: ARG002 - for subclasses
        """Return what a player has; `n` is the number on the score sheet."""
        return n

    def turn(self, view: View) -> str | None:
        """Return the side whose turn it is, or the winner."""
        return view.sheet.get("winner") or view.winner or game_display.get_show(view.game).turn(view)

    def strip(self, view: View, language: str) -> Strip:
        """Return the score for the strip."""
        total, rest = game_display.total_count(view.sheet), game_display.pool(view.sheet)
        cells = [
            Cell(side, n, None, drawing.scale_to_pixels(n, total, MAX_STROKES))
            for side, n in game_display.counts_by_side(view.sheet).items()
        ]
        if rest is None:
            return Strip(cells)
        name = game_display.POOL_NAMES.get(rest[0])
        shown = catalogue(language).gettext(name) if name else game_display.key_to_words(rest[0])
        return Strip(cells, Pool(shown, rest[1]))

    def pads(self, view: View, language: str) -> Sequence[Pad]:  # noqa: ARG002 - most have none
        """Return the four pads for the room's mat; empty in a game without pads."""
        return ()

    def side_note(self, view: View, side: str, text: Text) -> str:  # noqa: ARG002 - most have none
        """Return a short note on a side's turn, or ""."""
        return ""

    def facts(self, view: View, language: str) -> tuple[str, ...]:  # noqa: ARG002 - most have none
        """Return short facts on the hide or turn that are special to this game, for the judge."""
        return ()

    def cards(self, view: View, language: str) -> list[Card]:
        """Return the judge's cards: the teams with the pool between them, or the players and then the pool."""
        text, show, sheet = catalogue(language).gettext, game_display.get_show(view.game), view.sheet
        rest = self.rest_card(view, text)
        if not show.of_players(sheet):
            roles = {team: show.role(view, team, language) for team in "AB"}
            a, b = (self.team_card(view, team, roles[team], text) for team in "AB")
            return [a, *rest, b]
        rows, unit = game_display.player_rows(sheet), self.unit(text)
        players = list[Card]()
        for i, (name, n) in enumerate(game_display.counts_by_side(sheet).items(), 1):
            shown, role = drawing.player_name(view, name), show.role(view, name, language)
            players.append(Card(f"p{i}", shown, role, [(n, unit)], text("out") if rows[name].get("out") else "", i))
        return [*players, *rest]

    def unit(self, text: Text) -> str:  # noqa: ARG002
        """Return the unit of the numbers on the cards: sticks, counters, notches."""
        return ""

    def team_card(self, view: View, team: str, role: str, text: Text) -> Card:
        """Return the card of a team."""
        count = game_display.counts_by_side(view.sheet)[team]
        return Card(team.lower(), drawing.team_name(view, team), role, [(count, self.unit(text))])

    def rest_card(self, view: View, text: Text) -> list[Card]:
        """Return the card of the pool, if there is one."""
        if (rest := game_display.pool(view.sheet)) is None:
            return []
        return [Card("middle", text(game_display.POOL_NAMES[rest[0]]), "", [(rest[1], self.unit(text))])]

    def entry_form(
        self,
        view: View,
        legal: Sequence[Action],
        language: str = "en",
        options: Mapping[str, Any] | None = None,
        again: Action | None = None,
        *,
        begins: bool = False,
    ) -> Play:
        """Return the form for the next action; with `again`, the last action, the form that replaces it.

        `legal` are the actions that the game allows (`Game.legal_actions`), `options` the game's, such as the worth of
        throws. `begins` is whether the user may begin another game after this one.
        """
        text = catalogue(language).gettext
        moment = FormContext(view, legal, text, options or {}, again)
        # a foul of the last hide can still be called after the game, in its own form
        if view.phase == "over" and view.void and not again:
            # no rematch: it would block the hub's match
            return Play("over", text("Waiting for the next match from the hub"))
        if view.phase == "over" and not again:
            return Play("over", text("The game is over"), new_games(moment) if begins else ())
        if made := self.form(moment):
            return made
        if legal and not again:
            return Play("choice", "", plain_buttons(view.game, legal))
        return Play("choice", moment.title or text("No entry is needed now"))

    def fouls(self, view: View, game: Game[Any], state: object, language: str = "en") -> tuple[FoulsOf, ...]:  # noqa: ARG002
        """Return the fouls that the judge can call now, by hide; `state` is the game's state in `view`."""
        return ()

    def form(self, moment: FormContext) -> Play | None:  # noqa: ARG002
        """Return the game's own form for the next action, or None if it has none now."""
        return None


def new_games(moment: FormContext) -> tuple[Button, ...]:
    """Return the buttons for another game by the same rules; teams also get one with changed sides."""
    text, command = moment.text, {"judge": "new_game"}
    confirm = text("Touch again: this game is saved and a new one starts")
    if "players" in moment.options:
        return (Button("new-game", text("New game"), command, confirm=confirm),)
    swapped = text("Rematch with sides changed: {a} as B, {b} as A")
    names = {key: drawing.isolate_name(drawing.team_name(moment.view, team)) for key, team in (("a", "A"), ("b", "B"))}
    return (
        Button("new-game", text("Rematch"), command, confirm=confirm),
        Button("new-game-swapped", swapped.format(**names), {**command, "swapped": True}, confirm=confirm),
    )


_PLAIN = GamePage[Mapping[str, Any]]()


@cache
def page_of_game(game: str) -> GamePage[Any]:
    """Return the page of the game with this name: `PAGE` of its module, else the plain one."""
    own = registry.game_module(game, "console")
    return _PLAIN if own is None else own.PAGE


def page_of(view: View) -> GamePage[Any]:
    """Return the page of the game of `view`.

    A view without a score sheet is Hampa Apena's, which is shown by its sticks.
    """
    return page_of_game(view.game if game_display.has_sheet(view) else registry.DEFAULT_GAME)

"""Bageswin, the fish game: eight pieces flipped in a bowl, and sticks that all come to one player.

The source is the last sheet of the Mille Lacs Band's DGR-13. Each piece is red on one side and white on the other. A
throw scores when all pieces show one colour, or one set of pieces differs in colour from all others; the player who
scores throws again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypedDict, cast

from pi_controller.errors import UsageError
from pi_controller.rules import base, validation
from pi_controller.rules.options import Choice, Names, Option, Value, WholeNumber, names
from pi_controller.rules.scoreboard import Count, Note, Scoreboard, Side, make_board
from pi_controller.rules.sticks import Sticks
from pi_controller.rules.validation import require
from pi_controller.text import format_value, join_words, mark

BANK = ""
"""The pool of the banker's pile; no player can have this name."""
PIECES = {"woman": 1, "fish": 1, "knives": 2, "buttons": 4}

Showing = tuple[int, int, int, int]
"""How many of each of the `PIECES` show one colour."""


def _values(one_colour: int, woman: int) -> dict[Showing, int]:
    """Return the value of each throw that scores, by the pieces that show red."""
    sets: dict[Showing, int] = {
        (0, 0, 0, 0): one_colour,
        (1, 0, 0, 0): woman,
        (0, 1, 0, 0): 20,
        (0, 0, 1, 0): 15,
        (0, 0, 2, 0): 30,
        **{(0, 0, 0, buttons): buttons for buttons in (1, 2, 3, 4)},
    }
    return sets | {(1 - w, 1 - f, 2 - k, 4 - b): value for (w, f, k, b), value in sets.items()}


VALUES = {
    "mille_lacs": _values(one_colour=50, woman=20),
    "hinckley_2009": _values(one_colour=8, woman=50),
}
"""The value of each throw that scores, by table; a throw that is not listed is worth 0."""
_NOTHING: Showing = (1, 1, 0, 0)


@dataclass(frozen=True, slots=True)
class BageswinState:
    """One moment of a game. `sticks` has the bank and then the players in turn order, the bowl passing down the row.

    `out` are the eliminated players; later sticks in the bank do not bring them back.
    """

    sticks: Sticks
    thrower: str
    value: int | None = None
    winner: str | None = None
    finish: Literal["forfeit"] | None = None
    out: frozenset[str] = frozenset()

    @property
    def players(self) -> tuple[str, ...]:
        """All players in turn order."""
        return self.sticks.names[1:]

    def others(self) -> tuple[str, ...]:
        """Return the remaining players except the thrower, beginning at the thrower's left."""
        at = self.players.index(self.thrower)
        row = self.players[at + 1 :] + self.players[:at]
        return tuple(player for player in row if player not in self.out)

    def without_the_poor(self) -> BageswinState:
        """Return the state with all players without sticks eliminated, once the bank is empty too."""
        if self.sticks[BANK]:
            return self
        return replace(self, out=self.out | {player for player in self.players if not self.sticks[player]})


class PlayerRow(TypedDict):
    """A player on the score sheet."""

    name: str
    sticks: int
    out: bool


class BageswinSheet(TypedDict):
    """The score sheet's keys. `players` are in turn order, `value` is the value of the last throw."""

    thrower: str
    bank: int
    players: list[PlayerRow]
    value: int | None
    winner: str | None
    finish: Literal["forfeit"] | None


class Bageswin(base.WonGame[BageswinState]):
    """The fish game with its options chosen."""

    name: ClassVar[str] = "bageswin"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = "Mille Lacs Band of Ojibwe, DGR-13 (2005), Bageswin (Fish Game)"
    side_keys: ClassVar[frozenset[str]] = frozenset({"thrower", "winner"})
    fixed_keys: ClassVar[frozenset[str]] = frozenset({"name"})
    options: ClassVar[tuple[Option, ...]] = (
        Names("players", "A,B", "Who plays, in turn order: the bowl passes to the next, the first named begins.", 2, 8),
        WholeNumber("sticks", 100, "All sticks of the game; for two players an even number.", 1, 1_000_000),
        Choice(
            "table",
            "mille_lacs",
            "What throws are worth: the sheet's values, or woman 50 and all one colour 8.",
            ("mille_lacs", "hinckley_2009"),
            (
                "Throws are worth what the sheet says.",
                "Throws are worth what the sheet says, but a woman 50 and all of one colour 8.",
            ),
            {
                "mille_lacs": "Mille Lacs Band of Ojibwe, DGR-13 (2005), Bageswin (Fish Game)",
                # a participant's notes of it: "Bahgaysay (Dish Game)", maadaaminmelanieb.blogspot.com, February 2009
                "hinckley_2009": "as taught in an Ojibwe language class in Hinckley, Minnesota, in February 2009",
            },
        ),
    )
    forms: ClassVar[base.Forms] = {
        "throw": tuple(
            base.FormPlace(f"red.{piece}", piece, most=most, asks="how many of each piece show red")
            for piece, most in PIECES.items()
        ),
        "forfeit": (base.FormPlace("by", asks="by whom"),),
    }
    short_form: ClassVar[str] = "a letter for each piece that shows red, w f k b; or 0"
    second_tap: ClassVar[str | None] = "double_tap"

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        """Choose options by name, as text or typed; the others keep their defaults. Raises `UsageError`."""
        super().__init__(settings)
        self._values = VALUES[str(self.settings["table"])]
        self._opening = _dealt(names(self.settings["players"]), self.settings["sticks"])

    def opening(self) -> BageswinState:
        """Return the state before the first throw: all sticks in the bank, or split evenly between two players."""
        return self._opening

    def thrower(self, state: BageswinState) -> str | None:
        """Return the player to throw; None when the game is over."""
        return state.thrower if state.winner is None else None

    def sheet(self, state: BageswinState) -> BageswinSheet:
        """Return thrower, bank, players, value, winner and finish."""
        return {
            "thrower": state.thrower,
            "bank": state.sticks[BANK],
            "players": [
                {"name": player, "sticks": state.sticks[player], "out": player in state.out} for player in state.players
            ],
            "value": state.value,
            "winner": state.winner,
            "finish": state.finish,
        }

    def scoreboard(self, sheet: BageswinSheet) -> Scoreboard:
        """Return the sticks of each player, the bank and the value of the last throw."""
        total = sheet["bank"] + sum(row["sticks"] for row in sheet["players"])
        sides = (
            Side(row["name"], (Count("sticks", row["sticks"], total),), out=row["out"]) for row in sheet["players"]
        )
        notes = () if sheet["value"] is None else (Note("last_throw", sheet["value"]),)
        return make_board(
            sides, ("throws", ""), sheet["thrower"], sheet["winner"], Count("bank", sheet["bank"], total), notes
        )

    def restore(self, sheet: Mapping[str, base.Json]) -> BageswinState:
        """Return the state described by the complete `sheet`. Raises `InvalidActionError`."""
        validation.parse_object(sheet, ("thrower", "bank", "players", "value", "winner", "finish"))
        everybody, total = self._opening.players, self._opening.sticks.total
        thrower = validation.parse_choice_or_null(sheet, "thrower", everybody)
        winner = validation.parse_choice_or_null(sheet, "winner", everybody)
        rows = validation.parse_rows(sheet, "players", len(everybody), ("name", "sticks"), ("out",))
        named = tuple(row["name"] for row in rows)
        require(named == everybody, "the players are {players}, in this order", players=join_words(everybody))
        bank = validation.parse_whole(sheet, "bank", 0, total)
        counts = (bank, *(validation.parse_whole(row, "sticks", 0, total) for row in rows))
        validation.check_sum(total, counts, "bank and players")
        value = validation.parse_whole_or_null(sheet, "value", {0, *self._values.values()})
        leaving = zip(everybody, rows, strict=True)
        out = frozenset(player for player, row in leaving if "out" in row and validation.parse_flag(row, "out"))
        sticks = Sticks(self._opening.sticks.names, counts)
        finish = validation.parse_finish(sheet, winner)
        for player in out:
            require(not sticks[player], "{player} is out and has sticks", player=player)
        state = BageswinState(sticks, thrower or everybody[0], value, winner, finish, out).without_the_poor()
        require(thrower and thrower not in state.out, "thrower is a player who is not out")
        alone = None if state.others() else thrower
        require(winner == alone, "winner is the player who alone has sticks, null while others have some")
        words = mark("a winner by play has won the bank too; if the bank holds sticks, finish is forfeit")
        require(not winner or (finish is None) == (sticks[BANK] == 0), words)
        for row, own in zip(rows, self.sheet(state)["players"], strict=True):
            validation.check_derived(row, own, ("out",))
        return state

    def play(self, state: BageswinState, action: base.Action) -> tuple[BageswinState, tuple[str, ...]]:
        """Return the state after a throw, a double tap, or a forfeit, which alone is called."""
        match validation.parse_verb(action, ("throw", "double_tap", "forfeit")):
            case "throw":
                validation.check_keys(action, ("red",))
                value = self._values.get(_parse_red(action), 0)
            case "double_tap":
                validation.check_keys(action, ())
                value = 0
            case "forfeit":
                return _apply_forfeit(state, validation.parse_forfeit(action, state.players).by)
        base.check_not_over(state.winner and format_value(state.winner))
        others = state.others()
        if not value:
            return replace(state, thrower=others[0], value=value), ()
        after = replace(state, sticks=_pay_thrower(state, value, others), value=value).without_the_poor()
        return (after if after.others() else replace(after, winner=after.thrower)), ()

    def legal_actions(self, state: BageswinState) -> tuple[dict[str, base.Json], ...]:
        """Return one throw for each possible value, and the double tap, which has the same effect as a throw of 0.

        Forfeits are not included.
        """
        if state.winner is not None:
            return ()
        showing: dict[int, Showing] = {}
        for red, value in (*self._values.items(), (_NOTHING, 0)):
            showing.setdefault(value, red)
        throws = ({"do": "throw", "red": dict(zip(PIECES, red, strict=True))} for red in showing.values())
        return (*throws, {"do": "double_tap"})


def _dealt(players: tuple[str, ...], sticks: Value) -> BageswinState:
    assert isinstance(sticks, int)
    each = 0
    if len(players) == 2:
        each, odd = divmod(sticks, 2)
        if odd:
            raise UsageError(
                "two players cannot split {sticks} sticks evenly",
                "choose {more} sticks, or more players",
                sticks=sticks,
                more=sticks + 1,
            )
    bank = sticks - each * len(players)
    return BageswinState(Sticks((BANK, *players), (bank, *(each for _ in players))), players[0])


def _apply_forfeit(state: BageswinState, by: str) -> tuple[BageswinState, tuple[str, ...]]:
    """Eliminate a player: the sticks go to the bank, and the bowl passes on if it was the player's turn."""
    base.check_not_over(state.winner and format_value(state.winner))
    if by in state.out:
        raise base.IllegalActionError("{by} is out already", by=format_value(by))
    thrower = state.others()[0] if state.thrower == by else state.thrower
    sticks = state.sticks.move(state.sticks[by], by, BANK)
    after = replace(state, sticks=sticks, thrower=thrower, out=state.out | {by})
    if after.others():
        return after, ("forfeit",)
    return replace(after, winner=thrower, finish="forfeit"), ("forfeit", "game")


def _parse_red(action: base.Action) -> Showing:
    red: object = action["red"]
    if not isinstance(red, Mapping):
        raise base.InvalidActionError(
            "red cannot be {red}", "red is an object with {pieces}", red=format_value(red), pieces=join_words(PIECES)
        )
    red = cast("base.Action", red)
    for piece in red:
        if piece not in PIECES:
            raise base.InvalidActionError(
                "red has no {piece}", "it takes: {pieces}", piece=format_value(piece), pieces=join_words(PIECES)
            )
    for piece in PIECES:
        if piece not in red:
            raise base.InvalidActionError('red needs "{piece}"', piece=piece)
    woman, fish, knives, buttons = (validation.parse_whole(red, piece, 0, most) for piece, most in PIECES.items())
    return woman, fish, knives, buttons


def _pay_thrower(state: BageswinState, value: int, payers: tuple[str, ...]) -> Sticks:
    """Return the sticks after the thrower has been paid for a throw of `value`.

    As long as the bank holds sticks it alone pays; if it falls short the rest of that throw is lost. After that all
    others pay the same: the value, or the count of the poorest of them if that is less. A payer who could not pay in
    full but has more than the poorest keeps the difference and plays on.
    """
    sticks = state.sticks
    if sticks[BANK]:
        return sticks.pay(value, state.thrower, BANK)
    each = min([value, *(sticks[payer] for payer in payers)])
    for payer in payers:
        sticks = sticks.move(each, payer, state.thrower)
    return sticks

"""The plum stone game: five stones tossed in a bowl, and a pile of counters that all come to one player.

As Alice C. Fletcher describes it among the Omaha ("Indian Hazard Games"). Two stones have a moon on one side and a star
on the other, three are white (the natural colour) on one and black on the other. The player who scores throws again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypedDict

from pi_controller.rules import base, validation
from pi_controller.rules.options import Choice, Option, WholeNumber
from pi_controller.rules.scoreboard import Count, Note, Scoreboard, Side, make_board
from pi_controller.rules.sticks import Sticks
from pi_controller.rules.validation import require
from pi_controller.text import mark

PILE = "pile"
VALUES = {(2, 3): 10, (0, 0): 10, (1, 3): 1, (1, 0): 1}
"""The value of a throw of (moons, whites); the other moon stones show stars, the others are black. All others are worth
0.
"""
_NOTHING = (2, 0)


@dataclass(frozen=True, slots=True)
class PlumStoneState:
    """One moment of a game. Before the lot there is no thrower; `value` is that of the last throw."""

    sticks: Sticks
    thrower: base.Team | None = None
    value: int | None = None
    winner: base.Team | None = None
    finish: Literal["forfeit"] | None = None


class PlumStoneSheet(TypedDict):
    """The score sheet's keys. `counters` are by player, `value` is the value of the last throw."""

    thrower: base.Team | None
    pile: int
    counters: dict[str, int]
    value: int | None
    winner: base.Team | None
    finish: Literal["forfeit"] | None


class PlumStone(base.WonGame[PlumStoneState]):
    """The plum stone game with its options chosen."""

    name: ClassVar[str] = "plum_stone"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = "Alice C. Fletcher, Indian Hazard Games, Plum Stone Game"
    side_keys: ClassVar[frozenset[str]] = frozenset({"thrower", "winner"})
    options: ClassVar[tuple[Option, ...]] = (
        WholeNumber("counters", 100, "Counters in the pile at first; who wins them all wins the game.", 1, 1_000_000),
        Choice(
            "no_throw",
            "pass",
            "Whether the bowl passes after stones are spilled or not all moved, or the same player throws again.",
            ("pass", "again"),
            (
                "If stones are spilled or do not all move, the bowl passes.",
                "If stones are spilled or do not all move, the same player throws again.",
            ),
        ),
    )
    forms: ClassVar[base.Forms] = {
        "lot": (base.FormPlace("first", words=base.TEAM, asks="who throws first"),),
        "throw": (
            base.FormPlace("moons", "moons", most=2, asks="how many moons"),
            base.FormPlace("whites", "whites", most=3, asks="how many whites"),
        ),
        "forfeit": (base.FormPlace("by", words=base.TEAM, asks="by whom"),),
    }
    short_form: ClassVar[str] = "a letter for each moon and each white, m w; or 0"
    second_tap: ClassVar[str | None] = "no_throw"

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        """Choose options by name, as text or typed; the others keep their defaults. Raises `UsageError`."""
        super().__init__(settings)
        self._opening = PlumStoneState(Sticks((PILE, *base.TEAMS), (self.whole_setting("counters"), 0, 0)))

    def opening(self) -> PlumStoneState:
        """Return the state before the lot: all counters in the pile."""
        return self._opening

    def thrower(self, state: PlumStoneState) -> base.Team | None:
        """Return the player to throw; None before the lot and when the game is over."""
        return state.thrower if state.winner is None else None

    def sheet(self, state: PlumStoneState) -> PlumStoneSheet:
        """Return thrower, pile, counters, value, winner and finish."""
        return {
            "thrower": state.thrower,
            "pile": state.sticks[PILE],
            "counters": {player: state.sticks[player] for player in base.TEAMS},
            "value": state.value,
            "winner": state.winner,
            "finish": state.finish,
        }

    def scoreboard(self, sheet: PlumStoneSheet) -> Scoreboard:
        """Return the counters of each player, the pile and the value of the last throw."""
        total = sheet["pile"] + sum(sheet["counters"].values())
        sides = (Side(player, (Count("counters", n, total),)) for player, n in sheet["counters"].items())
        notes = () if sheet["value"] is None else (Note("last_throw", sheet["value"]),)
        return make_board(
            sides, ("throws", ""), sheet["thrower"], sheet["winner"], Count("pile", sheet["pile"], total), notes
        )

    def restore(self, sheet: Mapping[str, base.Json]) -> PlumStoneState:
        """Return the state described by the complete `sheet`. Raises `InvalidActionError`."""
        validation.parse_object(sheet, ("thrower", "pile", "counters", "value", "winner", "finish"))
        thrower = validation.parse_choice_or_null(sheet, "thrower", base.TEAMS)
        winner = validation.parse_choice_or_null(sheet, "winner", base.TEAMS)
        total = self._opening.sticks.total
        pile = validation.parse_whole(sheet, "pile", 0, total)
        counts = (pile, *validation.parse_counts(sheet, "counters", base.TEAMS, total))
        value = validation.parse_whole_or_null(sheet, "value", {0, *VALUES.values()})
        validation.check_sum(total, counts, "pile and counters")
        finish = validation.parse_finish(sheet, winner)
        state = PlumStoneState(Sticks((PILE, *base.TEAMS), counts), thrower, value, winner, finish)
        unwon = replace(state, winner=None, finish=None) if finish else state
        require(thrower or unwon == self._opening, "before the lot (thrower is null) no counter is won")
        for player in base.TEAMS:
            has_won, held = winner == player and not finish, state.sticks[player]
            words = mark("{player} has {held} of {total}: the winner by play has all")
            require(has_won == (held == total), words, player=player, held=held, total=total)
        words = mark("the last throw was the winner's: thrower is {winner}")
        require(not winner or finish or thrower == winner, words, winner=winner)
        return state

    def play(self, state: PlumStoneState, action: base.Action) -> tuple[PlumStoneState, tuple[str, ...]]:
        """Return the state after the lot, a throw, an invalid throw, or a forfeit; only the forfeit has calls."""
        match validation.parse_verb(action, ("lot", "throw", "no_throw", "forfeit")):
            case "lot":
                validation.check_keys(action, ("first",))
                first = validation.parse_choice(action, "first", base.TEAMS)
                base.check_not_over(state.winner)
                if state.thrower:
                    raise base.IllegalActionError("the lot was drawn already")
                return PlumStoneState(state.sticks, first), ()
            case "throw":
                validation.check_keys(action, ("moons", "whites"))
                showing = (
                    validation.parse_whole(action, "moons", 0, 2),
                    validation.parse_whole(action, "whites", 0, 3),
                )
                value = VALUES.get(showing, 0)
                again = value > 0
            case "no_throw":
                validation.check_keys(action, ())
                value = 0
                again = self.settings["no_throw"] == "again"
            case "forfeit":
                by = validation.parse_forfeit(action, base.TEAMS).by
                base.check_not_over(state.winner)
                return replace(state, winner=base.opposing_team(by), finish="forfeit"), ("forfeit", "game")
        thrower = _thrower(state)
        if not value:
            return PlumStoneState(state.sticks, thrower if again else base.opposing_team(thrower), value), ()
        sticks = state.sticks.pay(value, thrower, PILE, base.opposing_team(thrower))
        return PlumStoneState(sticks, thrower, value, winner=thrower if sticks[thrower] == sticks.total else None), ()

    def legal_actions(self, state: PlumStoneState) -> tuple[dict[str, base.Json], ...]:
        """Return one throw for each possible value and the invalid throw; before them, the lot. No forfeits."""
        if state.winner:
            return ()
        if state.thrower is None:
            return tuple({"do": "lot", "first": player} for player in base.TEAMS)
        showing: dict[int, tuple[int, int]] = {}
        for pair, value in (*VALUES.items(), (_NOTHING, 0)):
            showing.setdefault(value, pair)
        throws = ({"do": "throw", "moons": moons, "whites": whites} for moons, whites in showing.values())
        return (*throws, {"do": "no_throw"})


def _thrower(state: PlumStoneState) -> base.Team:
    base.check_not_over(state.winner)
    if state.thrower is None:
        raise base.IllegalActionError("there is no thrower yet", "the lot comes first")
    return state.thrower

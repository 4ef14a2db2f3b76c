"""A toy, and nobody's game: two sides take one to three counters from a pile in turn; who takes the last has won."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from pi_controller.rules import validation
from pi_controller.rules.base import Action, FormPlace, Forms, Game, IllegalActionError, Json, Team, opposing_team
from pi_controller.rules.options import Option, WholeNumber
from pi_controller.rules.scoreboard import Count, Scoreboard, Side, make_board
from pi_controller.rules.sticks import Sticks

if TYPE_CHECKING:
    from collections.abc import Mapping

SIDES: tuple[Team, ...] = ("A", "B")
MOST = 3


@dataclass(frozen=True, slots=True)
class State:
    """One moment of a game."""

    sticks: Sticks
    thrower: Team = "A"
    winner: Team | None = None
    finish: str | None = None


class ToyCountdown(Game[State]):
    """The toy with its options chosen."""

    name: ClassVar[str] = "toy_countdown"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = "made up for a test"
    options: ClassVar[tuple[Option, ...]] = (WholeNumber("counters", 10, "Counters in the pile at first.", 1, 100),)
    forms: ClassVar[Forms] = {"take": (FormPlace("n"),)}

    def opening(self) -> State:
        counters = self.settings["counters"]
        assert isinstance(counters, int)
        return State(Sticks.of(pile=counters, A=0, B=0))

    def is_over(self, state: State) -> bool:
        return state.winner is not None

    def thrower(self, state: State) -> Team | None:
        return None if state.winner else state.thrower

    def sheet(self, state: State) -> dict[str, Json]:
        return {
            "thrower": state.thrower,
            "pile": state.sticks["pile"],
            "counters": {side: state.sticks[side] for side in SIDES},
            "winner": state.winner,
            "finish": state.finish,
        }

    def scoreboard(self, sheet: Mapping[str, Json]) -> Scoreboard:
        total = self.whole_setting("counters")
        sides = (Side(side, (Count("counters", sheet["counters"][side], total),)) for side in SIDES)
        return make_board(sides, ("plays", ""), sheet["thrower"], sheet["winner"], Count("pile", sheet["pile"], total))

    def restore(self, sheet: Mapping[str, Json]) -> State:
        validation.parse_object(sheet, ("thrower", "pile", "counters", "winner", "finish"))
        total = self.opening().sticks.total
        thrower, winner = (validation.parse_choice_or_null(sheet, key, SIDES) for key in ("thrower", "winner"))
        pile = validation.parse_whole(sheet, "pile", 0, total)
        counts = (pile, *validation.parse_counts(sheet, "counters", SIDES, total))
        validation.check_sum(total, counts, "pile and counters")
        finish = validation.parse_finish(sheet, winner)
        return State(Sticks(("pile", *SIDES), counts), thrower or "A", winner, finish)

    def play(self, state: State, action: Action) -> tuple[State, tuple[str, ...]]:
        do = validation.parse_verb(action, ("take", "forfeit"))
        if do == "forfeit":
            by = validation.parse_forfeit(action, SIDES).by
        else:
            validation.check_keys(action, ("n",))
            n = validation.parse_whole(action, "n", 1, MOST)
        if state.winner:
            raise IllegalActionError(f"the game is over: {state.winner} has won")
        if do == "forfeit":
            return replace(state, winner=opposing_team(by), finish="forfeit"), ("forfeit", "game")
        if n > state.sticks["pile"]:
            raise IllegalActionError(f"there are no {n} left")
        sticks = state.sticks.move(n, "pile", state.thrower)
        if not sticks["pile"]:
            return State(sticks, state.thrower, state.thrower), ("game",)
        return State(sticks, opposing_team(state.thrower)), ()

    def legal_actions(self, state: State) -> tuple[dict[str, Json], ...]:
        most = 0 if state.winner else min(MOST, state.sticks["pile"])
        return tuple({"do": "take", "n": n} for n in range(1, most + 1))

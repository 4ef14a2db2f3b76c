"""Slahal (Lahal): two pairs of bones, ten scoring sticks and the king stick.

Only the hiding team wins sticks; the guessers play to win the bones. The source has headings and no numbers: they are
named below. Where it leaves a case open, an option says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

from pi_controller.games.actions import Forfeit
from pi_controller.games.base import Action, Game, Hidden, IllegalActionError, Json, Roster, Team, other
from pi_controller.games.forms import TEAM, YES, Forms, Place
from pi_controller.games.options import Choice, Flag, Option, Whole
from pi_controller.games.restoring import Sheet
from pi_controller.games.slahal_state import (
    ALL_DEAD,
    DEAD,
    KING,
    LIVE,
    ONE_PAIR,
    OPPOSITE,
    PER_TEAM,
    TEAMS,
    UNPLAYED,
    UNWON_KING,
    Duel,
    Finish,
    Guess,
    KingMoved,
    Rehide,
    State,
    Time,
    read,
)
from pi_controller.games.sticks import Sticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MISSED, MISSED_ONE_PAIR = 2, 1
"""Sticks for a miss with both pairs out, and with one (Game Play, 2)."""
PAIRS: tuple[Literal[1, 2], ...] = (1, 2)
FINISHES: tuple[Finish, ...] = ("sweep", "time", "king_moved", "forfeit")
SPLIT = 1
"""Sticks for one bone caught and one missed (Game Play, 3)."""


_FLAGS = {"block", "mirror"}
"""What a guess may be beside its signal."""


class SlahalSheet(TypedDict):
    """The score sheet's keys. `live`, `dead` and `sticks`, all of a team's, are by team; `king` is who holds it."""

    phase: Literal["duel", "play", "over"]
    hiding: Team | None
    pairs_out: Literal[1, 2] | None
    live: dict[str, int]
    dead: dict[str, int]
    king: Team | None
    sticks: dict[str, int]
    winner: Team | None
    finish: Finish | None


class Slahal(Game[State]):
    """Slahal with its options chosen."""

    name: ClassVar[str] = "slahal"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = (
        "Lahal Information and Rules, in consultation with Elder Brother Rick, Emma Paul and Reese Thomas"
    )
    options: ClassVar[tuple[Option, ...]] = (
        Choice(
            "payment",
            "live_own_dead",
            "Whether a hiding team kills its own live sticks before it takes its opponent's dead ones, or after.",
            ("live_own_dead", "live_dead_own"),
        ),
        Flag("king_last", False, "Whether a team that holds the king needs an eleventh point for it all the same."),
        Choice(
            "rehide",
            "loses_bones",
            "What moving bones that were presented costs: the bones, hiding them anew, or a warning (Game Play).",
            ("loses_bones", "hide_again", "warning"),
        ),
        Whole("minutes", 20, "Minutes that a game lasts (Tournament time restrictions).", 1, 1440),
        Whole("hide_seconds", 60, "Seconds that bone holders have to hide (Game Play).", 1, 3600),
    )
    forms: ClassVar[Forms] = {
        "duel": (
            Place("A", "A", YES, asks="whether A caught: yes or no"),
            Place("B", "B", YES, asks="whether B caught: yes or no"),
        ),
        "guess": (
            Place("signal", asks="what is guessed"),
            Place("actual", asks="which guess would have caught both"),
            Place("block", words={"block": True}, closed=True),
            Place("mirror", words={"mirror": True}, closed=True),
        ),
        "king_moved": (Place("by", words=TEAM, asks="who moved it"),),
        "forfeit": (Place("by", words=TEAM, asks="by whom"),),
    }
    finishes: ClassVar[tuple[str, ...]] = FINISHES
    roster: ClassVar[Roster] = Roster(leader="First Guesser")  # a line of any number
    hidden: ClassVar[Hidden | None] = Hidden(2, unmarked=True, in_fists=True, found_by="guess")

    short_form: ClassVar[str] = "the guess alone, where the mat has read the bones: guess left"

    @classmethod
    def shorthand(cls, words: Sequence[str]) -> dict[str, Json] | None:
        """Return the action that a judge's `words` say shorter than its form, or None where they say none."""
        match words:
            case ["guess", ("left" | "right" | "inside" | "outside") as signal, *more] if _FLAGS.issuperset(more):
                return {"do": "guess", "signal": signal} | dict.fromkeys(more, True)
            case _:
                return None

    def opening(self) -> State:
        """Return the state before the duel: five live sticks each, and nobody holds the king."""
        return State()

    def over(self, state: State) -> bool:
        """Return whether a team has won."""
        return state.winner is not None

    def score(self, state: State) -> Mapping[str, int]:
        """Return the sticks of each team."""
        return {team: state.total(team) for team in TEAMS}

    def hiders(self, state: State) -> Team | None:
        """Return the hiding team; None before the duel."""
        return state.hiding

    def settles(self, action: Action) -> bool:
        """Return whether `action` ends the hide in progress: the guess, and moving the bones where it loses them."""
        loses = self.settings["rehide"] == "loses_bones"
        return action.get("do") == "guess" or (action.get("do") == "rehide" and loses)

    def sheet(self, state: State) -> SlahalSheet:
        """Return phase, hiding, pairs_out, live, dead, king, sticks, winner and finish."""
        return {
            "phase": state.phase,
            "hiding": state.hiding,
            "pairs_out": state.pairs_out,
            "live": {team: state.sticks[LIVE[team]] for team in TEAMS},
            "dead": {team: state.sticks[DEAD[team]] for team in TEAMS},
            "king": state.king,
            "sticks": {team: state.total(team) for team in TEAMS},
            "winner": state.winner,
            "finish": state.finish,
        }

    def restore(self, sheet: Mapping[str, Json]) -> State:
        """Return the state with `sheet`'s keys, all of it. Raises `InvalidActionError` with every fault."""
        needed = ("hiding", "pairs_out", "live", "dead", "king", "winner")
        read = Sheet(sheet, needed, ("phase", "sticks"), ("finish",))
        hiding, king = read.word("hiding", TEAMS), read.word("king", TEAMS)
        winner, finish = read.word("winner", TEAMS), read.word("finish", FINISHES)
        pairs_out = read.whole_or_null("pairs_out", PAIRS)
        live, dead = read.counts("live", TEAMS, PER_TEAM), read.counts("dead", TEAMS, ALL_DEAD)
        read.sum_is(ALL_DEAD, (*live, *dead), "live and dead", "live", "dead")
        kings = (king == "A", king == "B", king is None)
        sticks = Sticks(UNPLAYED.names, (*live, *dead, *map(int, kings)))
        state = State(sticks, hiding, pairs_out, winner, finish)
        forfeited = State(winner=winner, finish=finish) if finish == "forfeit" else State()
        if hiding is None and state != forfeited:
            read.wrong("nobody has the bones, so nothing is won: hiding is A or B after the duel", "hiding")
        if hiding and (pairs_out is None or king is None):
            read.wrong("after the duel one or two pairs are out, and A or B holds the king", "pairs_out", "king")
        if (winner is None) != (finish is None):
            read.wrong("winner and finish stand together, or neither does", "winner", "finish")
        self._check_won(read, state)
        read.agree(self.sheet(state))
        return state

    def _check_won(self, read: Sheet, state: State) -> None:
        for team in TEAMS:
            swept = state.sticks[DEAD[team]] == ALL_DEAD and state.king == team
            if state.finish == "sweep" and state.winner == team and not swept:
                read.wrong(f"{team} has not swept: that takes ten dead sticks and the king", "dead", "king")
            if swept and state.finish in (None, "forfeit") and not self.settings["king_last"]:
                read.wrong(f"{team} has ten dead sticks and the king: it has won by a sweep", "dead", "king", "finish")
            if state.finish == "time" and state.winner == team and state.total(team) < state.total(other(team)):
                read.wrong(f"{team} has not won on time: {other(team)} has more sticks", "live", "dead", "king")

    def play(self, state: State, action: Action) -> tuple[State, tuple[str, ...]]:
        """Return the state after an action, and the words called."""
        done = read(action)
        if state.winner:
            raise IllegalActionError(f"the game is over: {state.winner} has won")
        if isinstance(done, Forfeit):
            return replace(state, winner=other(done.by), finish="forfeit"), ("forfeit", "game")
        if isinstance(done, Duel):
            return _duel(state, done), ()
        if state.hiding is None:
            raise IllegalActionError("nobody has the bones yet", "the duel comes first")
        match done:
            case Guess():
                return self._guessed(state, state.hiding, done)
            case Rehide():  # once out front, they cannot be hidden again (Game Play)
                loses = self.settings["rehide"] == "loses_bones"
                return (_swapped(state, state.hiding) if loses else state), ()
            case KingMoved():  # Stick/Points Scoring
                return replace(state, winner=other(done.by), finish="king_moved"), ()
            case Time():  # eleven sticks are never even
                return replace(state, winner=max(TEAMS, key=state.total), finish="time"), ()

    def legal_actions(self, state: State) -> tuple[dict[str, Json], ...]:
        """Return every action of play that is allowed now, one for all that come to the same; forfeits are left out."""
        if state.winner:
            return ()
        if state.hiding is None:
            return tuple({"do": "duel", "A": a, "B": b} for a, b in ((True, False), (False, True), (True, True)))
        actual = ("left", "right", "inside") if state.pairs_out == 2 else ONE_PAIR
        return (
            *({"do": "guess", "signal": "left", "actual": signal} for signal in actual),
            {"do": "rehide"},
            *({"do": "king_moved", "by": team} for team in TEAMS),
            {"do": "time"},
        )

    def _guessed(self, state: State, hiding: Team, guess: Guess) -> tuple[State, tuple[str, ...]]:
        """Settle one guess (Game Play, 1 to 3)."""
        one_pair = state.pairs_out == 1
        if one_pair and not (guess.signal in ONE_PAIR and guess.actual in ONE_PAIR):
            raise IllegalActionError("one pair is out: the bone is left or right")
        if guess.mirror and not one_pair:
            raise IllegalActionError("a guess is mirrored with a pair that was caught, and both are out")
        if guess.signal == guess.actual:
            return _swapped(state, hiding), ("catch",)
        if guess.actual == OPPOSITE[guess.signal]:
            return self._paid(state, hiding, MISSED_ONE_PAIR if one_pair else MISSED, "miss")
        return self._paid(replace(state, pairs_out=1), hiding, SPLIT, "split")

    def _paid(self, state: State, hiding: Team, n: int, call: str) -> tuple[State, tuple[str, ...]]:
        """Give the hiding team `n` sticks one at a time, and the game when it has them all (Stick/Points Scoring).

        The king is the last to move, and only from the guessers: a team that holds it has won with ten dead, or by
        `king_last` with the point that would have moved it.
        """
        guessing = other(hiding)
        own, dead = LIVE[hiding], DEAD[guessing]
        rest = (own, dead) if self.settings["payment"] == "live_own_dead" else (dead, own)
        sticks = state.sticks.pay(n, DEAD[hiding], LIVE[guessing], *rest)
        for_king = n > sticks[DEAD[hiding]] - state.sticks[DEAD[hiding]]
        if for_king:
            sticks = sticks.pay(1, KING[hiding], KING[guessing])
        held = sticks[KING[hiding]] == 1 and (for_king or not self.settings["king_last"])
        after = replace(state, sticks=sticks)
        if held and sticks[DEAD[hiding]] == ALL_DEAD:
            return replace(after, winner=hiding, finish="sweep"), (call, "sweep")
        return after, (call,)


def _duel(state: State, duel: Duel) -> State:
    """The one First Guesser who succeeds wins the bones and the king; else the duel is repeated (First Guesser)."""
    if state.hiding:
        raise IllegalActionError("the duel is decided")
    if duel.a == duel.b:
        return state
    winner: Team = "A" if duel.a else "B"
    return replace(state, sticks=state.sticks.move(1, UNWON_KING, KING[winner]), hiding=winner, pairs_out=2)


def _swapped(state: State, hiding: Team) -> State:
    """The guessers win the bones, both pairs, and hide; no stick moves."""
    return replace(state, hiding=other(hiding), pairs_out=2)

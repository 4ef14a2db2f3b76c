"""Slahal (Lahal): two pairs of bones, ten scoring sticks and the king stick.

Only the hiding team wins sticks; the guessers play to win the bones. The source has headings instead of numbers; they
are quoted below. If it leaves a case open, there is an option for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypedDict

from pi_controller.rules import validation
from pi_controller.rules.base import (
    TEAM,
    YES,
    Action,
    Forms,
    Game,
    Hidden,
    IllegalActionError,
    Json,
    Place,
    Roster,
    Team,
    opposing_team,
)
from pi_controller.rules.options import Choice, Flag, Option, WholeNumber
from pi_controller.rules.sticks import Sticks
from pi_controller.rules.validation import Forfeit, SheetReader

# Slahal (Lahal): the state of a game and its actions, before any rule is applied.
#
# H is the hiding team, G the guessing one. A team's live and dead sticks are pools of their own, and so is the hand
# that holds the king stick, so all eleven sticks are counted together.


TEAMS: tuple[Team, ...] = ("A", "B")
LIVE: dict[Team, str] = {"A": "A_live", "B": "B_live"}
DEAD: dict[Team, str] = {"A": "A_dead", "B": "B_dead"}
KING: dict[Team, str] = {"A": "A_king", "B": "B_king"}
UNWON_KING = "king"
PER_TEAM = 5
"""Live sticks of a team at the start."""
ALL_DEAD = 2 * PER_TEAM
"""Dead sticks of a team that holds them all."""
OPENING_STICKS = Sticks.of(A_live=PER_TEAM, B_live=PER_TEAM, A_dead=0, B_dead=0, A_king=0, B_king=0, king=1)

Signal = Literal["left", "right", "inside", "outside"]
SIGNALS: tuple[Signal, ...] = ("left", "right", "inside", "outside")
OPPOSITE: dict[Signal, Signal] = {"left": "right", "right": "left", "inside": "outside", "outside": "inside"}
ONE_PAIR: tuple[Signal, ...] = ("left", "right")
"""The signals for one bone holder, who has an unmarked bone in either hand."""

Phase = Literal["duo", "play", "over"]
Finish = Literal["sweep", "time", "king_moved", "forfeit"]


@dataclass(frozen=True, slots=True)
class State:
    """One moment of a game. Until the duo is decided there is no hiding team, no pair is out and the king is not held.

    At the end `hiding` and `pairs_out` keep their values.
    """

    sticks: Sticks = OPENING_STICKS
    hiding: Team | None = None
    pairs_out: Literal[1, 2] | None = None
    winner: Team | None = None
    finish: Finish | None = None

    @property
    def phase(self) -> Phase:
        """The duo for the bones, the play, or over."""
        return "over" if self.winner else "play" if self.hiding else "duo"

    @property
    def king(self) -> Team | None:
        """The team that holds the king stick."""
        return next((team for team in TEAMS if self.sticks[KING[team]]), None)

    def total(self, team: Team) -> int:
        """Return the sticks of `team`: live, dead and the king."""
        return self.sticks[LIVE[team]] + self.sticks[DEAD[team]] + self.sticks[KING[team]]


@dataclass(frozen=True, slots=True)
class Duo:
    """Whether each team's First Guesser succeeded."""

    a: bool
    b: bool


@dataclass(frozen=True, slots=True)
class Guess:
    """The guesser's signal, and the arrangement of the unmarked bones: the signal that would catch them.

    Both are from the guesser's side. Neither a block nor a mirrored guess has an effect on sticks.
    """

    signal: Signal
    actual: Signal
    block: bool = False
    mirror: bool = False


@dataclass(frozen=True, slots=True)
class Rehide:
    """Bones were moved after they had been presented."""


@dataclass(frozen=True, slots=True)
class KingMoved:
    """`by` moved the king stick too early."""

    by: Team


@dataclass(frozen=True, slots=True)
class Time:
    """The time is up."""


def parse_action(action: Action) -> Duo | Guess | Rehide | KingMoved | Time | validation.Forfeit[Team]:
    """Parse an action. Raises `InvalidActionError` if it is not an action of this game."""
    match validation.parse_verb(action, ("duo", "guess", "rehide", "king_moved", "time", "forfeit")):
        case "duo":
            validation.check_keys(action, TEAMS)
            return Duo(validation.parse_flag(action, "A"), validation.parse_flag(action, "B"))
        case "guess":
            validation.check_keys(action, ("signal", "actual"), ("block", "mirror"))
            return Guess(
                signal=validation.parse_choice(action, "signal", SIGNALS),
                actual=validation.parse_choice(action, "actual", SIGNALS),
                block="block" in action and validation.parse_flag(action, "block"),
                mirror="mirror" in action and validation.parse_flag(action, "mirror"),
            )
        case "rehide":
            validation.check_keys(action, ())
            return Rehide()
        case "king_moved":
            validation.check_keys(action, ("by",))
            return KingMoved(validation.parse_choice(action, "by", TEAMS))
        case "time":
            validation.check_keys(action, ())
            return Time()
        case "forfeit":
            return validation.parse_forfeit(action, TEAMS)


MISSED, MISSED_ONE_PAIR = 2, 1
"""Sticks for a miss with both pairs out, and with one (Game Play, 2)."""
PAIRS: tuple[Literal[1, 2], ...] = (1, 2)
FINISHES: tuple[Finish, ...] = ("sweep", "time", "king_moved", "forfeit")
SPLIT = 1
"""Sticks for one bone caught and one missed (Game Play, 3)."""


_FLAGS = {"block", "mirror"}
"""Optional flags of a guess beside its signal."""


class SlahalSheet(TypedDict):
    """The score sheet's keys. `live`, `dead` and `sticks` (all of a team's) are by team.

    `king` is the team that holds the king stick.
    """

    phase: Literal["duo", "play", "over"]
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
            "Penalty for moving presented bones: lose the bones, hide them again, or a warning (Game Play).",
            ("loses_bones", "hide_again", "warning"),
        ),
        WholeNumber("minutes", 20, "Minutes that a game lasts (Tournament time restrictions).", 1, 1440),
        WholeNumber("hide_seconds", 60, "Seconds that bone holders have to hide (Game Play).", 1, 3600),
    )
    forms: ClassVar[Forms] = {
        "duo": (
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
    renamed: ClassVar[Mapping[str, str]] = {"duel": "duo"}  # the sheet's word is duo; older versions wrote duel
    finishes: ClassVar[tuple[str, ...]] = FINISHES
    roster: ClassVar[Roster] = Roster(leader="First Guesser")  # a line of any number
    hidden: ClassVar[Hidden | None] = Hidden(2, unmarked=True, in_fists=True, found_by="guess")

    short_form: ClassVar[str] = "the guess alone, where the mat has read the bones: guess left"

    @classmethod
    def shorthand(cls, words: Sequence[str]) -> dict[str, Json] | None:
        """Return the action for the short form typed by a judge, or None if `words` are not a short form."""
        match words:
            case ["guess", ("left" | "right" | "inside" | "outside") as signal, *more] if _FLAGS.issuperset(more):
                return {"do": "guess", "signal": signal} | dict.fromkeys(more, True)
            case _:
                return None

    def opening(self) -> State:
        """Return the state before the duo: five live sticks each, and the king with neither team."""
        return State()

    def is_over(self, state: State) -> bool:
        """Return True if a team has won."""
        return state.winner is not None

    def score(self, state: State) -> Mapping[str, int]:
        """Return the sticks of each team."""
        return {team: state.total(team) for team in TEAMS}

    def hiders(self, state: State) -> Team | None:
        """Return the hiding team; None before the duo."""
        return state.hiding

    def settles(self, action: Action) -> bool:
        """Return True if `action` ends the hide in progress: a guess, or moving the bones if that loses them."""
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
        """Return the state described by the complete `sheet`. Raises `InvalidActionError` with every fault."""
        needed = ("hiding", "pairs_out", "live", "dead", "king", "winner")
        read = SheetReader(self.upgrade_names(sheet), needed, ("phase", "sticks"), ("finish",))
        hiding, king = read.word("hiding", TEAMS), read.word("king", TEAMS)
        winner, finish = read.word("winner", TEAMS), read.word("finish", FINISHES)
        pairs_out = read.whole_or_null("pairs_out", PAIRS)
        live, dead = read.counts("live", TEAMS, PER_TEAM), read.counts("dead", TEAMS, ALL_DEAD)
        read.sum_is(ALL_DEAD, (*live, *dead), "live and dead", "live", "dead")
        kings = (king == "A", king == "B", king is None)
        sticks = Sticks(OPENING_STICKS.names, (*live, *dead, *map(int, kings)))
        state = State(sticks, hiding, pairs_out, winner, finish)
        forfeited = State(winner=winner, finish=finish) if finish == "forfeit" else State()
        if hiding is None and state != forfeited:
            read.add_fault("before the duo (hiding is null) no stick is won", "hiding")
        if hiding and (pairs_out is None or king is None):
            read.add_fault("after the duo one or two pairs are out, and A or B holds the king", "pairs_out", "king")
        if (winner is None) != (finish is None):
            read.add_fault("winner and finish are both set or both null", "winner", "finish")
        self._check_won(read, state)
        read.agree(self.sheet(state))
        return state

    def _check_won(self, read: SheetReader, state: State) -> None:
        for team in TEAMS:
            swept = state.sticks[DEAD[team]] == ALL_DEAD and state.king == team
            if state.finish == "sweep" and state.winner == team and not swept:
                read.add_fault(f"{team} has not swept: that takes ten dead sticks and the king", "dead", "king")
            if swept and state.finish in (None, "forfeit") and not self.settings["king_last"]:
                read.add_fault(
                    f"{team} has ten dead sticks and the king: it has won by a sweep", "dead", "king", "finish"
                )
            if state.finish == "time" and state.winner == team and state.total(team) < state.total(opposing_team(team)):
                read.add_fault(
                    f"{team} has not won on time: {opposing_team(team)} has more sticks", "live", "dead", "king"
                )

    def play(self, state: State, action: Action) -> tuple[State, tuple[str, ...]]:
        """Return the state after an action, and the words called."""
        done = parse_action(self.upgrade_names(action))
        if state.winner:
            raise IllegalActionError(f"the game is over: {state.winner} has won")
        if isinstance(done, Forfeit):
            return replace(state, winner=opposing_team(done.by), finish="forfeit"), ("forfeit", "game")
        if isinstance(done, Duo):
            return _duo(state, done), ()
        if state.hiding is None:
            raise IllegalActionError("neither team has the bones yet", "the duo comes first")
        match done:
            case Guess():
                return self._settle_guess(state, state.hiding, done)
            case Rehide():  # once out front, they cannot be hidden again (Game Play)
                loses = self.settings["rehide"] == "loses_bones"
                return (_swap_roles(state, state.hiding) if loses else state), ()
            case KingMoved():  # Stick/Points Scoring
                return replace(state, winner=opposing_team(done.by), finish="king_moved"), ()
            case Time():  # eleven sticks are never even
                return replace(state, winner=max(TEAMS, key=state.total), finish="time"), ()

    def legal_actions(self, state: State) -> tuple[dict[str, Json], ...]:
        """Return every action of play that is allowed now, one for each group with the same effect.

        Forfeits are not included.
        """
        if state.winner:
            return ()
        if state.hiding is None:
            return tuple({"do": "duo", "A": a, "B": b} for a, b in ((True, False), (False, True), (True, True)))
        actual = ("left", "right", "inside") if state.pairs_out == 2 else ONE_PAIR
        return (
            *({"do": "guess", "signal": "left", "actual": signal} for signal in actual),
            {"do": "rehide"},
            *({"do": "king_moved", "by": team} for team in TEAMS),
            {"do": "time"},
        )

    def _settle_guess(self, state: State, hiding: Team, guess: Guess) -> tuple[State, tuple[str, ...]]:
        """Settle one guess (Game Play, 1 to 3)."""
        one_pair = state.pairs_out == 1
        if one_pair and not (guess.signal in ONE_PAIR and guess.actual in ONE_PAIR):
            raise IllegalActionError("one pair is out: the bone is left or right")
        if guess.mirror and not one_pair:
            raise IllegalActionError("a guess is mirrored with a pair that was caught, and both are out")
        if guess.signal == guess.actual:
            return _swap_roles(state, hiding), ("catch",)
        if guess.actual == OPPOSITE[guess.signal]:
            return self._pay_hiders(state, hiding, MISSED_ONE_PAIR if one_pair else MISSED, "miss")
        return self._pay_hiders(replace(state, pairs_out=1), hiding, SPLIT, "split")

    def _pay_hiders(self, state: State, hiding: Team, n: int, call: str) -> tuple[State, tuple[str, ...]]:
        """Give the hiding team `n` sticks one at a time, and the game when it has them all (Stick/Points Scoring).

        The king is the last to move, and only from the guessers: a team that already holds it wins with ten dead
        sticks, or by `king_last` with the point that would have moved it.
        """
        guessing = opposing_team(hiding)
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


def _duo(state: State, duo: Duo) -> State:
    """Give bones and king to the one First Guesser who succeeds; otherwise the duo is repeated (First Guesser)."""
    if state.hiding:
        raise IllegalActionError("the duo is decided")
    if duo.a == duo.b:
        return state
    winner: Team = "A" if duo.a else "B"
    return replace(state, sticks=state.sticks.move(1, UNWON_KING, KING[winner]), hiding=winner, pairs_out=2)


def _swap_roles(state: State, hiding: Team) -> State:
    """Give both pairs of bones to the guessers, who hide next; no stick moves."""
    return replace(state, hiding=opposing_team(hiding), pairs_out=2)

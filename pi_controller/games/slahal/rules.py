"""Slahal (Lahal): two pairs of bones, ten scoring sticks and the king stick.

Only the hiding team wins sticks; the guessers play to win the bones. The source has headings instead of numbers; they
are quoted below. If it leaves a case open, there is an option for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypedDict

from pi_controller.rules import base, validation
from pi_controller.rules.options import Choice, Flag, Option, WholeNumber
from pi_controller.rules.scoreboard import Count, Note, Scoreboard, Side, make_board
from pi_controller.rules.sticks import Sticks
from pi_controller.rules.validation import require
from pi_controller.text import mark

LIVE: dict[base.Team, str] = {"A": "A_live", "B": "B_live"}
DEAD: dict[base.Team, str] = {"A": "A_dead", "B": "B_dead"}
KING: dict[base.Team, str] = {"A": "A_king", "B": "B_king"}
UNWON_KING = "king"
PER_TEAM = 5
"""Live sticks of a team at the start."""
ALL_DEAD = 2 * PER_TEAM
"""Dead sticks of a team that holds them all."""
ALL_STICKS = ALL_DEAD + 1
"""The ten sticks and the king."""
OPENING_STICKS = Sticks.of(A_live=PER_TEAM, B_live=PER_TEAM, A_dead=0, B_dead=0, A_king=0, B_king=0, king=1)
"""All eleven sticks: a team's live and dead ones are pools of their own, and so is the hand that holds the king."""

Signal = Literal["left", "right", "inside", "outside"]
SIGNALS: tuple[Signal, ...] = ("left", "right", "inside", "outside")
OPPOSITE: dict[Signal, Signal] = {"left": "right", "right": "left", "inside": "outside", "outside": "inside"}
ONE_PAIR: tuple[Signal, ...] = ("left", "right")
"""The signals for one bone holder, who has an unmarked bone in either hand."""

Phase = Literal["duo", "play", "over"]
Finish = Literal["sweep", "time", "king_moved", "forfeit"]


@dataclass(frozen=True, slots=True)
class SlahalState:
    """One moment of a game. Until the duo is decided there is no hiding team, no pair is out and the king is not held.

    At the end `hiding` and `pairs_out` keep their values.
    """

    sticks: Sticks = OPENING_STICKS
    hiding: base.Team | None = None
    pairs_out: Literal[1, 2] | None = None
    winner: base.Team | None = None
    finish: Finish | None = None

    @property
    def phase(self) -> Phase:
        """The duo for the bones, the play, or over."""
        return "over" if self.winner else "play" if self.hiding else "duo"

    @property
    def king(self) -> base.Team | None:
        """The team that holds the king stick."""
        return next((team for team in base.TEAMS if self.sticks[KING[team]]), None)

    def total(self, team: base.Team) -> int:
        """Return the sticks of `team`: live, dead and the king."""
        return self.sticks[LIVE[team]] + self.sticks[DEAD[team]] + self.sticks[KING[team]]


MISSED, MISSED_ONE_PAIR = 2, 1
"""Sticks for a miss with both pairs out, and with one (Game Play, 2)."""
PAIRS: tuple[Literal[1, 2], ...] = (1, 2)
FINISHES: tuple[Finish, ...] = ("sweep", "time", "king_moved", "forfeit")
SPLIT = 1
"""Sticks for one bone caught and one missed (Game Play, 3)."""


class SlahalSheet(TypedDict):
    """The score sheet's keys. `live`, `dead` and `sticks` (all of a team's) are by team.

    `king` is the team that holds the king stick.
    """

    phase: Literal["duo", "play", "over"]
    hiding: base.Team | None
    pairs_out: Literal[1, 2] | None
    live: dict[str, int]
    dead: dict[str, int]
    king: base.Team | None
    sticks: dict[str, int]
    winner: base.Team | None
    finish: Finish | None


class Slahal(base.WonGame[SlahalState]):
    """Slahal with its options chosen."""

    name: ClassVar[str] = "slahal"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = (
        "Lahal Information and Rules, in consultation with Elder Brother Rick, Emma Paul and Reese Thomas"
    )
    side_keys: ClassVar[frozenset[str]] = frozenset({"hiding", "king", "winner"})
    options: ClassVar[tuple[Option, ...]] = (
        Choice(
            "payment",
            "live_own_dead",
            "Whether a hiding team kills its own live sticks before it takes its opponent's dead ones, or after.",
            ("live_own_dead", "live_dead_own"),
            (
                "A hiding team kills its own live sticks before it takes its opponent's dead ones.",
                "A hiding team kills its own live sticks after it takes its opponent's dead ones.",
            ),
        ),
        Flag("king_last", False, "Whether a team that already holds the king stick still needs an eleventh point."),
        Choice(
            "rehide",
            "loses_bones",
            "Penalty for moving presented bones: lose the bones, hide them again, or a warning (Game Play).",
            ("loses_bones", "hide_again", "warning"),
            (
                "Who moves the bones after presenting them loses them (Game Play).",
                "Who moves the bones after presenting them hides them again (Game Play).",
                "Who moves the bones after presenting them gets a warning (Game Play).",
            ),
        ),
        WholeNumber("minutes", 20, "Length of a game in minutes (Tournament time restrictions).", 1, 1440),
        WholeNumber("hide_seconds", 60, "Seconds that bone holders have to hide (Game Play).", 1, 3600),
    )
    forms: ClassVar[base.Forms] = {
        "duo": (
            base.FormPlace("A", "A", base.YES, asks="whether A caught: yes or no"),
            base.FormPlace("B", "B", base.YES, asks="whether B caught: yes or no"),
        ),
        "guess": (
            base.FormPlace("signal", asks="what is guessed"),
            base.FormPlace(
                "actual",
                words={one: one for one in SIGNALS},
                closed=True,
                asks="which guess would have caught both",
                stands_in="left",
            ),
            base.FormPlace("block", words={"block": True}, closed=True),
            base.FormPlace("mirror", words={"mirror": True}, closed=True),
        ),
        "king_moved": (base.FormPlace("by", words=base.TEAM, asks="who moved it"),),
        "forfeit": (base.FormPlace("by", words=base.TEAM, asks="by whom"),),
    }
    finishes: ClassVar[tuple[str, ...]] = FINISHES
    roster: ClassVar[base.Roster] = base.Roster(leader="First Guesser")  # a line of any number
    hidden: ClassVar[base.Hidden | None] = base.Hidden(2, unmarked=True, in_fists=True, found_by="guess")

    short_form: ClassVar[str] = "the guess alone, where the mat has read the bones: guess left"

    def opening(self) -> SlahalState:
        """Return the state before the duo: five live sticks each, and the king with neither team."""
        return SlahalState()

    @classmethod
    def check_slip(cls, won: int, lost: int, finish: str) -> None:
        """Check that a slip has eleven sticks in all, more of them for the winner, and a sweep 11 to 0."""
        if won + lost != ALL_STICKS:
            raise base.IllegalActionError(
                "{won} and {lost} sticks are not {all_sticks} in all",
                "count the live and dead sticks and the king",
                won=won,
                lost=lost,
                all_sticks=ALL_STICKS,
            )
        if finish == "sweep" and lost:
            raise base.IllegalActionError(
                "a sweep is {all_sticks} to 0, not {won} to {lost}",
                "correct the sticks, or enter it without a sweep",
                all_sticks=ALL_STICKS,
                won=won,
                lost=lost,
            )
        if won < lost and finish != "king_moved":
            raise base.IllegalActionError(
                "the winner has {won} sticks and the loser {lost}",
                "correct the winner or the sticks, or say that the king was moved too early",
                won=won,
                lost=lost,
            )

    def hiders(self, state: SlahalState) -> base.Team | None:
        """Return the hiding team; None before the duo."""
        return state.hiding

    def settles(self, action: base.Action) -> bool:
        """Return True if `action` ends the hide in progress: a guess, or moving the bones if that loses them."""
        loses = self.settings["rehide"] == "loses_bones"
        return action.get("do") == "guess" or (action.get("do") == "rehide" and loses)

    def sheet(self, state: SlahalState) -> SlahalSheet:
        """Return phase, hiding, pairs_out, live, dead, king, sticks, winner and finish."""
        return {
            "phase": state.phase,
            "hiding": state.hiding,
            "pairs_out": state.pairs_out,
            "live": {team: state.sticks[LIVE[team]] for team in base.TEAMS},
            "dead": {team: state.sticks[DEAD[team]] for team in base.TEAMS},
            "king": state.king,
            "sticks": {team: state.total(team) for team in base.TEAMS},
            "winner": state.winner,
            "finish": state.finish,
        }

    def scoreboard(self, sheet: SlahalSheet) -> Scoreboard:
        """Return all sticks of each team, its live and dead ones, the king stick, and the pairs of bones out."""
        sides = (
            Side(
                team,
                (
                    Count("sticks", sheet["sticks"][team], ALL_STICKS),
                    Count("live", sheet["live"][team], PER_TEAM),
                    Count("dead", sheet["dead"][team], ALL_DEAD),
                ),
                notes=(Note("king_stick"),) if sheet["king"] == team else (),
            )
            for team in base.TEAMS
        )
        king = () if sheet["king"] else (Note("king_not_won"),)
        pool = Count("pairs_out", sheet["pairs_out"] or 0, 2)
        return make_board(sides, ("hides", "guesses"), sheet["hiding"], sheet["winner"], pool, king)

    def restore(self, sheet: Mapping[str, base.Json]) -> SlahalState:
        """Return the state described by the complete `sheet`. Raises `InvalidActionError`."""
        needed, follow = ("hiding", "pairs_out", "live", "dead", "king", "winner", "finish"), ("phase", "sticks")
        validation.parse_object(sheet, needed, follow)
        hiding = validation.parse_choice_or_null(sheet, "hiding", base.TEAMS)
        king = validation.parse_choice_or_null(sheet, "king", base.TEAMS)
        winner = validation.parse_choice_or_null(sheet, "winner", base.TEAMS)
        finish = validation.parse_choice_or_null(sheet, "finish", FINISHES)
        pairs_out = validation.parse_whole_or_null(sheet, "pairs_out", PAIRS)
        live = validation.parse_counts(sheet, "live", base.TEAMS, PER_TEAM)
        dead = validation.parse_counts(sheet, "dead", base.TEAMS, ALL_DEAD)
        validation.check_sum(ALL_DEAD, (*live, *dead), "live and dead")
        kings = (king == "A", king == "B", king is None)
        sticks = Sticks(OPENING_STICKS.names, (*live, *dead, *map(int, kings)))
        state = SlahalState(sticks, hiding, pairs_out, winner, finish)
        forfeited = SlahalState(winner=winner, finish=finish) if finish == "forfeit" else SlahalState()
        require(hiding or state == forfeited, "before the duo (hiding is null) no stick is won")
        complete = not hiding or (pairs_out is not None and king is not None)
        require(complete, "after the duo one or two pairs are out, and pairs_out and king say which")
        require((winner is None) == (finish is None), "winner and finish are both set or both null")
        self._check_won(state)
        validation.check_derived(sheet, self.sheet(state), follow)
        return state

    def _check_won(self, state: SlahalState) -> None:
        for team in base.TEAMS:
            swept, won = state.sticks[DEAD[team]] == ALL_DEAD and state.king == team, state.winner == team
            words = mark("{team} has not swept: that takes ten dead sticks and the king")
            require(state.finish != "sweep" or not won or swept, words, team=team)
            ended = state.finish not in (None, "forfeit") or self.settings["king_last"]
            words = mark("{team} has ten dead sticks and the king: it has won by a sweep")
            require(not swept or ended, words, team=team)
            fewer = state.total(team) < state.total(base.opposing_team(team))
            words = mark("{team} has not won on time: the other team has more sticks")
            require(state.finish != "time" or not won or not fewer, words, team=team)

    def play(self, state: SlahalState, action: base.Action) -> tuple[SlahalState, tuple[str, ...]]:
        """Return the state after an action, and the words called."""
        match validation.parse_verb(action, ("duo", "guess", "rehide", "king_moved", "time", "forfeit")):
            case "duo":
                validation.check_keys(action, base.TEAMS)
                return _duo(state, validation.parse_flag(action, "A"), validation.parse_flag(action, "B")), ()
            case "guess":
                validation.check_keys(action, ("signal", "actual"), ("block", "mirror"))
                signal = validation.parse_choice(action, "signal", SIGNALS)
                actual = validation.parse_choice(action, "actual", SIGNALS)
                _, mirror = (flag in action and validation.parse_flag(action, flag) for flag in ("block", "mirror"))
                hiding = _hiding(state)
                if mirror and state.pairs_out != 1:  # neither flag has an effect on sticks
                    raise base.IllegalActionError("a guess is mirrored with a pair that was caught, and both are out")
                return self._settle_guess(state, hiding, signal, actual)
            case "rehide":  # once out front, they cannot be hidden again (Game Play)
                validation.check_keys(action, ())
                hiding, loses = _hiding(state), self.settings["rehide"] == "loses_bones"
                return (_swap_roles(state, hiding) if loses else state), ()
            case "king_moved":  # Stick/Points Scoring
                validation.check_keys(action, ("by",))
                winner = base.opposing_team(validation.parse_choice(action, "by", base.TEAMS))
                _hiding(state)
                return replace(state, winner=winner, finish="king_moved"), ()
            case "time":  # eleven sticks are never even
                validation.check_keys(action, ())
                _hiding(state)
                return replace(state, winner=max(base.TEAMS, key=state.total), finish="time"), ()
            case "forfeit":
                by = validation.parse_forfeit(action, base.TEAMS).by
                base.check_not_over(state.winner)
                return replace(state, winner=base.opposing_team(by), finish="forfeit"), ("forfeit", "game")

    def legal_actions(self, state: SlahalState) -> tuple[dict[str, base.Json], ...]:
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
            *({"do": "king_moved", "by": team} for team in base.TEAMS),
            {"do": "time"},
        )

    def _settle_guess(
        self, state: SlahalState, hiding: base.Team, signal: Signal, actual: Signal
    ) -> tuple[SlahalState, tuple[str, ...]]:
        """Settle one guess (Game Play, 1 to 3). Signals are from the guesser's side; `actual` would catch the bones."""
        one_pair = state.pairs_out == 1
        if one_pair and not (signal in ONE_PAIR and actual in ONE_PAIR):
            raise base.IllegalActionError("one pair is out: the bone is left or right")
        if signal == actual:
            return _swap_roles(state, hiding), ("catch",)
        if actual == OPPOSITE[signal]:
            return self._pay_hiders(state, hiding, MISSED_ONE_PAIR if one_pair else MISSED, "miss")
        return self._pay_hiders(replace(state, pairs_out=1), hiding, SPLIT, "split")

    def _pay_hiders(
        self, state: SlahalState, hiding: base.Team, n: int, call: str
    ) -> tuple[SlahalState, tuple[str, ...]]:
        """Give the hiding team `n` sticks one at a time, and the game when it has them all (Stick/Points Scoring).

        The king is the last to move, and only from the guessers: a team that already holds it wins with ten dead
        sticks, or by `king_last` with the point that would have moved it.
        """
        guessing = base.opposing_team(hiding)
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


def _hiding(state: SlahalState) -> base.Team:
    """Return the hiding team of a game in play."""
    base.check_not_over(state.winner)
    if state.hiding is None:
        raise base.IllegalActionError("neither team has the bones yet", "the duo comes first")
    return state.hiding


def _duo(state: SlahalState, a: bool, b: bool) -> SlahalState:
    """Give bones and king to the one First Guesser who succeeds; otherwise the duo is repeated (First Guesser).

    `a` and `b` are whether the First Guesser of A and of B succeeded.
    """
    base.check_not_over(state.winner)
    if state.hiding:
        raise base.IllegalActionError("the duo is decided")
    if a == b:
        return state
    winner: base.Team = "A" if a else "B"
    return replace(state, sticks=state.sticks.move(1, UNWON_KING, KING[winner]), hiding=winner, pairs_out=2)


def _swap_roles(state: SlahalState, hiding: base.Team) -> SlahalState:
    """Give both pairs of bones to the guessers, who hide next; no stick moves."""
    return replace(state, hiding=base.opposing_team(hiding), pairs_out=2)

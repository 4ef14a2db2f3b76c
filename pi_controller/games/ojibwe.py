"""The Moccasin game of the Mille Lacs Band of Ojibwe: the scoring of DGR-13, Moccasin Game, rules 1 to 30.

The hitters pay for each attempt, found or not; twenty counters with the hider are a game and a short stick. Rule
numbers below are the regulation's. Where it leaves a case open, an option says so; "Mille Lacs Band rules prevail"
(rule 30).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, TypedDict

from pi_controller.games.actions import Forfeit
from pi_controller.games.base import Action, Game, Hidden, IllegalActionError, Json, Roster, Team, other
from pi_controller.games.forms import NONE, TEAM, Forms, Place
from pi_controller.games.ojibwe_state import (
    COUNTERS,
    MATE,
    POOL,
    RENAMED,
    TEAMS,
    Finish,
    Shot,
    State,
    Toss,
    read,
)
from pi_controller.games.options import Choice, Option, Whole
from pi_controller.games.restoring import Sheet
from pi_controller.games.sticks import Sticks
from pi_controller.pads import EVERY_PAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HIGH, HIGH_MATE, PLAIN = 8, 6, 4
"""What a miss pays for the high ball's pad, its mate and any other (rules 6, 10 to 12, 15 and 17)."""
FOUND, FOUND_HIGH = 3, 4
"""What a find pays: on any pad, and on the eight (rules 5, 13 and 14)."""
_MOST_FINDS = 1_000_000
"""So many finds in a row with one shooting stick are taken from a score sheet; the rules set no end."""


def value(pad: int, high: int | None) -> int:
    """Return what a miss pays when the ball lay under `pad` and `high` is the high pad, if there is one."""
    if high is None:
        return PLAIN
    return HIGH if pad == high else HIGH_MATE if pad == MATE[high] else PLAIN


class OjibweSheet(TypedDict):
    """The score sheet's keys. `counters` and `short` sticks are by team, `high` is the pad that is worth eight,
    `shooting` what the hitters can still pay with."""

    hider: Team | None
    counters: dict[str, int]
    pool: int
    short: dict[str, int]
    high: int | None
    hides_left: int
    banked: int
    shooting: int | None
    double: bool
    winner: Team | None
    finish: Finish | None


class Ojibwe(Game[State]):
    """The Mille Lacs Moccasin game with its options chosen."""

    name: ClassVar[str] = "ojibwe"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = (
        "Mille Lacs Band of Ojibwe, Detailed Gaming Regulations DGR-13, Moccasin Game, rules 1 to 30"
    )
    renamed: ClassVar[Mapping[str, str]] = RENAMED
    options: ClassVar[tuple[Option, ...]] = (
        Whole("games", 5, "Short sticks that win the whole game (rule 29).", 1, 99),
        Whole("max_open", 2, "Pads that may be opened before one is hit (rules 4 and 16).", 2, 3),
        Choice(
            "high_ball_scope",
            "shared",
            "Whether the high pad counts in every hide, whoever hides, or in the next one only (rule 7).",
            ("shared", "next_hide_only"),
        ),
        Choice(
            "high_reset",
            "each_short",
            "Whether a short stick clears the high pad, or nothing but another high pad does.",
            ("each_short", "never"),
        ),
        Choice(
            "start_counters",
            "pool",
            "Whether play begins with all counters in the pool or ten with each team; later they start in the pool.",
            ("pool", "split_10_10"),
        ),
        Choice(
            "one_stick",
            "passes",
            "Whether a find with one shooting stick passes the hide, or the team shoots on until it misses (rule 22).",
            ("passes", "keeps_shooting"),
        ),
    )
    forms: ClassVar[Forms] = {
        "toss": (Place("winner", words=TEAM, asks="who won it"),),
        "shoot": (
            Place("opened", "open", {"-": []}, listing=True, asks="the pads opened, or -"),
            Place("hit", "hit", NONE, asks="the pad struck, or -"),
            Place("ball", "ball", asks="where the marked ball lay"),
        ),
        "forfeit": (Place("by", words=TEAM, asks="by whom"),),
    }
    hidden: ClassVar[Hidden | None] = Hidden(4, unmarked=True)
    roster: ClassVar[Roster] = Roster(registered=3, playing=3)  # rule 19: one hits, one hides, one drums or sings

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        """Choose options by name, as text or typed; the others keep their defaults. Raises `UsageError`."""
        super().__init__(settings)
        games, max_open = self.settings["games"], self.settings["max_open"]
        assert isinstance(games, int)
        assert isinstance(max_open, int)
        self._games = games
        self._max_open = max_open
        self._banks = self.settings["one_stick"] == "keeps_shooting"

    def opening(self) -> State:
        """Return the state before the toss: all 20 counters in the pool, or split."""
        share = COUNTERS // 2 if self.settings["start_counters"] == "split_10_10" else 0
        return State(Sticks.of(A=share, B=share, pool=COUNTERS - 2 * share))

    def over(self, state: State) -> bool:
        """Return whether a team has won."""
        return state.winner is not None

    def score(self, state: State) -> Mapping[str, int]:
        """Return the short sticks of each team."""
        return dict(zip(TEAMS, state.short, strict=True))

    def hiders(self, state: State) -> Team | None:
        """Return the hiding team; None before the toss."""
        return state.hider

    def settles(self, action: Action) -> bool:
        """Return whether `action` ends the hide in progress."""
        return self.current(action).get("do") == "shoot"

    def sheet(self, state: State) -> OjibweSheet:
        """Return hider, counters, pool, short, high, hides_left, banked, shooting, double, winner and finish."""
        return {
            "hider": state.hider,
            "counters": {team: state.counters[team] for team in TEAMS},
            "pool": state.counters[POOL],
            "short": dict(zip(TEAMS, state.short, strict=True)),
            "high": state.high,
            "hides_left": state.hides_left,
            "banked": state.banked,
            "shooting": state.shooting,
            "double": state.double,
            "winner": state.winner,
            "finish": state.finish,
        }

    def restore(self, sheet: Mapping[str, Json]) -> State:
        """Return the state with `sheet`'s keys, all of it. Raises `InvalidActionError` with every fault.

        An older sheet has no `banked` and no `finish`, and `lives` for `hides_left`.
        """
        read = Sheet(
            self.current(sheet),
            ("hider", "counters", "pool", "short", "high", "hides_left", "winner"),
            ("shooting", "double"),
            ("banked", "finish"),
        )
        hider, winner = read.word("hider", TEAMS), read.word("winner", TEAMS)
        finish = read.forfeit(winner)
        a, b, pool = *read.counts("counters", TEAMS, COUNTERS), read.whole("pool", COUNTERS)
        short = dict(zip(TEAMS, read.counts("short", TEAMS, self._games), strict=True))
        high, banked = read.whole_or_null("high", EVERY_PAD), read.whole("banked", _MOST_FINDS)
        hides_left = read.whole("hides_left", 1 + _MOST_FINDS if self._banks else 2, 1)
        read.sum_is(COUNTERS, (a, b, pool), "counters and pool", "counters", "pool")
        read.won(winner, short.items(), self._games, "short sticks", forfeit=finish is not None)
        for team, held in zip(TEAMS, (a, b), strict=True):
            if held == COUNTERS:
                read.wrong(f"{team} holds all {COUNTERS}: that is a short stick, and they go to the pool", "counters")
        state = State(
            Sticks.of(A=a, B=b, pool=pool), (short["A"], short["B"]), hider, high, hides_left, banked, winner, finish
        )
        if hider is None and replace(state, winner=None, finish=None) != self.opening():
            read.wrong(
                "nobody hides, so nothing is paid or won: hider is A or B after the toss", "hider", "counters", "pool"
            )
        if banked and not self._banks:
            read.wrong("finds are banked only as option one_stick says: banked is 0", "banked")
        elif banked and state.shooting != 1:
            read.wrong("finds are banked with one shooting stick: banked is 0", "banked", "hider", "counters")
        read.agree(self.sheet(state))
        return state

    def play(self, state: State, action: Action) -> tuple[State, tuple[str, ...]]:
        """Return the state after a toss, a shot or a forfeit, and the words called.

        `double` is called first, for the two fingers are shown before the hit.
        """
        done = read(self.current(action))
        if state.winner:
            raise IllegalActionError(f"the game is over: {state.winner} has won")
        match done:
            case Forfeit(by=by):
                return replace(state, winner=other(by), finish="forfeit"), ("forfeit", "game")
            case Toss():
                if state.hider:
                    raise IllegalActionError("the toss is done")
                return replace(state, hider=done.winner), ()
            case Shot():
                if state.hider is None:
                    raise IllegalActionError("nobody hides yet", "the toss comes first")
                if len(done.opened) > self._max_open:
                    raise IllegalActionError(
                        f"{len(done.opened)} pads were opened",
                        f"at most {self._max_open} may be, as option max_open says",
                    )
                return self._shot(state, state.hider, done)

    def legal_actions(self, state: State) -> tuple[dict[str, Json], ...]:
        """Return every action that is allowed now, one for all that come to the same.

        A find after opening one pad stands for all finds after opening any, a hit on a wrong pad also for opening onto
        the ball.
        """
        if state.winner:
            return ()
        if state.hider is None:
            return tuple({"do": "toss", "winner": team} for team in TEAMS)
        first: dict[tuple[State, tuple[str, ...]], dict[str, Json]] = {}
        for action in _shots():
            first.setdefault(self.play(state, action), action)
        return tuple(first.values())

    def _shot(self, state: State, hider: Team, shot: Shot) -> tuple[State, tuple[str, ...]]:
        """Pay for one attempt and settle who hides next, how often they may be found, and with which high pad."""
        calls = ["double"] if state.double else []
        calls.append("found" if shot.found else "missed")
        hitters = other(hider)
        counters = state.counters.pay(_due(state, shot), hider, POOL, hitters)
        high = None if self.settings["high_ball_scope"] == "next_hide_only" else state.high
        if shot.found and shot.opened:  # rule 7
            calls.append("high_ball")
            high = shot.ball
        after = replace(state, counters=counters, high=high)
        if shot.found and self._banks and state.shooting == 1:  # rule 22
            after = replace(after, banked=state.banked + 1)
        elif shot.found and state.hides_left > 1:
            after = replace(after, hides_left=state.hides_left - 1)
        elif shot.found:  # rules 22 and 23
            after = replace(after, hider=hitters, hides_left=2 if state.double else 1)
        if counters[hider] == COUNTERS:
            after = self._won(after, hider, calls)
        return after, tuple(calls)

    def _won(self, state: State, team: Team, calls: list[str]) -> State:
        """Give `team` a short stick and all counters to the pool (rules 27 to 29).

        Who hides next is settled, unless finds are banked: they take the hide now, and more of it (rule 22).
        """
        short = (state.short[0] + (team == "A"), state.short[1] + (team == "B"))
        calls.append("short_stick")
        winner = team if short[TEAMS.index(team)] == self._games else None
        if winner:
            calls.append("game")
        return replace(
            state,
            counters=state.counters.gather("pool"),
            short=short,
            hider=other(team) if state.banked else state.hider,
            high=state.high if self.settings["high_reset"] == "never" else None,
            hides_left=1 + state.banked,
            banked=0,
            winner=winner,
        )


def _due(state: State, shot: Shot) -> int:
    """Return what the hitters owe for an attempt; they pay no more than they can."""
    if state.double:  # rule 22
        return 0 if shot.found else COUNTERS
    if shot.found:
        return FOUND_HIGH if shot.ball == state.high else FOUND
    return value(shot.ball, state.high)


def _shots() -> Iterator[dict[str, Json]]:
    """Go through shots that come to everything that any shot can."""
    for ball in EVERY_PAD:
        yield {"do": "shoot", "opened": [], "hit": ball, "ball": ball}
        yield {"do": "shoot", "opened": [MATE[ball]], "hit": ball, "ball": ball}
        yield {"do": "shoot", "opened": [], "hit": MATE[ball], "ball": ball}

"""The Moccasin game of the Mille Lacs Band of Ojibwe: the scoring of DGR-13, Moccasin Game, rules 1 to 30.

The hitters, the team that does not hide, pay for each attempt, found or not; one of them, the shooter, opens pads and
hits. Twenty counters with the hider are a game and a short stick. Rule numbers below are the regulation's. If it leaves
a case open, there is an option for it; "Mille Lacs Band rules prevail" (rule 30).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypedDict, cast

from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.rules import base, validation
from pi_controller.rules.options import Choice, Option, WholeNumber
from pi_controller.rules.scoreboard import Count, Note, Scoreboard, Side, make_board
from pi_controller.rules.sticks import Sticks
from pi_controller.rules.validation import require
from pi_controller.text import format_value, mark

COUNTERS = 20
POOL = "pool"
MATE = {1: 4, 2: 3, 3: 2, 4: 1}
"""The other outside pad (1 and 4), or the other inside pad (2 and 3; rules 2, 8 and 9)."""
Finish = Literal["forfeit"]
DOUBLE_MAX_STICKS = 3
"""With this many shooting sticks left, or fewer, the hitters must shoot for a double (rule 21)."""


@dataclass(frozen=True, slots=True)
class OjibweState:
    """One moment of a game. Before the toss there is no hider.

    `high` is the pad worth eight in the hide in progress. `hides_left` is how many more finds end the hider's turn;
    after each but the last the team hides again. `banked` is the number of finds in a row with one shooting stick (rule
    22, by option). `finish` is how the game ended if not by play.
    """

    counters: Sticks
    short: tuple[int, int] = (0, 0)
    hider: base.Team | None = None
    high: int | None = None
    hides_left: int = 1
    banked: int = 0
    winner: base.Team | None = None
    finish: Finish | None = None

    @property
    def shooting(self) -> int | None:
        """The shooting sticks that the hitters can still pay with, the pool's and their own; None before the toss."""
        return COUNTERS - self.counters[self.hider] if self.hider else None

    @property
    def double(self) -> bool:
        """True if the hitters must shoot for a double (rules 21 and 22); False before the toss."""
        return self.shooting is not None and self.shooting <= DOUBLE_MAX_STICKS


@dataclass(frozen=True, slots=True)
class Shot:
    """The shooter's attempt at one hide: pads opened in order, then one hit, unless the ball was under the last one.

    `ball` is the pad of the marked ball.
    """

    opened: tuple[int, ...]
    hit: int | None
    ball: int

    @property
    def found(self) -> bool:
        """True if the pad hit held the marked ball (rule 7: finding it is hitting it)."""
        return self.hit == self.ball


def parse_shot(action: base.Action) -> Shot:
    """Parse a shot. Raises `InvalidActionError` for impossible combinations of pads.

    These are: a pad opened twice, all four opened, an opened one hit, a pad opened or hit after the ball was revealed,
    or no pad hit although it was not.
    """
    validation.check_keys(action, ("opened", "hit", "ball"))
    opened = _parse_opened(action["opened"])
    hit = None if action["hit"] is None else validation.parse_whole(action, "hit", 1, PADS)
    ball = validation.parse_whole(action, "ball", 1, PADS)
    if ball in opened:
        if opened[-1] != ball:
            raise base.InvalidActionError("no pad is opened after pad {ball}: the ball was there", ball=ball)
        if hit is not None:
            raise base.InvalidActionError(
                "no pad is hit after pad {ball} was opened: the ball was there", "hit is null", ball=ball
            )
    elif hit is None:
        raise base.InvalidActionError("the ball was under no opened pad, so one is hit", "hit is a pad from 1 to 4")
    elif hit in opened:
        raise base.InvalidActionError("pad {hit} is opened and cannot be hit", "hit another pad", hit=hit)
    return Shot(opened, hit, ball)


def _parse_opened(value: base.Json) -> tuple[int, ...]:
    """Return the opened pads: all different, and at least one left to be hit."""
    if not isinstance(value, list | tuple):
        raise base.InvalidActionError(
            "opened cannot be {value}", "opened is a list of pads, in their order", value=format_value(value)
        )
    pads = cast("list[object] | tuple[object, ...]", value)
    opened: list[int] = []
    for pad in pads:
        if type(pad) is not int or pad not in EVERY_PAD:
            raise base.InvalidActionError(
                "opened cannot hold {pad}", "a pad is a whole number from 1 to 4", pad=format_value(pad)
            )
        if pad in opened:
            raise base.InvalidActionError("pad {pad} cannot be opened twice", "opened takes different pads", pad=pad)
        opened.append(pad)
    if len(opened) == PADS:
        raise base.InvalidActionError("all four pads cannot be opened", "leave one to hit")
    return tuple(opened)


HIGH, HIGH_MATE, PLAIN = 8, 6, 4
"""Payment for a miss if the ball is under the high pad, its mate, or another pad (rules 6, 10 to 12, 15 and 17)."""
FOUND, FOUND_HIGH = 3, 4
"""Payment for a find: on any pad, and on the high pad (rules 5, 13 and 14)."""
_MAX_BANKED_FINDS = 1_000_000
"""The largest number of banked finds accepted from a score sheet; the rules set no limit."""


def miss_value(pad: int, high: int | None) -> int:
    """Return the payment for a miss if the ball was under `pad` and `high` is the high pad, if there is one."""
    if high is None:
        return PLAIN
    return HIGH if pad == high else HIGH_MATE if pad == MATE[high] else PLAIN


class OjibweSheet(TypedDict):
    """The score sheet's keys. `counters` and `short` sticks are by team.

    `high` is the pad that is worth eight, `shooting` the number of sticks the hitters can still pay with.
    """

    hider: base.Team | None
    counters: dict[str, int]
    pool: int
    short: dict[str, int]
    high: int | None
    hides_left: int
    banked: int
    shooting: int | None
    double: bool
    winner: base.Team | None
    finish: Finish | None


class Ojibwe(base.WonGame[OjibweState]):
    """The Mille Lacs Moccasin game with its options chosen."""

    name: ClassVar[str] = "ojibwe"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = (
        "Mille Lacs Band of Ojibwe, Detailed Gaming Regulations DGR-13, Moccasin Game, rules 1 to 30"
    )
    side_keys: ClassVar[frozenset[str]] = frozenset({"hider", "winner"})
    options: ClassVar[tuple[Option, ...]] = (
        WholeNumber("games", 5, "Short sticks that win the whole game (rule 29).", 1, 99),
        WholeNumber("max_open", 2, "Pads that may be opened before one is hit (rules 4 and 16).", 2, 3),
        Choice(
            "high_ball_scope",
            "shared",
            "Whether the high pad counts in every hide, whoever hides, or in the next one only (rule 7).",
            ("shared", "next_hide_only"),
            (
                "The high pad counts in every hide, whoever hides (rule 7).",
                "The high pad counts in the next hide only (rule 7).",
            ),
        ),
        Choice(
            "high_reset",
            "each_short",
            "Whether a short stick clears the high pad, or only another high pad does.",
            ("each_short", "never"),
            (
                "After a short stick there is no high pad.",
                "The high pad stays until another pad is the high pad, also after a short stick.",
            ),
        ),
        Choice(
            "start_counters",
            "pool",
            "Whether play begins with all counters in the pool or ten with each team; later they start in the pool.",
            ("pool", "split_10_10"),
            (
                "All counters start in the pool.",
                "Each team begins with ten counters; later all counters start in the pool.",
            ),
        ),
        Choice(
            "one_stick",
            "passes",
            "Whether a find with one shooting stick passes the hide, or the team shoots on until it misses (rule 22).",
            ("passes", "keeps_shooting"),
            (
                "After a find with one shooting stick the hide passes (rule 22).",
                "After a find with one shooting stick the team shoots on until it misses (rule 22).",
            ),
        ),
    )
    forms: ClassVar[base.Forms] = {
        "toss": (base.FormPlace("winner", words=base.TEAM, asks="who won it"),),
        "shoot": (
            base.FormPlace("opened", "open", {"-": []}, listing=True, asks="the pads opened, or -"),
            base.FormPlace("hit", "hit", base.NONE, asks="the pad struck, or -"),
            base.FormPlace("ball", "ball", asks="where the marked ball lay"),
        ),
        "forfeit": (base.FormPlace("by", words=base.TEAM, asks="by whom"),),
    }
    hidden: ClassVar[base.Hidden | None] = base.Hidden(4, unmarked=True)
    roster: ClassVar[base.Roster] = base.Roster(
        registered=3, playing=3
    )  # rule 19: one hits, one hides, one drums or sings

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        """Choose options by name, as text or typed; the others keep their defaults. Raises `UsageError`."""
        super().__init__(settings)
        self._games, self.max_open = self.whole_setting("games"), self.whole_setting("max_open")
        self._banks = self.settings["one_stick"] == "keeps_shooting"

    def opening(self) -> OjibweState:
        """Return the state before the toss: all 20 counters in the pool, or split."""
        share = COUNTERS // 2 if self.settings["start_counters"] == "split_10_10" else 0
        return OjibweState(Sticks.of(A=share, B=share, pool=COUNTERS - 2 * share))

    def hiders(self, state: OjibweState) -> base.Team | None:
        """Return the hiding team; None before the toss."""
        return state.hider

    def settles(self, action: base.Action) -> bool:
        """Return True if `action` ends the hide in progress."""
        return action.get("do") == "shoot"

    def sheet(self, state: OjibweState) -> OjibweSheet:
        """Return hider, counters, pool, short, high, hides_left, banked, shooting, double, winner and finish."""
        return {
            "hider": state.hider,
            "counters": {team: state.counters[team] for team in base.TEAMS},
            "pool": state.counters[POOL],
            "short": dict(zip(base.TEAMS, state.short, strict=True)),
            "high": state.high,
            "hides_left": state.hides_left,
            "banked": state.banked,
            "shooting": state.shooting,
            "double": state.double,
            "winner": state.winner,
            "finish": state.finish,
        }

    def scoreboard(self, sheet: OjibweSheet) -> Scoreboard:
        """Return the short sticks, the counters, the pool, the high pad, and what a find is worth to each team."""
        hider, notes = sheet["hider"], dict[str, tuple[Note, ...]]()
        if hider and not sheet["winner"]:
            double = Note("double_banked", sheet["banked"]) if sheet["banked"] else Note("double")
            notes[hider] = (Note("hides_left", sheet["hides_left"]),) if sheet["hides_left"] > 1 else ()
            notes[base.opposing_team(hider)] = (double,) if sheet["double"] else ()
        sides = (
            Side(
                team,
                (
                    Count("short_sticks", sheet["short"][team], self._games),
                    Count("counters", sheet["counters"][team], COUNTERS),
                ),
                notes=notes.get(team, ()),
            )
            for team in base.TEAMS
        )
        high = (Note("high_pad", sheet["high"]),) if sheet["high"] else ()
        pool = Count("pool", sheet["pool"], COUNTERS)
        return make_board(sides, ("hides", "shoots"), hider, sheet["winner"], pool, high, self._games)

    def restore(self, sheet: Mapping[str, base.Json]) -> OjibweState:
        """Return the state described by the complete `sheet`. Raises `InvalidActionError`."""
        follow = ("shooting", "double")
        needed = ("hider", "counters", "pool", "short", "high", "hides_left", "banked", "winner", "finish")
        validation.parse_object(sheet, needed, follow)
        hider = validation.parse_choice_or_null(sheet, "hider", base.TEAMS)
        winner = validation.parse_choice_or_null(sheet, "winner", base.TEAMS)
        finish = validation.parse_finish(sheet, winner)
        a, b = validation.parse_counts(sheet, "counters", base.TEAMS, COUNTERS)
        pool = validation.parse_whole(sheet, "pool", 0, COUNTERS)
        short = validation.parse_counts(sheet, "short", base.TEAMS, self._games)
        high = validation.parse_whole_or_null(sheet, "high", EVERY_PAD)
        banked = validation.parse_whole(sheet, "banked", 0, _MAX_BANKED_FINDS)
        hides_left = validation.parse_whole(sheet, "hides_left", 1, 1 + _MAX_BANKED_FINDS if self._banks else 2)
        validation.check_sum(COUNTERS, (a, b, pool), "counters and pool")
        points = dict(zip(base.TEAMS, short, strict=True))
        validation.check_winner(winner, points, self._games, forfeit=finish is not None)
        words = mark("a team that holds all {counters} gets a short stick, and they go to the pool")
        require(COUNTERS not in (a, b), words, counters=COUNTERS)
        state = OjibweState(
            Sticks.of(A=a, B=b, pool=pool), (points["A"], points["B"]), hider, high, hides_left, banked, winner, finish
        )
        unwon = replace(state, winner=None, finish=None)
        words = mark("before the toss (hider is null) no counter is paid and no game is won")
        require(hider or unwon == self.opening(), words)
        words = mark("finds are banked only under option one_stick=keeps_shooting: banked is 0")
        require(not banked or self._banks, words)
        words = mark("finds are banked with one shooting stick: banked is 0")
        require(not banked or state.shooting == 1, words)
        validation.check_derived(sheet, self.sheet(state), follow)
        return state

    def play(self, state: OjibweState, action: base.Action) -> tuple[OjibweState, tuple[str, ...]]:
        """Return the state after a toss, a shot or a forfeit, and the words called.

        `double` is called first, because the two fingers are shown before the hit.
        """
        match validation.parse_verb(action, ("toss", "shoot", "forfeit")):
            case "forfeit":
                by = validation.parse_forfeit(action, base.TEAMS).by
                base.check_not_over(state.winner)
                return replace(state, winner=base.opposing_team(by), finish="forfeit"), ("forfeit", "game")
            case "toss":
                validation.check_keys(action, ("winner",))
                winner = validation.parse_choice(action, "winner", base.TEAMS)
                base.check_not_over(state.winner)
                if state.hider:
                    raise base.IllegalActionError("the toss is done")
                return replace(state, hider=winner), ()
            case "shoot":
                shot = parse_shot(action)
                base.check_not_over(state.winner)
                if state.hider is None:
                    raise base.IllegalActionError("there is no hider yet", "the toss comes first")
                if (opened := len(shot.opened)) > self.max_open:
                    raise base.IllegalActionError(
                        "{opened} pads were opened",
                        "option max_open allows at most {max_open}",
                        opened=opened,
                        max_open=self.max_open,
                    )
                return self._shot(state, state.hider, shot)

    def legal_actions(self, state: OjibweState) -> tuple[dict[str, base.Json], ...]:
        """Return every action that is allowed now, one for each group with the same effect.

        A find after opening one pad represents all finds after opening any; a hit on a wrong pad also represents
        opening the ball's pad.
        """
        if state.winner:
            return ()
        if state.hider is None:
            return tuple({"do": "toss", "winner": team} for team in base.TEAMS)
        first: dict[tuple[OjibweState, tuple[str, ...]], dict[str, base.Json]] = {}
        for action in _shots():
            first.setdefault(self.play(state, action), action)
        return tuple(first.values())

    def _shot(self, state: OjibweState, hider: base.Team, shot: Shot) -> tuple[OjibweState, tuple[str, ...]]:
        """Pay for one attempt, and determine who hides next, the number of hides left, and the high pad."""
        calls = ["double"] if state.double else []
        calls.append("found" if shot.found else "missed")
        hitters = base.opposing_team(hider)
        counters = state.counters.pay(_payment_due(state, shot), hider, POOL, hitters)
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
            after = self._award_short_stick(after, hider, calls)
        return after, tuple(calls)

    def _award_short_stick(self, state: OjibweState, team: base.Team, calls: list[str]) -> OjibweState:
        """Give `team` a short stick and return all counters to the pool (rules 27 to 29).

        The next hider is already settled, unless finds are banked: then the team that banked them hides, once more per
        find (rule 22).
        """
        short = (state.short[0] + (team == "A"), state.short[1] + (team == "B"))
        calls.append("short_stick")
        winner = team if short[base.TEAMS.index(team)] == self._games else None
        if winner:
            calls.append("game")
        return replace(
            state,
            counters=state.counters.gather("pool"),
            short=short,
            hider=base.opposing_team(team) if state.banked else state.hider,
            high=state.high if self.settings["high_reset"] == "never" else None,
            hides_left=1 + state.banked,
            banked=0,
            winner=winner,
        )


def _payment_due(state: OjibweState, shot: Shot) -> int:
    """Return the counters the hitters owe for an attempt; they pay no more than they have."""
    if state.double:  # rule 22
        return 0 if shot.found else COUNTERS
    if shot.found:
        return FOUND_HIGH if shot.ball == state.high else FOUND
    return miss_value(shot.ball, state.high)


def _shots() -> Iterator[dict[str, base.Json]]:
    """Yield shots that cover every effect a shot can have."""
    for ball in EVERY_PAD:
        yield {"do": "shoot", "opened": [], "hit": ball, "ball": ball}
        yield {"do": "shoot", "opened": [MATE[ball]], "hit": ball, "ball": ball}
        yield {"do": "shoot", "opened": [], "hit": MATE[ball], "ball": ball}

"""Hampa Apena, the Dakota Moccasin Game: the scoring of the booklet, chapters 2 to 12.

Twenty long sticks pass between the hider, the hitter and the middle; short sticks count points. Chapter numbers below
are the booklet's. If the booklet contradicts itself or leaves a case open, there is an option for it. Short names: h, t
and m are the hider's, the hitter's and the middle sticks, h + t + m = 20.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypedDict, cast

from pi_controller.pads import PADS
from pi_controller.rules import base, validation
from pi_controller.rules.options import Choice, Option, OptionalNumber, WholeNumber
from pi_controller.rules.scoreboard import Count, Note, Scoreboard, Side, make_board
from pi_controller.rules.sticks import Sticks
from pi_controller.rules.validation import require
from pi_controller.text import mark

MIDDLE = "middle"
OPENING_STICKS = Sticks.of(A=0, B=0, middle=20)
"""The long sticks before the toss (chapter 2)."""

Mode = Literal["ordinary", "sahdogan", "yawapi", "eyeya"]
Owed = Literal["first", "second"]
Hide = Literal["this", "last"]
HIDES: tuple[Hide, ...] = ("this", "last")
Finish = Literal["forfeit"]

HIDER_FOULS = (
    "pad_skipped",
    "pad_twice",
    "no_bead",
    "two_beads",
    "bead_showing",
    "bead_off_mat",
    "left_position",
    "outside_help",
)
"""Fouls of a hiding team (chapter 12)."""
HITTER_FOULS = ("outside_help", "time")
"""Fouls of a hitting team (chapter 12)."""
FOUL_KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"hider": HIDER_FOULS, "hitter": HITTER_FOULS})
"""The kinds of fouls by the team that makes them."""


@dataclass(frozen=True, slots=True)
class DakotaState:
    """One moment of a game. Before the toss there is no hider.

    `mode` belongs to the hide in progress; a decision hide (sahdogan, yawapi) keeps it until its second hit, whose
    payment depends on it. `first_pad` is the pad of the first hit while the second is due, if known. `before` is the
    state before the first hit of the hide in progress, `last` that before the first hit of the hide just settled; both
    are bare, so the state does not grow with the length of a game. `finish` is how a game ended that was not played
    out.
    """

    sticks: Sticks = OPENING_STICKS
    short: tuple[int, int] = (0, 0)
    hider: base.Team | None = None
    mode: Mode = "ordinary"
    owed: Owed | None = None
    winner: base.Team | None = None
    finish: Finish | None = None
    first_pad: int | None = None
    before: DakotaState | None = None
    last: DakotaState | None = None

    @property
    def h(self) -> int:
        """The hider's long sticks; 0 before the toss."""
        return self.sticks[self.hider] if self.hider else 0

    @property
    def t(self) -> int:
        """The hitter's long sticks; 0 before the toss."""
        return self.sticks[base.opposing_team(self.hider)] if self.hider else 0

    @property
    def m(self) -> int:
        """The sticks in the middle."""
        return self.sticks[MIDDLE]

    @property
    def situation(self) -> str | None:
        """The mode's name; `wheya` in ordinary mode if the hitter is down to four sticks; else, and once over, None.

        The middle counts as the hitter's (chapters 5 and 11).
        """
        if self.mode != "ordinary":
            return self.mode
        return "wheya" if self.hider and not self.winner and self.t + self.m == 4 else None

    def points(self, team: base.Team) -> int:
        """Return the short sticks of `team`."""
        return self.short[base.TEAMS.index(team)]

    def without_history(self) -> DakotaState:
        """Return this state without its memory of hits and hides."""
        return replace(self, first_pad=None, before=None, last=None)


KEYS = ("hider", "long", "middle", "short", "owed", "situation", "winner", "finish")
LAYOUTS: dict[str, dict[Owed, tuple[int, int, int]]] = {
    "sahdogan": {"first": (12, 8, 0), "second": (4, 0, 16)},
    "yawapi": {"first": (6, 14, 0), "second": (6, 0, 14)},
    "eyeya": {"first": (4, 16, 0)},
}
"""The hider's, the hitter's and the middle sticks of each mode, by the hit due (chapters 6 to 8)."""
OWED: tuple[Owed, ...] = ("first", "second")
MODES: tuple[Mode, ...] = ("sahdogan", "yawapi", "eyeya")


def restore_state(sheet: Mapping[str, base.Json], points: int, *, middle_pays: bool) -> DakotaState:
    """Return the state described by `sheet` in a game to `points`. Raises `InvalidActionError`.

    If the second hit is due, the beginning of the hide is reconstructed: a decision hide with its own sticks and
    without the point it gave, one of 4/16/0 as an eyeya (unless `middle_pays` for fouls, which can lead to the same
    sticks). The sheet contains neither the pad of the first hit nor the hide just settled, so later fouls cannot refer
    to that hide.
    """
    validation.parse_object(sheet, KEYS)
    hider = validation.parse_choice_or_null(sheet, "hider", base.TEAMS)
    middle = validation.parse_whole(sheet, "middle", 0, OPENING_STICKS.total)
    counts = (*validation.parse_counts(sheet, "long", base.TEAMS, OPENING_STICKS.total), middle)
    short = dict(zip(base.TEAMS, validation.parse_counts(sheet, "short", base.TEAMS, points), strict=True))
    owed = validation.parse_choice_or_null(sheet, "owed", OWED)
    situation = validation.parse_choice_or_null(sheet, "situation", (*MODES, "wheya"))
    winner = validation.parse_choice_or_null(sheet, "winner", base.TEAMS)
    validation.check_sum(OPENING_STICKS.total, counts, "long and middle")
    finish = validation.parse_finish(sheet, winner)
    validation.check_winner(winner, short, points, forfeit=finish is not None)
    require(not winner or not owed, "no hit is due once a team has won: owed is null")
    if hider is None:
        earned = owed or situation or (winner and not finish) or any(short.values()) or counts != OPENING_STICKS.counts
        require(not earned, "before the toss (hider is null) no stick is earned, no hit is due and no game is won")
    else:
        require(winner or owed, "a hit is due until a team has won: owed is first or second")
    laid = _laid(hider, counts)
    mode: Mode = situation if situation and situation != "wheya" else "ordinary"
    if mode != "ordinary":
        _check_mode(mode, owed, laid)
    elif situation:
        words = mark("wheya is when the hitters and the middle have four sticks together")
        require(hider and laid[1] + laid[2] == 4, words)
    if mode in ("sahdogan", "yawapi") and owed == "second" and hider:
        words = mark("in {mode} the first miss gives {hider} a short stick: it has none")
        require(short[hider], words, mode=mode, hider=hider)
    state = DakotaState(
        Sticks(OPENING_STICKS.names, counts), (short["A"], short["B"]), hider, mode, owed, winner, finish
    )
    return replace(state, before=_state_before_hide(state, middle_pays)) if owed == "second" else state


def _laid(hider: base.Team | None, counts: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the hider's, the hitter's and the middle sticks."""
    a, b, middle = counts
    return (b, a, middle) if hider == "B" else (a, b, middle)


def _check_mode(mode: Mode, owed: Owed | None, laid: tuple[int, int, int]) -> None:
    require(owed, "there is no {mode} when no hit is owed", mode=mode)
    layout = LAYOUTS[mode].get(cast("Owed", owed))
    require(layout, "in {mode} there is no second hit: the chance is gone with the first", mode=mode)
    h, t, m = layout or laid
    words = mark("in {mode} with the {owed} hit owed the hider has {h}, the hitter {t}, the middle {m}")
    require(laid == layout, words, mode=mode, owed=owed, h=h, t=t, m=m)


def _state_before_hide(state: DakotaState, middle_pays: bool) -> DakotaState:
    """Return the bare state before the first hit of the hide in progress; its second hit is due."""
    assert state.hider
    before = replace(state, owed="first")
    if state.mode in LAYOUTS:
        h, t, m = LAYOUTS[state.mode]["first"]
        a, b = (h, t) if state.hider == "A" else (t, h)
        earned = tuple(state.points(team) - (team == state.hider) for team in base.TEAMS)
        return replace(before, sticks=Sticks.of(A=a, B=b, middle=m), short=(earned[0], earned[1]))
    was_eyeya = (state.h, state.t, state.sticks[MIDDLE]) == LAYOUTS["eyeya"]["first"] and not middle_pays
    return replace(before, mode="eyeya") if was_eyeya else before


STICKS_GIVEN = 4
"""Sticks given for the toss, for a find on the first hit and for a foul (chapters 2 and 12)."""
MIN_HITTER_POOL = 4
"""A hitting team always has at least this many sticks, including the middle (chapter 3)."""
AWARD, PAGUGA = 2, 4
"""Sticks a hide earns if both hits miss, and if the second finds (chapters 2 and 4)."""
HIDER_KEEPS = {"sahdogan": 4, "yawapi": 6}
"""Sticks the hider keeps after the point of a decision hide (chapters 6 and 7)."""


class DakotaSheet(TypedDict):
    """The score sheet's keys. `long` and `short` sticks are by team, `middle` belongs to neither."""

    hider: base.Team | None
    long: dict[str, int]
    middle: int
    short: dict[str, int]
    owed: Owed | None
    situation: str | None
    winner: base.Team | None
    finish: Finish | None


class Dakota(base.WonGame[DakotaState]):
    """Hampa Apena with its options chosen."""

    name: ClassVar[str] = "dakota"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = "Grady Renville, The Moccasin Game (Hampa Apena), chapters 2 to 12"
    side_keys: ClassVar[frozenset[str]] = frozenset({"hider", "winner"})
    options: ClassVar[tuple[Option, ...]] = (
        WholeNumber("points", 5, "Short sticks that win the game (chapter 3).", 1, 99),
        Choice(
            "wheya_16_4",
            "yawapi",
            "What comes after two misses with 16 sticks to 4 (chapters 4 and 5 differ).",
            ("yawapi", "sahdogan"),
            (
                "After two misses with 16 sticks to 4 comes yawapi (chapters 4 and 5 differ).",
                "After two misses with 16 sticks to 4 comes sahdogan (chapters 4 and 5 differ).",
            ),
        ),
        Choice(
            "low_hider",
            "floor",
            "Whether a team gives fewer than four sticks if it would keep less than four to hit with (chapter 3).",
            ("floor", "literal"),
            (
                "A team gives fewer than four sticks if it would keep less than four to hit with (chapter 3).",
                "A team that gives four sticks gives all four, even if it keeps fewer than four to hit with.",
            ),
        ),
        Choice(
            "foul_payer",
            "hider",
            "Whether the four for a hider's foul come from the hider or from the middle first (chapter 12).",
            ("hider", "middle_first"),
            (
                "The four sticks for a hider's foul come from the hiders, then from the middle (chapter 12).",
                "The four sticks for a hider's foul come from the middle, then from the hiders (chapter 12).",
            ),
        ),
        Choice(
            "foul_on_decision",
            "four",
            "Penalty for a hider's foul in sahdogan or yawapi: four sticks, or only the turn.",
            ("four", "it_stays"),
            (
                "A hider's foul in sahdogan or yawapi costs four sticks.",
                "A hider's foul in sahdogan or yawapi costs only the turn.",
            ),
        ),
        Choice(
            "outside_help_by_hitter",
            "four",
            "Penalty for outside help to the hitter: the four sticks of a paguga, or a warning (chapter 12).",
            ("four", "warning"),
            (
                "If somebody helps the hitter from outside, that costs the four sticks of a paguga (chapter 12).",
                "If somebody helps the hitter from outside, that brings a warning (chapter 12).",
            ),
        ),
        OptionalNumber(
            "hit_seconds",
            None,
            "Time limit for a hit in seconds (chapter 12 leaves the number to the organiser).",
            1,
            86400,
        ),
        Choice(
            "overtime",
            "missed_hit",
            "Penalty for running out of time: the hit counts as missed, or the four sticks of a paguga.",
            ("missed_hit", "forfeit_four"),
            (
                "If the time to hit runs out, the hit counts as missed.",
                "If the time to hit runs out, that costs the four sticks of a paguga.",
            ),
        ),
    )
    forms: ClassVar[base.Forms] = {
        "toss": (base.FormPlace("winner", words=base.TEAM, asks="who won it"),),
        "hit": (base.FormPlace("found", words=base.FOUND, asks="found or missed"), base.FormPlace("pad")),
        "foul": (
            base.FormPlace("by", asks="whose: hider or hitter"),
            base.FormPlace("kind", asks="its kind"),
            base.FormPlace("hide"),
        ),
        "forfeit": (base.FormPlace("by", words=base.TEAM, asks="by whom"),),
    }
    hidden: ClassVar[base.Hidden | None] = base.Hidden()
    hand_passes: ClassVar[bool] = True
    foul_kinds = FOUL_KINDS
    roster: ClassVar[base.Roster] = base.Roster(registered=5, playing=4)  # chapter 12: the fifth may only sing

    @property
    def points(self) -> int:
        """The short sticks that win the game."""
        return self.whole_setting("points")

    def opening(self) -> DakotaState:
        """Return the state before the toss: all 20 in the middle (chapter 2)."""
        return DakotaState()

    def phase_of(self, state: DakotaState) -> base.Phase:
        """Return what `state` waits for; in the middle of a hide it is the second hit."""
        return "hit" if state.owed == "second" and not state.winner else super().phase_of(state)

    def after_action(self, before: Any, after: Any, done: Any) -> Any:
        """Return the story after a hit or a foul: a hide has two hits, and a foul may settle the hide before."""
        from pi_controller.games.dakota.referee import after_action  # noqa: PLC0415 - rules are read without a referee

        return after_action(self, before, after, done)

    def hiders(self, state: DakotaState) -> base.Team | None:
        """Return the hiding team; None before the toss."""
        return state.hider

    def hiders_before(self, state: DakotaState) -> base.Team | None:
        """Return the team of the hide just settled; None before the first and after a foul of its own."""
        return state.last.hider if state.last else None

    def sheet(self, state: DakotaState) -> DakotaSheet:
        """Return hider, long, middle, short, owed, situation, winner and finish."""
        return {
            "hider": state.hider,
            "long": {team: state.sticks[team] for team in base.TEAMS},
            "middle": state.m,
            "short": {team: state.points(team) for team in base.TEAMS},
            "owed": state.owed,
            "situation": state.situation,
            "winner": state.winner,
            "finish": state.finish,
        }

    def scoreboard(self, sheet: DakotaSheet) -> Scoreboard:
        """Return the short sticks as points, the long sticks, the middle and the situation."""
        total, goal = OPENING_STICKS.total, self.whole_setting("points")
        sides = (
            Side(
                team,
                (
                    Count("points", sheet["short"][team], goal),
                    Count("sticks", sheet["long"][team], total),
                ),
            )
            for team in base.TEAMS
        )
        notes = (Note(sheet["situation"]),) if sheet["situation"] else ()
        pool = Count("middle", sheet["middle"], total)
        return make_board(sides, ("hides", "hits"), sheet["hider"], sheet["winner"], pool, notes, goal)

    def restore(self, sheet: Mapping[str, base.Json]) -> DakotaState:
        """Return the state described by `sheet`; see `restore_state`. Raises `InvalidActionError`."""
        return restore_state(sheet, self.points, middle_pays=self.settings["foul_payer"] == "middle_first")

    def play(self, state: DakotaState, action: base.Action) -> tuple[DakotaState, tuple[str, ...]]:
        """Return the state after a toss, a hit, a foul or a forfeit, and the words called."""
        calls: list[str] = []
        match validation.parse_verb(action, ("toss", "hit", "foul", "forfeit")):
            case "toss":
                validation.check_keys(action, ("winner",))
                after = _toss(state, validation.parse_choice(action, "winner", base.TEAMS))
            case "hit":
                validation.check_keys(action, ("found",), ("pad",))
                pad = validation.parse_whole(action, "pad", 1, PADS) if "pad" in action else None
                found = validation.parse_flag(action, "found")
                _sides(state)
                if state.owed == "second" and pad is not None and pad == state.first_pad:
                    raise base.IllegalActionError(
                        "pad {pad} was hit first in this hide", "the second hit takes another pad", pad=pad
                    )
                after = self._hit(state, found, pad, calls)
            case "foul":
                validation.check_keys(action, ("by", "kind"), ("hide",))
                by = validation.parse_choice(action, "by", ("hider", "hitter"))
                kind = validation.parse_choice(action, "kind", FOUL_KINDS[by])
                hide = validation.parse_choice(action, "hide", HIDES) if "hide" in action else "this"
                if by == "hider":
                    after = self._hider_foul(_hide(state, hide), calls)
                else:
                    after = self._hitter_foul(state, kind, hide, calls)
            case "forfeit":
                after = _apply_forfeit(state, validation.parse_forfeit(action, base.TEAMS).by, calls)
        if after.situation == "wheya" != state.situation:
            calls.append("wheya")
        return after, tuple(calls)

    def legal_actions(self, state: DakotaState) -> tuple[dict[str, base.Json], ...]:
        """Return every action of play that is allowed now, one for each group with the same effect.

        Hits have no pads, and one kind represents all fouls of the hider, because they cost the same. Forfeits are not
        included.
        """
        actions: list[dict[str, base.Json]] = []
        if state.hider is None and not state.winner:
            actions += ({"do": "toss", "winner": team} for team in base.TEAMS)
        if state.owed:
            actions += ({"do": "hit", "found": found} for found in (True, False))
            actions.append({"do": "foul", "by": "hider", "kind": "no_bead"})
            actions += ({"do": "foul", "by": "hitter", "kind": kind} for kind in ("outside_help", "time"))
        if state.last:
            fouls = (("hider", "no_bead"), ("hitter", "outside_help"))
            actions += ({"do": "foul", "by": by, "kind": kind, "hide": "last"} for by, kind in fouls)
        return tuple(actions)

    # ---- hits

    def _hit(self, state: DakotaState, found: bool, pad: int | None, calls: list[str]) -> DakotaState:
        if state.before is None:
            return self._first(state.without_history(), found, pad, calls)
        settled = self._second(replace(state, first_pad=None, before=None), found, calls)
        return replace(settled, last=state.before)

    def _first(self, before: DakotaState, found: bool, pad: int | None, calls: list[str]) -> DakotaState:
        """Play the first hit of a hide; `before` is bare."""
        decision = before.mode in HIDER_KEEPS
        if found:
            if decision:  # chapter 9
                calls.append("it_stays")
                after = _swap_roles(before, before.sticks)
            elif before.mode == "eyeya":
                after = self._eyeya_point(before, calls)
            else:
                after = self._settle_first_find(before, calls)
            return replace(after, last=before)
        after = before
        if decision:
            after = self._settle_decision_miss(before, calls)
            if after.winner:
                return replace(after, last=before)
        elif before.mode == "eyeya":  # the chance is gone (chapter 8)
            after = replace(before, mode="ordinary")
        return replace(after, owed="second", first_pad=pad, before=before)

    def _settle_first_find(self, state: DakotaState, calls: list[str]) -> DakotaState:
        """Settle an ordinary hide found at the first hit (chapters 2, 5, 8).

        The hitter gets four, from the middle first, and hides.
        """
        hider, _ = _sides(state)
        eyeya = (state.h, state.t, state.m) == (16, 0, 4)
        if eyeya:
            calls.append("eyeya")
        return _swap_roles(state, self._give_four(state, MIDDLE, hider), "eyeya" if eyeya else "ordinary")

    def _settle_decision_miss(self, state: DakotaState, calls: list[str]) -> DakotaState:
        """Settle a decision hide missed at first: a point, and most sticks go to the middle (chapters 6, 7, 11)."""
        hider, _ = _sides(state)
        kept = HIDER_KEEPS[state.mode]
        sticks = state.sticks.gather(MIDDLE).move(kept, MIDDLE, hider)
        return self._score_point(replace(state, sticks=sticks), hider, "obojun", calls)

    def _second(self, state: DakotaState, found: bool, calls: list[str]) -> DakotaState:
        """Play the second hit: the hide is settled and the same team hides on (chapters 4 to 7)."""
        hider, hitter = _sides(state)
        if found:
            calls.append("paguga")
        if state.mode in HIDER_KEEPS:  # the point is made; only a paguga adds to it
            sticks = state.sticks.move(PAGUGA - AWARD, MIDDLE, hider) if found else state.sticks
            return replace(state, sticks=sticks, mode="ordinary", owed="first")
        award = PAGUGA if found else AWARD
        pool = state.t + state.m
        if pool - award >= MIN_HITTER_POOL:
            return replace(state, sticks=state.sticks.pay(award, hider, MIDDLE, hitter), owed="first")
        if found and pool <= MIN_HITTER_POOL:
            emptied = replace(state, sticks=state.sticks.gather(MIDDLE), owed="first")
            return self._score_point(emptied, hider, "obojun", calls)
        either = (state.h, state.t, state.m) == (16, 4, 0) and self.settings["wheya_16_4"] == "sahdogan"
        mode: Literal["sahdogan", "yawapi"] = "sahdogan" if state.t == 0 or either else "yawapi"
        calls.append(mode)
        sticks = state.sticks.gather(hitter).move(12 if mode == "sahdogan" else 6, hitter, hider)
        return replace(state, sticks=sticks, mode=mode, owed="first")

    def _eyeya_point(self, state: DakotaState, calls: list[str]) -> DakotaState:
        """Score for the hitter after a find or a foul in an eyeya hide (chapter 8).

        The hitter then hides without sticks.
        """
        _, hitter = _sides(state)
        emptied = replace(state, sticks=state.sticks.gather(MIDDLE), hider=hitter, mode="ordinary", owed="first")
        return self._score_point(emptied, hitter, "eyeya_obojun", calls)

    def _score_point(self, state: DakotaState, team: base.Team, call: str, calls: list[str]) -> DakotaState:
        """Give `team` a short stick, which may win the game."""
        short = (state.short[0] + (team == "A"), state.short[1] + (team == "B"))
        calls.append(call)
        if short[base.TEAMS.index(team)] < self.points:
            return replace(state, short=short)
        calls.append("game")
        return replace(state, short=short, mode="ordinary", owed=None, winner=team)

    def _give_four(self, state: DakotaState, *payers: str) -> Sticks:
        """Return the sticks after `payers`, in their order, have given the hitter four.

        The hitter will hide, and the hider, as the new hitter, must keep a pool of four (chapter 3), so less is given
        if necessary.
        """
        _, hitter = _sides(state)
        spare = STICKS_GIVEN if self.settings["low_hider"] == "literal" else max(0, state.h + state.m - MIN_HITTER_POOL)
        return state.sticks.pay(min(STICKS_GIVEN, spare), hitter, *payers)

    # ---- fouls (chapter 12)

    def _hider_foul(self, hide: DakotaState, calls: list[str]) -> DakotaState:
        """Settle a foul by the team that hid. `hide` is bare: no earlier hide can be called back any more."""
        hider, _ = _sides(hide)
        calls.append("foul")
        if hide.mode == "eyeya":
            return self._eyeya_point(hide, calls)
        if hide.mode in HIDER_KEEPS and self.settings["foul_on_decision"] == "it_stays":
            calls.append("it_stays")
            return _swap_roles(hide, hide.sticks)
        payers = (MIDDLE, hider) if self.settings["foul_payer"] == "middle_first" else (hider, MIDDLE)
        return _swap_roles(hide, self._give_four(hide, *payers))

    def _hitter_foul(self, state: DakotaState, kind: str, which: Hide, calls: list[str]) -> DakotaState:
        if kind == "time" and which == "last":
            raise base.IllegalActionError("time cannot name the last hide: its hits are done", "leave out 'hide'")
        hide = _hide(state, which)
        calls.append("foul")
        if kind == "time" and self.settings["overtime"] == "missed_hit":
            return self._hit(state, found=False, pad=None, calls=calls)
        if kind == "outside_help" and self.settings["outside_help_by_hitter"] == "warning":
            return state
        missed = self._hit(hide, found=False, pad=None, calls=calls)
        return missed if missed.winner else self._hit(missed, found=True, pad=None, calls=calls)


def _sides(state: DakotaState) -> tuple[base.Team, base.Team]:
    """Return the hiding and the hitting team of a game in play."""
    base.check_not_over(state.winner)
    if state.hider is None:
        raise base.IllegalActionError("there is no hider yet", "the toss comes first")
    return state.hider, base.opposing_team(state.hider)


def _apply_forfeit(state: DakotaState, by: base.Team, calls: list[str]) -> DakotaState:
    """Let the other team win at once; the sticks are unchanged, and no later foul can undo the forfeit."""
    base.check_not_over(state.winner)
    calls += ("forfeit", "game")
    return replace(state.without_history(), mode="ordinary", owed=None, winner=base.opposing_team(by), finish="forfeit")


def _toss(state: DakotaState, winner: base.Team) -> DakotaState:
    """Give the winner of the toss four sticks and the hide (chapter 2)."""
    base.check_not_over(state.winner)
    if state.hider:
        raise base.IllegalActionError("the toss is done")
    return replace(state, sticks=state.sticks.move(STICKS_GIVEN, MIDDLE, winner), hider=winner, owed="first")


def _swap_roles(state: DakotaState, sticks: Sticks, mode: Mode = "ordinary") -> DakotaState:
    """Return the beginning of the other team's turn to hide."""
    _, hitter = _sides(state)
    return replace(state, sticks=sticks, hider=hitter, mode=mode, owed="first")


def _hide(state: DakotaState, which: Hide) -> DakotaState:
    """Return the bare state before the first hit of the hide in progress ("this") or the one just settled ("last")."""
    if which == "this":
        _sides(state)
        return state.before or state.without_history()
    if state.last is None:
        _sides(state)
        raise base.IllegalActionError("no hide was just settled", "leave out 'hide': it means the hide that is played")
    return state.last

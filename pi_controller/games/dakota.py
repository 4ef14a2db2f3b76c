"""Hampa Apena, the Dakota Moccasin Game: the scoring of the booklet, chapters 2 to 12.

Twenty long sticks pass between the hider, the hitter and the middle; short sticks count points. Chapter numbers below
are the booklet's. Where it contradicts itself or leaves a case open, an option says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

from pi_controller.games.actions import Forfeit
from pi_controller.games.base import Action, Game, Hidden, IllegalActionError, Json, Roster, Team, other
from pi_controller.games.dakota_restore import restored
from pi_controller.games.dakota_state import MIDDLE, TEAMS, Finish, Foul, Hide, Hit, Mode, Owed, State, Toss, read
from pi_controller.games.forms import FOUND, TEAM, Forms, Place
from pi_controller.games.options import Choice, Option, OptionalNumber, Whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_controller.games.sticks import Sticks

GIVEN = 4
"""Sticks given for the toss, for a find on the first hit and for a foul (chapters 2 and 12)."""
FLOOR = 4
"""A hitting team never has less, the middle counted as its own (chapter 3)."""
AWARD, PAGUGA = 2, 4
"""What a hide earns when both hits miss, and when the second finds (chapters 2 and 4)."""
KEPT = {"sahdogan": 4, "yawapi": 6}
"""What the hider keeps after the point of a decision hide (chapters 6 and 7)."""


class DakotaSheet(TypedDict):
    """The score sheet's keys. `long`, `middle` and `short` are sticks, by team where teams hold them."""

    hider: Team | None
    long: dict[str, int]
    middle: int
    short: dict[str, int]
    owed: Owed | None
    situation: str | None
    winner: Team | None
    finish: Finish | None


class Dakota(Game[State]):
    """Hampa Apena with its options chosen."""

    name: ClassVar[str] = "dakota"
    version: ClassVar[str] = "1"
    source: ClassVar[str] = "Grady Renville, The Moccasin Game (Hampa Apena), chapters 2 to 12"
    options: ClassVar[tuple[Option, ...]] = (
        Whole("points", 5, "Short sticks that win the game (chapter 3).", 1, 99),
        Choice(
            "wheya_16_4",
            "yawapi",
            "What follows when 16/4/0 is missed twice (chapters 4 and 5 say either).",
            ("yawapi", "sahdogan"),
        ),
        Choice(
            "low_hider",
            "floor",
            "Whether giving four stops where the new hitter would have a pool below 4 (chapter 3).",
            ("floor", "literal"),
        ),
        Choice(
            "foul_payer",
            "hider",
            "Whether the four for a hider's foul come from the hider or from the middle first (chapter 12).",
            ("hider", "middle_first"),
        ),
        Choice(
            "foul_on_decision",
            "four",
            "What a hider's foul costs in sahdogan or yawapi: four sticks, or only the turn.",
            ("four", "it_stays"),
        ),
        Choice(
            "outside_help_by_hitter",
            "four",
            "What outside help to the hitter costs: the four of a paguga, or a warning (chapter 12).",
            ("four", "warning"),
        ),
        OptionalNumber(
            "hit_seconds",
            None,
            "Seconds that the hitting team has for a hit (chapter 12 leaves the blank to the organiser).",
            1,
            86400,
        ),
        Choice(
            "overtime",
            "missed_hit",
            "What running out of time costs: the hit counts as missed, or the four of a paguga.",
            ("missed_hit", "forfeit_four"),
        ),
    )
    forms: ClassVar[Forms] = {
        "toss": (Place("winner", words=TEAM, asks="who won it"),),
        "hit": (Place("found", words=FOUND, asks="found or missed"), Place("pad")),
        "foul": (Place("by", asks="whose: hider or hitter"), Place("kind", asks="its kind"), Place("hide")),
        "forfeit": (Place("by", words=TEAM, asks="by whom"),),
    }
    hidden: ClassVar[Hidden | None] = Hidden()
    hand_passes: ClassVar[bool] = True
    roster: ClassVar[Roster] = Roster(registered=5, playing=4)  # chapter 12: the fifth may only sing
    solver: ClassVar[str] = "pi_controller.games.chances_dakota"

    @classmethod
    def shorthand(cls, words: Sequence[str]) -> dict[str, Json] | None:
        """Return the action that a judge's `words` say shorter than its form, or None where they say none."""
        match words:
            case [("found" | "missed") as word]:
                return {"do": "hit", "found": word == "found"}
            case [("found" | "missed") as word, pad] if pad.isdecimal():
                return {"do": "hit", "found": word == "found", "pad": int(pad[:9])}
            case _:
                return None

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        """Choose options by name, as text or typed; the others keep their defaults. Raises `UsageError`."""
        super().__init__(settings)
        points = self.settings["points"]
        assert isinstance(points, int)
        self._points = points

    def opening(self) -> State:
        """Return the state before the toss: all 20 in the middle (chapter 2)."""
        return State()

    def over(self, state: State) -> bool:
        """Return whether a team has won."""
        return state.winner is not None

    def score(self, state: State) -> Mapping[str, int]:
        """Return the short sticks of each team."""
        return {team: state.points(team) for team in TEAMS}

    def hiders(self, state: State) -> Team | None:
        """Return the hiding team; None before the toss."""
        return state.hider

    def hiders_before(self, state: State) -> Team | None:
        """Return the team of the hide just settled; None before there is one and after its own foul."""
        return state.last.hider if state.last else None

    def sheet(self, state: State) -> DakotaSheet:
        """Return hider, long, middle, short, owed, situation, winner and finish."""
        return {
            "hider": state.hider,
            "long": {team: state.sticks[team] for team in TEAMS},
            "middle": state.m,
            "short": {team: state.points(team) for team in TEAMS},
            "owed": state.owed,
            "situation": state.situation,
            "winner": state.winner,
            "finish": state.finish,
        }

    def restore(self, sheet: Mapping[str, Json]) -> State:
        """Return the state with `sheet`'s keys; see `dakota_restore`. Raises `InvalidActionError` with every fault."""
        return restored(sheet, self._points, middle_pays=self.settings["foul_payer"] == "middle_first")

    def play(self, state: State, action: Action) -> tuple[State, tuple[str, ...]]:
        """Return the state after a toss, a hit, a foul or a forfeit, and the words called."""
        done = read(action)
        calls: list[str] = []
        match done:
            case Toss():
                after = _toss(state, done.winner)
            case Hit():
                _in_play(state)
                if state.owed == "second" and done.pad is not None and done.pad == state.first_pad:
                    raise IllegalActionError(
                        f"pad {done.pad} was hit first in this hide", "the second hit takes another pad"
                    )
                after = self._hit(state, done.found, done.pad, calls)
            case Foul(by="hider"):
                after = self._hider_foul(_hide(state, done.hide), calls)
            case Foul():
                after = self._hitter_foul(state, done, calls)
            case Forfeit():
                after = _forfeited(state, done.by, calls)
        if after.situation == "wheya" != state.situation:
            calls.append("wheya")
        return after, tuple(calls)

    def legal_actions(self, state: State) -> tuple[dict[str, Json], ...]:
        """Return every action of play that is allowed now, one for all that come to the same.

        Hits are without pads, and one kind stands for all fouls of the hider: they cost the same. Forfeits are not
        among them.
        """
        actions: list[dict[str, Json]] = []
        if state.hider is None and not state.winner:
            actions += ({"do": "toss", "winner": team} for team in TEAMS)
        if state.owed:
            actions += ({"do": "hit", "found": found} for found in (True, False))
            actions.append({"do": "foul", "by": "hider", "kind": "no_bead"})
            actions += ({"do": "foul", "by": "hitter", "kind": kind} for kind in ("outside_help", "time"))
        if state.last:
            fouls = (("hider", "no_bead"), ("hitter", "outside_help"))
            actions += ({"do": "foul", "by": by, "kind": kind, "hide": "last"} for by, kind in fouls)
        return tuple(actions)

    # ---- hits

    def _hit(self, state: State, found: bool, pad: int | None, calls: list[str]) -> State:
        if state.before is None:
            return self._first(state.bare(), found, pad, calls)
        settled = self._second(replace(state, first_pad=None, before=None), found, calls)
        return replace(settled, last=state.before)

    def _first(self, before: State, found: bool, pad: int | None, calls: list[str]) -> State:
        """Take the first hit of a hide; `before` is bare."""
        decision = before.mode in KEPT
        if found:
            if decision:  # chapter 9
                calls.append("it_stays")
                after = _swapped(before, before.sticks)
            elif before.mode == "eyeya":
                after = self._eyeya_point(before, calls)
            else:
                after = self._found(before, calls)
            return replace(after, last=before)
        after = before
        if decision:
            after = self._decided(before, calls)
            if after.winner:
                return replace(after, last=before)
        elif before.mode == "eyeya":  # the chance is gone (chapter 8)
            after = replace(before, mode="ordinary")
        return replace(after, owed="second", first_pad=pad, before=before)

    def _found(self, state: State, calls: list[str]) -> State:
        """First hit of an ordinary hide finds: the hitter is given four, middle first, and hides (chapters 2, 5, 8)."""
        hider, _ = _sides(state)
        eyeya = (state.h, state.t, state.m) == (16, 0, 4)
        if eyeya:
            calls.append("eyeya")
        return _swapped(state, self._given(state, MIDDLE, hider), "eyeya" if eyeya else "ordinary")

    def _decided(self, state: State, calls: list[str]) -> State:
        """First hit of a decision hide misses: the point, and most sticks to the middle (chapters 6, 7, 11)."""
        hider, _ = _sides(state)
        kept = KEPT[state.mode]
        sticks = state.sticks.gather(MIDDLE).move(kept, MIDDLE, hider)
        return self._scored(replace(state, sticks=sticks), hider, "obojun", calls)

    def _second(self, state: State, found: bool, calls: list[str]) -> State:
        """Take the second hit: the hide is settled and the same team hides on (chapters 4 to 7)."""
        hider, hitter = _sides(state)
        if found:
            calls.append("paguga")
        if state.mode in KEPT:  # the point is made; only a paguga adds to it
            sticks = state.sticks.move(PAGUGA - AWARD, MIDDLE, hider) if found else state.sticks
            return replace(state, sticks=sticks, mode="ordinary", owed="first")
        award = PAGUGA if found else AWARD
        pool = state.t + state.m
        if pool - award >= FLOOR:
            return replace(state, sticks=state.sticks.pay(award, hider, MIDDLE, hitter), owed="first")
        if found and pool <= FLOOR:
            emptied = replace(state, sticks=state.sticks.gather(MIDDLE), owed="first")
            return self._scored(emptied, hider, "obojun", calls)
        either = (state.h, state.t, state.m) == (16, 4, 0) and self.settings["wheya_16_4"] == "sahdogan"
        mode: Literal["sahdogan", "yawapi"] = "sahdogan" if state.t == 0 or either else "yawapi"
        calls.append(mode)
        sticks = state.sticks.gather(hitter).move(12 if mode == "sahdogan" else 6, hitter, hider)
        return replace(state, sticks=sticks, mode=mode, owed="first")

    def _eyeya_point(self, state: State, calls: list[str]) -> State:
        """An eyeya hide is found, or fouled: the hitter scores, and hides with none (chapter 8)."""
        _, hitter = _sides(state)
        emptied = replace(state, sticks=state.sticks.gather(MIDDLE), hider=hitter, mode="ordinary", owed="first")
        return self._scored(emptied, hitter, "eyeya_obojun", calls)

    def _scored(self, state: State, team: Team, call: str, calls: list[str]) -> State:
        """Give `team` a short stick; enough of them end the game at once."""
        short = (state.short[0] + (team == "A"), state.short[1] + (team == "B"))
        calls.append(call)
        if short[TEAMS.index(team)] < self._points:
            return replace(state, short=short)
        calls.append("game")
        return replace(state, short=short, mode="ordinary", owed=None, winner=team)

    def _given(self, state: State, *payers: str) -> Sticks:
        """Return the sticks after the hitter is given four by `payers`, in their order.

        The hitter will hide, and the hider, as the new hitter, must keep a pool of four (chapter 3): less is given
        where it would not.
        """
        _, hitter = _sides(state)
        spare = GIVEN if self.settings["low_hider"] == "literal" else max(0, state.h + state.m - FLOOR)
        return state.sticks.pay(min(GIVEN, spare), hitter, *payers)

    # ---- fouls (chapter 12)

    def _hider_foul(self, hide: State, calls: list[str]) -> State:
        """Settle a foul by the team that hid. `hide` is bare: nothing before it can be called back any more."""
        hider, _ = _sides(hide)
        calls.append("foul")
        if hide.mode == "eyeya":
            return self._eyeya_point(hide, calls)
        if hide.mode in KEPT and self.settings["foul_on_decision"] == "it_stays":
            calls.append("it_stays")
            return _swapped(hide, hide.sticks)
        payers = (MIDDLE, hider) if self.settings["foul_payer"] == "middle_first" else (hider, MIDDLE)
        return _swapped(hide, self._given(hide, *payers))

    def _hitter_foul(self, state: State, foul: Foul, calls: list[str]) -> State:
        if foul.kind == "time" and foul.hide == "last":
            raise IllegalActionError("time cannot name the last hide: its hits are done", "leave hide out")
        hide = _hide(state, foul.hide)
        calls.append("foul")
        if foul.kind == "time" and self.settings["overtime"] == "missed_hit":
            return self._hit(state, found=False, pad=None, calls=calls)
        if foul.kind == "outside_help" and self.settings["outside_help_by_hitter"] == "warning":
            return state
        missed = self._hit(hide, found=False, pad=None, calls=calls)
        return missed if missed.winner else self._hit(missed, found=True, pad=None, calls=calls)


def _sides(state: State) -> tuple[Team, Team]:
    """Return the hiding and the hitting team."""
    if state.hider is None:
        raise IllegalActionError("nobody hides yet", "the toss comes first")
    return state.hider, other(state.hider)


def _in_play(state: State) -> None:
    """Check that a hit is owed."""
    _not_over(state)
    _sides(state)


def _not_over(state: State) -> None:
    if state.winner:
        raise IllegalActionError(f"the game is over: {state.winner} has won")


def _forfeited(state: State, by: Team, calls: list[str]) -> State:
    """The other team wins at once; the sticks stay as they lie, and no foul can take the forfeit back."""
    _not_over(state)
    calls += ("forfeit", "game")
    return replace(state.bare(), mode="ordinary", owed=None, winner=other(by), finish="forfeit")


def _toss(state: State, winner: Team) -> State:
    """The winner of the toss takes four and hides (chapter 2)."""
    _not_over(state)
    if state.hider:
        raise IllegalActionError("the toss is done")
    return replace(state, sticks=state.sticks.move(GIVEN, MIDDLE, winner), hider=winner, owed="first")


def _swapped(state: State, sticks: Sticks, mode: Mode = "ordinary") -> State:
    """Return the first moment of the other team's turn to hide."""
    _, hitter = _sides(state)
    return replace(state, sticks=sticks, hider=hitter, mode=mode, owed="first")


def _hide(state: State, which: Hide) -> State:
    """Return the bare state before the first hit of the hide in progress, or of the one just settled."""
    if which == "this":
        _in_play(state)
        return state.before or state.bare()
    if state.last is None:
        _in_play(state)
        raise IllegalActionError("no hide was just settled", "leave hide out: the foul is in this one")
    return state.last

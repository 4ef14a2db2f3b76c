"""Hampa Apena: from the score sheet back to the state, for a judge who says how the table stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pi_controller.games.dakota_state import MIDDLE, TEAMS, UNEARNED, Mode, Owed, State
from pi_controller.games.restoring import Sheet
from pi_controller.games.sticks import Sticks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.games.base import Json, Team

KEYS = ("hider", "long", "middle", "short", "owed", "situation", "winner")
LATER_KEYS = ("finish",)
"""What older sheets have not."""
LAID: dict[str, dict[Owed, tuple[int, int, int]]] = {
    "sahdogan": {"first": (12, 8, 0), "second": (4, 0, 16)},
    "yawapi": {"first": (6, 14, 0), "second": (6, 0, 14)},
    "eyeya": {"first": (4, 16, 0)},
}
"""The hider's, the hitter's and the middle sticks of each mode, by the hit owed (chapters 6 to 8)."""
OWED: tuple[Owed, ...] = ("first", "second")
MODES: tuple[Mode, ...] = ("sahdogan", "yawapi", "eyeya")


def restored(sheet: Mapping[str, Json], points: int, *, middle_pays: bool) -> State:
    """Return the state with `sheet`'s keys in a game to `points`. Raises `InvalidActionError` with every fault.

    Where the second hit is owed the hide began as it must have: a decision hide with its own sticks and without the
    point it gave, one of 4/16/0 as an eyeya (unless `middle_pays` for fouls, which can bring about the same sticks).
    Which pad was hit first is not on the sheet, nor the hide just settled: no foul can name that any more.
    """
    read = Sheet(sheet, KEYS, optional=LATER_KEYS)
    hider = read.word("hider", TEAMS)
    counts = (*read.counts("long", TEAMS, UNEARNED.total), read.whole("middle", UNEARNED.total))
    short = dict(zip(TEAMS, read.counts("short", TEAMS, points), strict=True))
    owed = read.word("owed", OWED)
    situation = read.word("situation", (*MODES, "wheya"))
    winner = read.word("winner", TEAMS)
    read.sum_is(UNEARNED.total, counts, "long and middle", "long", "middle")
    finish = read.forfeit(winner)
    read.won(winner, short.items(), points, "short sticks", forfeit=finish is not None)
    if winner and owed:
        read.wrong("no hit is owed when a team has won", "owed", "winner")
    if hider is None:
        if owed or situation or (winner and not finish) or any(short.values()) or counts != UNEARNED.counts:
            read.wrong("nobody hides, so nothing is earned, owed or won: hider is A or B after the toss", "hider")
    elif not (winner or owed):
        read.wrong("a hit is owed while nobody has won: owed is first or second", "owed", "winner")
    laid = _laid(hider, counts)
    mode: Mode = situation if situation and situation != "wheya" else "ordinary"
    if mode != "ordinary":
        _check_mode(read, mode, owed, laid)
    elif situation and (hider is None or laid[1] + laid[2] != 4):
        read.wrong("wheya is when the hitters and the middle have four sticks together", "long", "middle", "hider")
    if mode in ("sahdogan", "yawapi") and owed == "second" and hider and not short[hider]:
        read.wrong(f"in {mode} the first miss gives {hider} a short stick: it has none", "short", "hider")
    read.check()
    state = State(Sticks(UNEARNED.names, counts), (short["A"], short["B"]), hider, mode, owed, winner, finish)
    return replace(state, before=_before(state, middle_pays)) if owed == "second" else state


def _laid(hider: Team | None, counts: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the hider's, the hitter's and the middle sticks."""
    a, b, middle = counts
    return (b, a, middle) if hider == "B" else (a, b, middle)


def _check_mode(read: Sheet, mode: Mode, owed: Owed | None, laid: tuple[int, int, int]) -> None:
    if owed is None:
        read.wrong(f"there is no {mode} when no hit is owed", "owed")
    elif owed not in LAID[mode]:
        read.wrong(f"in {mode} there is no second hit: the chance is gone with the first", "owed")
    elif laid != LAID[mode][owed]:
        h, t, m = LAID[mode][owed]
        read.wrong(
            f"in {mode} with the {owed} hit owed the hider has {h}, the hitter {t}, the middle {m}",
            "hider",
            "long",
            "middle",
        )


def _before(state: State, middle_pays: bool) -> State:
    """Return the bare state before the first hit of the hide in progress, of which the second is owed."""
    assert state.hider
    before = replace(state, owed="first")
    if state.mode in LAID:
        h, t, m = LAID[state.mode]["first"]
        a, b = (h, t) if state.hider == "A" else (t, h)
        earned = tuple(state.points(team) - (team == state.hider) for team in TEAMS)
        return replace(before, sticks=Sticks.of(A=a, B=b, middle=m), short=(earned[0], earned[1]))
    was_eyeya = (state.h, state.t, state.sticks[MIDDLE]) == LAID["eyeya"]["first"] and not middle_pays
    return replace(before, mode="eyeya") if was_eyeya else before

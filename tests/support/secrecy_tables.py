"""Short games by the clock, with what is hidden at one place or another: what is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secrecy_outside import Outside
from secrecy_people import HIDDEN_S, fists, hides, presses, strikes

from pi_controller.referee.judge import JudgeAction, JudgeSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from secrecy_channels import Told

    Deed = tuple[float, Callable[[Outside], object]]

OFF = (0.3, 0.2)
"""Where under its pad the bead lies: where a mat that has just been switched on reads it without a doubt."""
TOSS_T, HIDE_T = 1.6, 2.0
READY_T = HIDE_T + HIDDEN_S
"""The hider is ready as soon as the last hand is away."""
HIT_T = READY_T + 1.5
SECOND_HIT_T = HIT_T + 1.5
LAST_HIDE_T = SECOND_HIT_T + 4.0
LAST_HIT_T = LAST_HIDE_T + HIDDEN_S + 1.5
GAME_END_T = LAST_HIT_T + 3.0


def hide(folder: Path, pad: int, *, kills: Iterable[float] = (), also: Iterable[Deed] = (), end: float = HIT_T) -> Told:
    """Return what left a table of Hampa Apena until `end`, with the bead of its first hide under `pad`."""
    deeds = [*presses(TOSS_T, "toss_a"), *hides(HIDE_T, {"bead": (pad, OFF)}), *presses(READY_T, "ready"), *also]
    return Outside(folder).play(deeds, end, kills)


def game(folder: Path, pad: int) -> Told:
    """Return what left a game of one point: a hide missed twice, then the bead under `pad`, hit at pad 1 first.

    Before the last hide the head judge sets the table so that it can win. The bead that pad 1 missed is found.
    """
    sticks = {"long": {"A": 16, "B": 0}, "middle": 4, "short": {"A": 0, "B": 0}}
    nearly = {"hider": "A", **sticks, "owed": "first", "situation": "wheya", "winner": None, "finish": None}
    deeds = [
        *presses(TOSS_T, "toss_a"),
        *hides(HIDE_T, {"bead": (3, OFF)}),
        *presses(READY_T, "ready"),
        *strikes(HIT_T, 1),
        *strikes(SECOND_HIT_T, 2),
        (SECOND_HIT_T + 1.5, lambda table: table.world.take("bead")),
        *presses(SECOND_HIT_T + 2.0, "shown"),
        (SECOND_HIT_T + 3.0, lambda table: table.judge(JudgeSet(0.0, nearly, reason="the sticks were counted"))),
        *hides(LAST_HIDE_T, {"bead": (pad, OFF)}),
        *presses(LAST_HIDE_T + HIDDEN_S, "ready"),
        *strikes(LAST_HIT_T, 1),
        *(strikes(LAST_HIT_T + 1.5, pad) if pad != 1 else ()),
    ]
    return Outside(folder, options="options = { points = 1 }").play(deeds, GAME_END_T)


def balls(folder: Path, pad: int) -> Told:
    """Return what left a table of the moccasin game until the hit, with the marked ball under `pad`."""
    others = [other for other in (1, 2, 3, 4) if other != pad]
    laid = {"bead": (pad, OFF)} | {f"ball {n}": (other, OFF) for n, other in enumerate(others, 1)}
    deeds = [*presses(TOSS_T, "toss_a"), *hides(HIDE_T, laid), *presses(READY_T + 0.5, "ready")]
    return Outside(folder, "ojibwe").play(deeds, HIT_T + 1.0)


def bones(folder: Path, pads: tuple[int, int]) -> Told:
    """Return what left a table of slahal until the guess, with the unmarked bones in the fists on `pads`."""
    duo = JudgeAction(0.0, {"do": "duo", "A": True, "B": False})
    deeds = [(TOSS_T, lambda table: table.judge(duo)), *fists(HIDE_T, pads), *presses(READY_T, "ready")]
    return Outside(folder, "slahal").play(deeds, HIT_T)

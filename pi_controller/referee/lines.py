"""Parses a line of JSON into a mat event or a judge's command; raises `InvalidActionError` for anything else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, get_args

import msgspec

from pi_controller.games.base import InvalidActionError
from pi_controller.games.wording import listed, shown
from pi_controller.mat.events import Beads, Button, HandIn, HandOut, MatEvent, Sensors, Strike
from pi_controller.pads import EVERY_PAD
from pi_controller.referee.judge import JudgeCall

if TYPE_CHECKING:
    from collections.abc import Iterable

BUTTONS = ("toss_a", "toss_b", "ready", "shown", "left", "right", "inside", "outside")
"""The last four are the guesses of slahal."""
EVENTS = tuple(str(kind.__struct_config__.tag) for kind in get_args(MatEvent))
CALLS = tuple(str(kind.__struct_config__.tag) for kind in get_args(JudgeCall))
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Head(msgspec.Struct):
    """What every line has: its time, and whether it is an event or a judge's call."""

    t: float
    event: str | None = None
    judge: str | None = None


_head = msgspec.json.Decoder(_Head).decode
_event = msgspec.json.Decoder(MatEvent).decode  # pyright: ignore[reportUnknownMemberType, reportArgumentType]
_call = msgspec.json.Decoder(JudgeCall).decode  # pyright: ignore[reportUnknownMemberType, reportArgumentType]


def read(line: bytes) -> MatEvent | JudgeCall:
    """Return what `line` says. The message of an error never repeats a pad: a line may tell where the bead lies."""
    line = line.removeprefix(_BYTE_ORDER_MARK)
    try:
        head = _head(line)
        if (head.event is None) == (head.judge is None):
            raise InvalidActionError('a line has either "event" or "judge"')
        if not math.isfinite(head.t):
            raise InvalidActionError('"t" is a number of seconds')
        _known(head.event, "event", EVENTS)
        _known(head.judge, "call of a judge", CALLS)
        parsed: MatEvent | JudgeCall = _event(line) if head.judge is None else _call(line)
    except msgspec.ValidationError as error:
        raise InvalidActionError(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidActionError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise InvalidActionError("nested too deeply") from error
    match parsed:
        case HandIn(pad=pad) | HandOut(pad=pad):
            _pads([pad])
        case Strike(pads=pads):
            _pads(pads)
            if len(set(pads)) != len(pads):
                raise InvalidActionError("a pad comes twice in pads")
        case Beads(found=found):
            _pads(bead.pad for bead in found if bead.pad is not None)
        case Sensors(faults=faults):
            _pads(fault.pad for fault in faults)
        case Button(name=name) if name not in BUTTONS:
            raise InvalidActionError("there is no such button", f"the buttons are: {', '.join(BUTTONS)}")
        case _:
            pass
    return parsed


def _known(name: str | None, what: str, names: tuple[str, ...]) -> None:
    if name is not None and name not in names:
        raise InvalidActionError(f"there is no {what} {shown(name)}", f"there are: {listed(names)}")


def _pads(pads: Iterable[int]) -> None:
    if not {*EVERY_PAD}.issuperset(pads):
        raise InvalidActionError("a pad is a whole number from 1 to 4")

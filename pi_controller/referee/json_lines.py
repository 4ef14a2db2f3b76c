"""Parses a line of JSON into a mat event or a judge's command; raises `InvalidActionError` for anything else."""

import math
from collections.abc import Iterable
from typing import get_args

import msgspec

from pi_controller.pads import EVERY_PAD
from pi_controller.referee.judge import JudgeCommand
from pi_controller.rules.base import InvalidActionError
from pi_controller.sensing.events import BeadsAtRest, Button, HandIn, HandOut, MatEvent, SensorFaultsChange, Strike
from pi_controller.text import format_value, join_words

BUTTONS = ("toss_a", "toss_b", "ready", "ready_a", "ready_b", "shown", "left", "right", "inside", "outside")
"""The last four are the guesses of slahal."""
EVENTS = tuple(str(kind.__struct_config__.tag) for kind in get_args(MatEvent))
COMMANDS = tuple(str(kind.__struct_config__.tag) for kind in get_args(JudgeCommand))
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Head(msgspec.Struct):
    """The fields that every line shares: its time, and whether it is an event or a judge's command."""

    t: float
    event: str | None = None
    judge: str | None = None


_head = msgspec.json.Decoder(_Head).decode
_event = msgspec.json.Decoder(MatEvent).decode  # pyright: ignore[reportUnknownMemberType, reportArgumentType]
_call = msgspec.json.Decoder(JudgeCommand).decode  # pyright: ignore[reportUnknownMemberType, reportArgumentType]


def parse_line(line: bytes) -> MatEvent | JudgeCommand:
    """Parse `line`. Error messages never repeat a pad, because a line may contain the bead's place."""
    line = line.removeprefix(_BYTE_ORDER_MARK)
    try:
        head = _head(line)
        if (head.event is None) == (head.judge is None):
            raise InvalidActionError('a line has either "event" or "judge"')
        if not math.isfinite(head.t):
            raise InvalidActionError('"t" is a number of seconds')
        _check_known(head.event, "event", EVENTS)
        _check_known(head.judge, "call of a judge", COMMANDS)
        parsed: MatEvent | JudgeCommand = _event(line) if head.judge is None else _call(line)
    except msgspec.ValidationError as error:
        raise InvalidActionError(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidActionError("not JSON: {why}", why=error) from error
    except RecursionError as error:
        raise InvalidActionError("nested too deeply") from error
    match parsed:
        case HandIn(pad=pad) | HandOut(pad=pad):
            _pads([pad])
        case Strike(pads=pads):
            _pads(pads)
            if len(set(pads)) != len(pads):
                raise InvalidActionError("a pad comes twice in pads")
        case BeadsAtRest(found=found):
            _pads(bead.pad for bead in found if bead.pad is not None)
        case SensorFaultsChange(faults=faults):
            _pads(fault.pad for fault in faults)
        case Button(name=name) if name not in BUTTONS:
            raise InvalidActionError(
                "there is no such button", "the buttons are: {buttons}", buttons=", ".join(BUTTONS)
            )
        case _:
            pass
    return parsed


def _check_known(name: str | None, what: str, names: tuple[str, ...]) -> None:
    if name is not None and name not in names:
        raise InvalidActionError(
            "there is no {what} {name}",
            "there are: {names}",
            what=what,
            name=format_value(name),
            names=join_words(names),
        )


def _pads(pads: Iterable[int]) -> None:
    if not {*EVERY_PAD}.issuperset(pads):
        raise InvalidActionError("a pad is a whole number from 1 to 4")

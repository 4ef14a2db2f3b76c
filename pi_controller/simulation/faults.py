"""Fault injection on a simulated board, between its sensors and the firmware: broken wires and chips.

`parse_fault("rail-piezo=3")` names one: a kind and, after `=`, the number of the part (1 first), or two numbers if
parts are exchanged (`exchanged-pads=1,2`). A turned module's orientation may follow: `turned-module=7:y-xz` reads y, -x
and z. `moccasin-mat doctor --sim` accepts the same words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_controller.simulation.board import SimBoard

import re
from collections.abc import Callable
from typing import NamedTuple

from pi_controller.board import wire
from pi_controller.errors import UsageError
from pi_controller.pads import PADS

KINDS: dict[str, tuple[str, int, int]] = {
    "dead-magnetometer": ("the magnetometer does not answer", 24, 17),
    "stuck-magnetometer": ("the magnetometer repeats one reading", 24, 5),
    "noisy-magnetometer": ("the magnetometer jumps to and fro", 24, 9),
    "turned-module": ("the magnetometer module is mounted in a wrong orientation", 24, 7),
    "exchanged-modules": ("the plugs of two magnetometer modules are exchanged", 24, 7),
    "exchanged-pads": ("the plugs of two pads' magnetometers are exchanged", 4, 2),
    "rail-piezo": ("the pad's piezo is at its rail", 4, 3),
    "silent-piezo": ("the pad's piezo does not move", 4, 2),
    "reversed-diode": ("the pad's clamp diode to ground is reversed", 4, 1),
    "no-disc": ("the pad has no disc: it is missing, or its plug is off", 4, 2),
    "shorted-disc": ("the pad's disc or its wire is shorted to ground", 4, 3),
    "wrong-bias": ("the pad's bias resistor to ground has 10 kΩ instead of 100 kΩ", 4, 4),
    "dead-touch": ("the touch strip reads nothing", 12, 8),
    "stuck-touch": ("the touch strip reads one count for ever", 12, 2),
    "loose-touch": ("the touch strip's wire is loose", 12, 11),
    "open-strip": ("the wire of the touch strip is off", 12, 5),
    "shorted-strip": ("the touch strip and the next one touch each other", 11, 4),
    "dead-chip": ("the touch chip does not answer", 0, 0),
    "dead-multiplexer": ("the multiplexer does not answer", 3, 2),
    "dead-bus": ("SDA is off: nothing on the bus answers", 0, 0),
    "exchanged-bus": ("SDA and SCL are exchanged", 0, 0),
    "lost-samples": ("every so many blocks of samples are lost", 0, 0),
    "wrong-firmware": ("the board has another firmware", 0, 0),
    "wrong-protocol": ("the board speaks another protocol", 0, 0),
    "mute": ("the board does not answer", 0, 0),
}
"""Kind -> description, number of such parts, and the default part."""
DEFAULT_OTHER = {"exchanged-modules": 10, "exchanged-pads": 3}
"""Kinds of two exchanged parts, and the default second part."""
DEFAULT_TURN = "y-xz"
"""A quarter to the left."""


RESTS = {"reversed-diode": 223, "shorted-disc": 62, "wrong-bias": 371}
"""Where a pad with a wrong part rests, counts of one reading: simulated, `hardware/circuits.md`."""


class SimulatedFault(NamedTuple):
    """One fault: its kind and the number of the part (1 first, 0 for the whole board).

    `other` is the part that it is exchanged with, `turn` what the axes of a turned module read.
    """

    kind: str
    number: int
    other: int = 0
    turn: str = ""

    def inject(self, board: SimBoard) -> None:
        """Inject the fault into `board` for the rest of its run."""
        part = self.kind.partition("-")[2] or self.kind
        _INJECT[part](board, self)


def parse_fault(text: str) -> SimulatedFault:
    """Return the fault described by `text`. Raises `UsageError`."""
    kind, _, number = text.partition("=")
    if kind not in KINDS:
        raise UsageError(f"there is no fault {kind[:40]!r} to simulate", f"choose one of: {', '.join(KINDS)}")
    _, count, usual = KINDS[kind]
    turn = ""
    if kind == "turned-module":
        number, _, turn = number.partition(":")
        turn = turn or DEFAULT_TURN
        _parse_turn(turn)
    if not number:
        return SimulatedFault(kind, usual, DEFAULT_OTHER.get(kind, 0), turn)
    parts = number.split(",")
    numbers = [int(part[:9]) for part in parts if part.isdecimal() and 1 <= int(part[:9]) <= count]
    wanted = 2 if kind in DEFAULT_OTHER else 1
    if len(parts) != wanted or len(set(numbers)) != wanted:
        hint = f"count from 1 to {count}" if count else f"write {kind} alone"
        if wanted > 1:
            hint = f"name two, from 1 to {count}: {kind}=1,2"
        raise UsageError(f"there is no part {number[:20]!r} that can have the fault {kind}", hint)
    return SimulatedFault(kind, numbers[0], numbers[1] if wanted > 1 else 0, turn)


def _parse_turn(text: str) -> list[tuple[int, int]]:
    """Return axis (0 first) and sign that each axis of a module turned to `text` reads. Raises `UsageError`."""
    axes = [("xyz".index(axis), -1 if sign else 1) for sign, axis in re.findall("(-?)([xyz])", text)]
    order = [axis for axis, _ in axes]
    if not re.fullmatch("(-?[xyz]){3}", text) or sorted(order) != [0, 1, 2]:
        raise UsageError(
            f"a module cannot be turned to {text[:20]!r}", f"name what its axes read, such as {DEFAULT_TURN}"
        )
    swaps = sum(order[i] > order[j] for i in range(3) for j in range(i + 1, 3))
    if (-1) ** swaps * axes[0][1] * axes[1][1] * axes[2][1] < 0:
        raise UsageError(f"{text} is a mirror image, no orientation of a module", "change one of the signs")
    return axes


def _piezo(board: SimBoard, fault: SimulatedFault) -> None:
    import numpy as np  # noqa: PLC0415 - the kinds alone are on every help page

    read: Callable[[bytearray], int] = board.piezo
    value = wire.TOP if fault.kind == "rail-piezo" else wire.REST

    def piezo(buf: bytearray) -> int:
        index = read(buf)
        if index >= 0:
            np.frombuffer(buf, "<u2").reshape(-1, PADS)[:, fault.number - 1] = value
        return index

    board.piezo = piezo


def _rest(board: SimBoard, fault: SimulatedFault) -> None:
    import numpy as np  # noqa: PLC0415 - the kinds alone are on every help page

    read: Callable[[bytearray], int] = board.piezo
    lower = wire.REST - wire.READINGS * RESTS[fault.kind]

    def piezo(buf: bytearray) -> int:
        index = read(buf)
        if index >= 0:
            pad = np.frombuffer(buf, "<u2").reshape(-1, PADS)[:, fault.number - 1]
            pad[:] = np.clip(pad.astype(np.int64) - lower, 0, wire.TOP)
        return index

    board.piezo = piezo


def _disc(board: SimBoard, fault: SimulatedFault) -> None:
    board.discs.farads[fault.number - 1] = 0.0
    if fault.kind == "shorted-disc":
        _rest(board, fault)


def _touch(board: SimBoard, fault: SimulatedFault) -> None:
    import numpy as np  # noqa: PLC0415 - the kinds alone are on every help page

    read: Callable[[bytearray], bool] = board.touch
    random = np.random.default_rng(fault.number)

    def touch(buf: bytearray) -> bool:
        if not read(buf):
            return False
        counts = np.frombuffer(buf, "<u2")
        loose = int(random.integers(300, 700))
        counts[fault.number - 1] = {"dead-touch": 0, "stuck-touch": 694}.get(fault.kind, loose)
        return True

    board.touch = touch


def _strip(board: SimBoard, fault: SimulatedFault) -> None:
    import numpy as np  # noqa: PLC0415 - the kinds alone are on every help page

    read: Callable[[bytearray], bool] = board.touch
    at = fault.number - 1
    pf = board.world.strips.picofarads
    random = np.random.default_rng(fault.number)

    def touch(buf: bytearray) -> bool:
        if not read(buf):
            return False
        counts = np.frombuffer(buf, "<u2")
        if fault.kind == "open-strip":
            counts[at] = 700 + int(random.integers(-1, 2))
        else:
            counts[at : at + 2] = counts[at : at + 2].mean()
        return True

    if fault.kind == "open-strip":
        pf[at] = 8.0  # the chip's own input
    else:
        pf[at : at + 2] = pf[at : at + 2].sum()
    board.touch = touch


def _magnetometer(board: SimBoard, fault: SimulatedFault) -> None:
    import numpy as np  # noqa: PLC0415 - the kinds alone are on every help page

    read: Callable[[int, bytearray, int], bool | None] = board.magnet
    random = np.random.default_rng(fault.number)
    first: list[bytes] = []

    def magnet(i: int, buf: bytearray, at: int) -> bool | None:
        if i != fault.number - 1:
            return read(i, buf, at)
        if fault.kind == "dead-magnetometer":
            board.i2c_errors += 1
            return False
        there = read(i, buf, at)
        axes = np.frombuffer(buf, "<i2", 3, at)
        if fault.kind == "stuck-magnetometer":
            first.append(axes.tobytes())
            axes[:] = np.frombuffer(first[0], "<i2")
        elif fault.kind == "turned-module":
            axes[:] = [sign * int(axes[axis]) for axis, sign in _parse_turn(fault.turn)]
        else:
            axes += random.normal(0.0, 200.0, 3).astype(np.int16)
        return there

    board.magnet = magnet


def _exchange(board: SimBoard, fault: SimulatedFault) -> None:
    read: Callable[[int, bytearray, int], bool | None] = board.magnet
    a, b = fault.number - 1, fault.other - 1

    def magnet(i: int, buf: bytearray, at: int) -> bool | None:
        if fault.kind == "exchanged-modules":
            return read({a: b, b: a}.get(i, i), buf, at)
        pad, place = divmod(i, 6)
        return read(6 * {a: b, b: a}.get(pad, pad) + place, buf, at)

    board.magnet = magnet


def _bus(board: SimBoard, fault: SimulatedFault) -> None:
    read_touch: Callable[[bytearray], bool] = board.touch
    read_magnet: Callable[[int, bytearray, int], bool | None] = board.magnet
    touch_is_dead = fault.kind != "dead-multiplexer"
    dead = range(24)
    if fault.kind == "dead-multiplexer":
        dead = range(8 * fault.number - 8, 8 * fault.number)
    elif fault.kind == "dead-chip":
        dead = range(0)
    else:
        board.wiring = wire.EXCHANGED if fault.kind == "exchanged-bus" else wire.SDA_LOW

    def touch(buf: bytearray) -> bool:
        there = read_touch(buf) and not touch_is_dead
        board.i2c_errors += not there
        return there

    def magnet(i: int, buf: bytearray, at: int) -> bool | None:
        if board.place_on_bus(i) not in dead:
            return read_magnet(i, buf, at)
        board.i2c_errors += 1
        return False

    board.touch, board.magnet = touch, magnet


def _samples(board: SimBoard, fault: SimulatedFault) -> None:  # noqa: ARG001 - there is one kind only
    read: Callable[[bytearray], int] = board.piezo
    blocks = 0

    def piezo(buf: bytearray) -> int:
        nonlocal blocks
        index = read(buf)
        if index < 0:
            return index
        blocks += 1
        if blocks % 60 == 0:
            board.overflows += 1
            return read(buf)
        return index

    board.piezo = piezo


def _welcome(board: SimBoard, fault: SimulatedFault) -> None:
    forward: Callable[[bytearray, int], None] = board.send

    def send(body: bytearray, number: int) -> None:
        if body[0] == wire.WELCOME:
            # protocol major and minor, then the firmware's three numbers
            body[3 if fault.kind == "wrong-protocol" else 6] += 9
        forward(body, number)

    board.send = send


def _mute(board: SimBoard, fault: SimulatedFault) -> None:  # noqa: ARG001 - there is one kind only
    board.send = lambda body, number: None  # noqa: ARG005


_INJECT: dict[str, Callable[[SimBoard, SimulatedFault], None]] = {
    "piezo": _piezo,
    "diode": _rest,
    "disc": _disc,
    "bias": _rest,
    "touch": _touch,
    "strip": _strip,
    "magnetometer": _magnetometer,
    "module": _magnetometer,
    "modules": _exchange,
    "pads": _exchange,
    "chip": _bus,
    "multiplexer": _bus,
    "bus": _bus,
    "samples": _samples,
    "firmware": _welcome,
    "protocol": _welcome,
    "mute": _mute,
}

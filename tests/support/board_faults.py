"""Fault injection on a simulated board, between its sensors and the firmware: broken wires and chips.

`parse_fault("rail-piezo=3")` names one: a kind and, after `=`, the number of the part (1 first), or two numbers if
parts are exchanged (`exchanged-pads=1,2`). A turned module's orientation may follow: `turned-module=7:y-xz` reads y, -x
and z.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pi_controller.board import wire
from pi_controller.pads import PADS
from pi_controller.simulation.listening import SimListening

if TYPE_CHECKING:
    from pi_controller.simulation.board import SimBoard

DEFAULT_PARTS = {
    "dead-magnetometer": "17", "stuck-magnetometer": "5", "noisy-magnetometer": "9", "turned-module": "7",
    "exchanged-modules": "7,10", "exchanged-pads": "2,3", "rail-piezo": "3", "silent-piezo": "2", "reversed-diode": "1",
    "no-disc": "2", "shorted-disc": "3", "wrong-bias": "4", "dead-touch": "8", "stuck-touch": "2", "loose-touch": "11",
    "open-strip": "5", "shorted-strip": "4", "dead-multiplexer": "2",
}  # fmt: skip
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

    def __call__(self, board: SimBoard) -> None:
        """Inject the fault into `board` for the rest of its run."""
        part = self.kind.partition("-")[2] or self.kind
        _INJECT[part](board, self)


def parse_fault(text: str) -> SimulatedFault:
    """Return the fault described by `text`."""
    kind, _, part = text.partition("=")
    numbers, _, turn = (part or DEFAULT_PARTS.get(kind, "0")).partition(":")
    return SimulatedFault(kind, *map(int, numbers.split(",")), turn=turn or "y-xz")


def break_simulations(monkeypatch, module, *faults):
    """Let each simulated mat that `module` listens to have these faults."""
    injected = [parse_fault(fault) for fault in faults]
    monkeypatch.setattr(module, "SimListening", lambda seed, conditions, _=(): SimListening(seed, conditions, injected))


def _parse_turn(text: str) -> list[tuple[int, int]]:
    """Return axis (0 first) and sign that each axis of a module turned to `text` reads."""
    return [("xyz".index(axis), -1 if sign else 1) for sign, axis in re.findall("(-?)([xyz])", text)]


def _piezo(board: SimBoard, fault: SimulatedFault) -> None:

    read: Callable[[bytearray], int] = board.piezo
    value = wire.TOP if fault.kind == "rail-piezo" else wire.REST

    def piezo(buf: bytearray) -> int:
        index = read(buf)
        if index >= 0:
            np.frombuffer(buf, "<u2").reshape(-1, PADS)[:, fault.number - 1] = value
        return index

    board.piezo = piezo


def _rest(board: SimBoard, fault: SimulatedFault) -> None:

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


def _samples(board: SimBoard, fault: SimulatedFault) -> None:
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


def _mute(board: SimBoard, fault: SimulatedFault) -> None:
    board.send = lambda body, number: None


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

"""The simulated mat on its pseudo-terminal, with the real firmware, read by pyserial as a host does."""

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
import serial
from pty_mat import PtyMat

from pi_controller.board import wire
from pi_controller.errors import PortError
from pi_controller.simulation.conditions import Conditions

TICK = 0.032


class Host:
    """A host that reads in lock step."""

    def __init__(self, mat: PtyMat) -> None:
        self.mat = mat
        self.port = serial.Serial(mat.device, timeout=2.0, write_timeout=2.0, exclusive=True)
        self.ears = wire.Decoder(wire.TO_HOST, wire.WELCOME)
        self.raw = b""
        self.frame_number = 0
        self._said = 0

    def say(self, body: bytearray) -> None:
        frame = wire.seal(body, self.frame_number)
        self.frame_number += 1
        self._said += len(frame)
        self.port.write(frame)

    def tick(self, seconds: float = TICK) -> list[tuple[int, int, bytes]]:
        n = self.mat.advance(seconds, self._said)
        self._said = 0
        data = self.port.read(n)
        assert len(data) == n
        self.raw += data
        return self.ears.feed(data)

    def run(self, seconds: float) -> list[tuple[int, int, bytes]]:
        frames = []
        for k in range(round(seconds / TICK)):
            if k % 30 == 0:
                self.say(wire.ping_body(k))
            frames += self.tick()
        return frames

    def hello(self) -> tuple[Any, ...]:
        self.say(wire.hello_body())
        kind, _, payload = self.tick()[0]
        assert kind == wire.WELCOME
        return wire.welcome(payload)


@pytest.fixture
def mat() -> Iterator[PtyMat]:
    with PtyMat(4, Conditions.drums()) as it:
        yield it


@pytest.fixture
def host(mat: PtyMat) -> Iterator[Host]:
    it = Host(mat)
    yield it
    it.port.close()


def of(kind: int, frames: list[tuple[int, int, bytes]]) -> list[bytes]:
    return [payload for found, _, payload in frames if found == kind]


def test_mat_is_silent_before_hello(host: Host) -> None:
    for _ in range(30):
        assert host.tick() == []
    assert host.mat.board.state == "wait"


def test_the_firmware_answers_and_sends_all_it_should(host: Host) -> None:
    major, minor, *_, board, boots, _reason, features, pads, hz, block = host.hello()
    assert (major, minor) == wire.PROTOCOL
    assert (board, boots, features, pads, hz, block) == (host.mat.board.id, 1, 31, 4, 4000, 32)
    frames = host.run(10.0)
    assert host.ears.bad == host.ears.lost == 0
    assert len(of(wire.PIEZO, frames)) == pytest.approx(1250, abs=8)
    assert len(of(wire.TOUCH, frames)) == pytest.approx(500, abs=15)
    assert len(of(wire.FIELD, frames)) == pytest.approx(200, abs=6)
    assert len(of(wire.HEALTH, frames)) == pytest.approx(10, abs=1)
    assert len(of(wire.PONG, frames)) == 11
    indices = [wire.piezo(payload)[0] for payload in of(wire.PIEZO, frames)]
    assert all(b - a == 32 for a, b in pairwise(indices))


def test_a_stroke_comes_through_the_wire(host: Host) -> None:
    host.hello()
    host.run(0.5)
    host.mat.world.strike(3, -12.0)
    loudest = [0] * 4
    for payload in of(wire.PIEZO, host.run(0.5)):
        samples = memoryview(payload[wire.PIEZO_HEAD :]).cast("H")
        for i, count in enumerate(samples):
            loudest[i % 4] = max(loudest[i % 4], abs(count - wire.REST))
    assert loudest[2] == pytest.approx(wire.REST * 10 ** (-12 / 20), rel=0.1)
    assert max(loudest[0], loudest[1], loudest[3]) < loudest[2] / 8


def test_jolt_brings_touch_scan_forward_at_same_rate() -> None:
    with PtyMat(4) as mat:
        it = Host(mat)
        it.hello()
        scans = [wire.touch(payload)[0] for payload in of(wire.TOUCH, it.run(1.0))]
        late = []
        for k in range(25):
            frames = it.run(0.3) + it.tick(0.001 * k)
            jolted = mat.board.now_us()
            mat.world.strike(k % 4 + 1, -30.0)
            frames += it.run(0.1)
            scans += [wire.touch(payload)[0] for payload in of(wire.TOUCH, frames)]
            late.append(next(us - jolted for us in scans if us - jolted > 5000))
        it.port.close()
    # a pass each 8 ms here: one in which the jolt is known, and one in which a hand would be felt
    assert max(late) < 17_000
    assert sorted(late)[len(late) // 2] < 12_000
    assert {round((b - a) / 1000) for a, b in pairwise(scans)} <= {8, 16, 24, 32, 40}
    assert len(scans) / (scans[-1] - scans[0]) * 1e6 == pytest.approx(50, abs=0.5)


def test_the_same_seed_sends_the_same_bytes() -> None:
    def record(seed: int) -> bytes:
        with PtyMat(seed, Conditions.drums()) as mat:
            host = Host(mat)
            host.hello()
            mat.world.hand_in(2)
            host.run(1.0)
            mat.world.strike(1)
            host.run(1.0)
            host.port.close()
            return host.raw

    first = record(30)
    assert len(first) > 60_000
    assert first == record(30)
    assert first != record(31)


def test_silent_host_loses_frames_without_blocking_mat(host: Host) -> None:
    host.hello()
    for k in range(400):
        if k % 60 == 0:
            host.port.write(wire.seal(wire.ping_body(k), 1 + k // 60))
        host.mat.advance(TICK)
    assert host.mat.dropped > 0
    assert host.mat.board.overflows >= host.mat.dropped
    while host.port.in_waiting:
        host.ears.feed(host.port.read(host.port.in_waiting))
    frames = host.run(2.0)
    assert of(wire.PIEZO, frames), "it goes on when the host reads again"


def test_unplugged_cable_errors_and_replug_restarts_board(host: Host) -> None:
    host.hello()
    host.run(0.5)
    mat = host.mat
    mat.unplug()
    assert not mat.is_plugged
    assert not os.path.lexists(mat.device)
    with pytest.raises((serial.SerialException, OSError)):
        host.port.read(1)
    assert mat.advance(1.0) == 0
    with pytest.raises(PortError):
        mat.unplug()
    mat.plug()
    with pytest.raises(PortError):
        mat.plug()
    again = Host(mat)
    assert again.hello()[6] == 2, "the board counts its starts"
    assert of(wire.PIEZO, again.run(0.5))
    again.port.close()


def test_reset_restarts_block_numbers_on_same_terminal(host: Host) -> None:
    host.hello()
    before = of(wire.PIEZO, host.run(0.5))
    host.mat.reset_board()
    assert host.tick() == [], "it waits for HELLO again"
    host.ears.restart()
    welcome = host.hello()
    assert welcome[6] == 2
    assert welcome[7] != 1
    after = of(wire.PIEZO, host.run(0.5))
    assert wire.piezo(after[0])[0] < wire.piezo(before[0])[0]


def test_closing_twice_leaves_no_device() -> None:
    mat = PtyMat(1)
    mat.close()
    mat.close()
    assert not os.path.lexists(mat.device)

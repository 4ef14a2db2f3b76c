"""How fast the simulated mat runs: a second of virtual time, in ticks of 32 ms, while a hide is played.

`python -m pytest -n 0 --benchmark-enable tests/benchmarks/test_simulated_mat.py`
"""

from collections.abc import Iterator

import pytest
import serial
from pytest_benchmark.fixture import BenchmarkFixture

from pi_controller.board import wire
from pi_controller.simulation.board import SimBoard
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.mat import SimMat
from pi_controller.simulation.world import World

TICK = 0.032
HIDE_TICKS = 160


def play(world: World, tick: int) -> None:
    """Act out a hide of five seconds, again and again."""
    at = tick % HIDE_TICKS
    pad = at // 25 + 1
    if at < 100 and at % 25 == 0:
        if at == 0:
            world.carry("bead")
        world.hand_in(pad)
    elif at < 100 and at % 25 == 14:
        if pad == 2:
            world.drop("bead", 2)
        world.hand_out(pad)
    elif at in (120, 135):
        world.strike(2, -25.0)
    elif at == 150:
        world.take("bead")


@pytest.fixture
def ticks() -> Iterator[int]:
    return iter(range(10**9))


@pytest.mark.parametrize("conditions", ["quiet", "drums"])
def test_world_and_board(benchmark: BenchmarkFixture, ticks: Iterator[int], conditions: str) -> None:
    world = World(1, Conditions.from_name(conditions))
    board = SimBoard(world, lambda _: None)
    block, strips, magnets = bytearray(256), bytearray(24), bytearray(144)

    def a_hide() -> None:
        for _ in range(HIDE_TICKS):
            tick = next(ticks)
            play(world, tick)
            world.advance(TICK)
            while board.piezo(block) >= 0:
                pass
            for _ in range(1 + tick % 2):
                board.touch(strips)
            if tick % 3:
                for i in range(24):
                    board.magnet(i, magnets, 6 * i)

    benchmark(a_hide)
    assert board.overflows == 0


def test_with_the_firmware_and_the_terminal(benchmark: BenchmarkFixture, ticks: Iterator[int]) -> None:
    with SimMat(1, Conditions.drums()) as mat, serial.Serial(mat.device, timeout=2.0) as port:
        port.write(wire.seal(wire.hello_body(), 0))

        def a_hide() -> None:
            for _ in range(HIDE_TICKS):
                tick = next(ticks)
                if tick % 30 == 0:
                    port.write(wire.seal(wire.ping_body(tick), 1 + tick // 30))
                play(mat.world, tick)
                n = mat.advance(TICK)
                assert len(port.read(n)) == n

        benchmark(a_hide)
        assert mat.dropped == 0

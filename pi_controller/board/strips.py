"""Light strips: WS2812 pixels on a pin of the Pi, or in memory, dimmed and current-limited.

A pixel draws about 20 mA per channel at 255 and 1 mA when dark: 69 white pixels would draw 4 A from a 5 V supply sized
for the limit. Scaling the whole frame keeps the colours' proportions, so a scene stays recognisable; clipping would
not.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Protocol

from pi_controller.board import gpio
from pi_controller.board.interfaces import FrameError, Rgb, StripError, StripOptions
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


class LimitedStrip(ABC):
    """A strip of `count` pixels whose frames are checked, dimmed by `brightness` (0 to 1) and limited to `cap_ma` (mA).

    A driver is a subclass that sends pixels:

    >>> class Printer(LimitedStrip):
    ...     def send(self, pixels):
    ...         print(*pixels)
    >>> strip = Printer(2, brightness=0.5)
    >>> strip.show([(200, 0, 0), (0, 0, 9)])
    (100, 0, 0) (0, 0, 4)
    >>> strip.close()
    (0, 0, 0) (0, 0, 0)
    """

    def __init__(self, count: int, brightness: float = 1.0, cap_ma: float = CAP_MA) -> None:
        self.count = count
        self._brightness = brightness
        self._cap_ma = cap_ma
        self._open = True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.count} pixels{'' if self._open else ', closed'}>"

    @property
    def dark(self) -> list[Rgb]:
        """A frame without light."""
        return [(0, 0, 0)] * self.count

    @abstractmethod
    def send(self, pixels: Sequence[Rgb]) -> None:
        """Light the strip with `pixels`, which are dimmed and limited. Raises `StripError`."""

    def release(self) -> None:  # noqa: B027 - a strip in memory has nothing to release
        """Release what the strip has opened; called once, after its last frame."""

    def show(self, frame: Sequence[Rgb]) -> None:
        """Send `frame`, dimmed and limited. Raises `FrameError` or `StripError`."""
        if not self._open:
            raise StripError("the light strip is closed", "open it again")
        self.send(prepare_frame(frame, self.count, self._brightness, self._cap_ma))

    def close(self) -> None:
        """Turn all pixels off and release the strip. Closing twice is fine."""
        if not self._open:
            return
        self._open = False
        try:
            self.send(self.dark)
        finally:
            self.release()


class MemoryStrip(LimitedStrip):
    """A strip in memory, for the demo, a table without lights, and tests.

    `shown` is the frame as it would be sent: dimmed and limited.
    """

    def __init__(self, count: int, brightness: float = 1.0, cap_ma: float = CAP_MA) -> None:
        super().__init__(count, brightness, cap_ma)
        self.shown: Sequence[Rgb] = self.dark

    def send(self, pixels: Sequence[Rgb]) -> None:
        """Set `shown`."""
        self.shown = pixels


class NeoPixelStrip(LimitedStrip):
    """A strip of WS2812 pixels on BCM pin `pin`, by adafruit-circuitpython-neopixel.

    On pin 10 (SPI0 MOSI) it needs no root on any Pi. `open_pixels` replaces the hardware in tests. Raises `StripError`
    if the strip cannot be opened.
    """

    def __init__(
        self,
        count: int,
        pin: int = SPI_PIN,
        brightness: float = 1.0,
        cap_ma: float = CAP_MA,
        open_pixels: Callable[[int, int], Pixels] | None = None,
    ) -> None:
        super().__init__(count, brightness, cap_ma)
        self._pixels = (open_pixels or open_neopixel)(pin, count)
        try:
            self.send(self.dark)  # pixels keep the last frame of the program that drove them before
        except StripError:
            self.release()  # otherwise a second try finds the pin in use
            raise

    def send(self, pixels: Sequence[Rgb]) -> None:
        """Set the pixels, then send them all."""
        try:
            for n, pixel in enumerate(pixels):
                self._pixels[n] = pixel
            self._pixels.show()
        except (OSError, RuntimeError) as error:
            raise StripError(
                f"the light strip cannot be written: {describe_error(error)}",
                "check [strips] pin and the SPI setting of the Pi",
            ) from error

    def release(self) -> None:
        """Free the pin; the library's own `deinit` sends once more and can fail before it does."""
        pin = getattr(self._pixels, "pin", None)
        if pin is not None:
            pin.deinit()


def make_memory_strip(options: StripOptions) -> MemoryStrip:
    """Return a strip in memory."""
    return MemoryStrip(options.count, options.brightness, options.cap_ma)


def make_neopixel_strip(options: StripOptions) -> NeoPixelStrip:
    """Return the strip on a pin of the Pi. Raises `StripError`."""
    return NeoPixelStrip(options.count, options.pin, options.brightness, options.cap_ma)


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

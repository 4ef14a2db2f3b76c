"""The light strip: WS2812 pixels on a pin of the Pi, or in memory, dimmed and current-limited.

A pixel draws about 20 mA a channel at 255 and 1 mA when dark: 69 white ones would ask 4 A of a 5 V supply built for
the cap. Scaling the whole frame keeps the colours' proportions, so a scene still reads; cutting off would not.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from pi_controller.drivers import gpio
from pi_controller.drivers.ports import FrameError, StripError
from pi_controller.errors import INSTALL_LIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.drivers.ports import Rgb

CAP_MA = 2000.0
SPI_PIN = 10
"""The pin of SPI0 that sends: the bits of a strip there need no root."""
ORDER = "GRB"
"""The order in which a WS2812 takes its three bytes."""


class Pixels(Protocol):
    """What is used of a CircuitPython pixel buffer."""

    def __setitem__(self, index: int, value: Rgb, /) -> None:
        """Set one pixel; nothing leaves yet."""
        ...

    def show(self) -> None:
        """Send all pixels."""
        ...


def current_ma(frame: Sequence[Rgb], ma_per_channel: float = 20.0, idle_ma_per_pixel: float = 1.0) -> float:
    """Return what the pixels draw while they show `frame`, mA."""
    return len(frame) * idle_ma_per_pixel + sum(map(sum, frame)) * ma_per_channel / 255


def limit(
    frame: Sequence[Rgb], cap_ma: float, ma_per_channel: float = 20.0, idle_ma_per_pixel: float = 1.0
) -> list[Rgb]:
    """Return `frame`, scaled as a whole just enough to draw no more than `cap_ma`.

    A frame under the cap comes back as it is. Where the cap is less than dark pixels draw, all are dark.
    """
    idle = len(frame) * idle_ma_per_pixel
    asked = current_ma(frame, ma_per_channel, 0.0)
    if idle + asked <= cap_ma:
        return list(frame)
    return scaled(frame, max(0.0, cap_ma - idle) / asked) if asked else list(frame)


def scaled(frame: Sequence[Rgb], share: float) -> list[Rgb]:
    """Return `frame` with `share` (0 to 1) of its brightness."""
    # rounding down keeps the sum under the cap
    return [(int(r * share), int(g * share), int(b * share)) for r, g, b in frame]


def checked(frame: Sequence[Rgb], count: int) -> Sequence[Rgb]:
    """Return `frame`, or raise `FrameError` when it is none for a strip of `count` pixels."""
    if len(frame) != count:
        raise FrameError(f"a frame of {len(frame)} pixels for a strip of {count}", "give one colour for each pixel")
    for n, pixel in enumerate(frame):
        if len(pixel) != 3 or not all(isinstance(c, int) and 0 <= c <= 255 for c in pixel):
            raise FrameError(f"pixel {n} is {pixel!r}", "give red, green and blue, whole numbers from 0 to 255")
    return frame


def dressed(frame: Sequence[Rgb], count: int, brightness: float, cap_ma: float) -> list[Rgb]:
    """Return the pixels sent for `frame`: checked, dimmed by `brightness` (0 to 1), then current-limited (mA)."""
    frame = checked(frame, count)
    return limit(frame if brightness >= 1.0 else scaled(frame, brightness), cap_ma)


class MemoryStrip:
    """A strip in memory: for the demo, for a table without lights, and for tests.

    `shown` is the frame as it would leave: dimmed and under the cap.
    """

    def __init__(self, count: int, brightness: float = 1.0, cap_ma: float = CAP_MA) -> None:
        self.count = count
        self._brightness = brightness
        self._cap_ma = cap_ma
        self._open = True
        self.shown: list[Rgb] = [(0, 0, 0)] * count

    def show(self, frame: Sequence[Rgb]) -> None:
        """Keep `frame` as it would be sent."""
        if not self._open:
            raise _closed()
        self.shown = dressed(frame, self.count, self._brightness, self._cap_ma)

    def close(self) -> None:
        """Go dark."""
        self._open = False
        self.shown = [(0, 0, 0)] * self.count


class NeoPixelStrip:
    """A strip of `count` WS2812 pixels on BCM pin `pin`, by adafruit-circuitpython-neopixel.

    On pin 10 (SPI0 MOSI) it needs no root on any Pi. `brightness` is 0 to 1, `cap_ma` the cap of all pixels together.
    `open_pixels` replaces the hardware in tests. Raises `StripError` when the strip cannot be had.
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
            self._send([(0, 0, 0)] * count)  # pixels keep the last frame of whoever drove them before
        except StripError:
            self._give_back()  # or a second try finds the pin taken
            raise

    def __repr__(self) -> str:
        return f"<NeoPixelStrip {self.count} pixels on GPIO{self._pin}{'' if self._pixels else ', closed'}>"

    def show(self, frame: Sequence[Rgb]) -> None:
        """Send `frame`, dimmed and under the cap."""
        if self._pixels is None:
            raise _closed()
        self._send(dressed(frame, self.count, self._brightness, self._cap_ma))

    def close(self) -> None:
        """Turn all pixels off and give the pin back."""
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
                f"the light strip cannot be written: {error}", "check [strips] pin and the SPI setting of the Pi"
            ) from error


def root_alone(pin: int, model: str) -> bool:
    """Return whether only root may drive a strip on BCM pin `pin` of this `model` (`gpio.model`).

    A Pi 5 has its PIO; elsewhere all but SPI writes to memory that is root's.
    """
    return pin != SPI_PIN and model != "" and not model.startswith("Raspberry Pi 5")


def open_neopixel(pin: int, count: int) -> Pixels:
    """Return the pixels on BCM pin `pin`; `StripError` where there is no Pi, package, such pin or right to it.

    The package is imported here and nowhere else: importing it looks for hardware.
    """
    if root_alone(pin, gpio.model()) and os.geteuid() != 0:  # the library may end the program instead of saying so
        raise StripError(
            f"a light strip on GPIO{pin} needs root on this Pi",
            f'let the mat board drive it ([strips] kind = "board"), or wire it to GPIO{SPI_PIN}',
        )
    # or Blinka offers, on a terminal, to run pip
    os.environ.setdefault("BLINKA_SKIP_DEPENDENCY_CHECK", "1")
    try:
        board, neopixel = import_module("board"), import_module("neopixel")
        return neopixel.NeoPixel(getattr(board, f"D{pin}"), count, brightness=1.0, auto_write=False, pixel_order=ORDER)
    except ImportError as error:
        raise StripError(
            f"the light strip needs a package that is not installed: {error.name}", INSTALL_LIGHTS
        ) from error
    except (AttributeError, NotImplementedError) as error:
        raise StripError(
            f"this machine has no pin GPIO{pin} for a light strip", "set [strips] kind to 'memory' or 'none'"
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise StripError(
            f"the light strip on GPIO{pin} cannot be opened: {error}",
            "check [strips] pin; on a Pi up to 4 pins other than 10 need root",
        ) from error


def _closed() -> StripError:
    return StripError("the light strip is closed", "open it again")

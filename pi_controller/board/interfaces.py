"""Hardware interfaces (protocols) of a board port, a light strip and the buttons, as the daemon uses them.

Each has a real driver and a mock, and both pass the same contract suite (`pi_controller.testing`). A driver's factory
takes one argument: the options of its kind.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pi_controller.board.message_source import Source
from pi_controller.errors import MatError

Rgb = tuple[int, int, int]


class StripError(MatError, OSError):
    """The light strip cannot be opened or written."""

    code = "strip"


class FrameError(MatError, ValueError):
    """The frame does not fit the strip: wrong number of pixels, or a channel outside 0..255."""

    code = "frame"


class ButtonsError(MatError, OSError):
    """The buttons' pins cannot be opened or read."""

    code = "buttons"


@dataclass(frozen=True)
class StripOptions:
    """What a strip's factory gets: [strips] of the settings, and the board that may carry the strip."""

    count: int
    """The number of pixels."""
    brightness: float = 1.0
    """0 to 1."""
    cap_ma: float = 2000.0
    """Current limit of all pixels together, mA."""
    pin: int = 0
    """BCM number."""
    address: str = ""
    """Of a controller in the network."""
    source: Source | None = None
    """The board of the mat, open or not."""


@dataclass(frozen=True)
class ButtonOptions:
    """What the buttons' factory gets: BCM pins by name, the clock of their times (s), and the time of a release."""

    pins: Mapping[str, int]
    clock: Callable[[], float]
    settle_s: float = 0.020


@dataclass(frozen=True)
class BoardOptions:
    """What a board's factory gets: [board] of the settings, and the clock of the times passed to `Source.step`."""

    port: str
    clock: Callable[[], float]
    magnetometers: int = 0
    write_timeout_s: float = 0.5


class Port(Protocol):
    """A byte stream to the board. Every failure raises `PortError` and closes the port."""

    name: str

    def read(self, at_least: int = 0) -> bytes:
        """Return the available bytes without blocking; with `at_least`, wait for that many up to a timeout."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for a byte to read; called by the outermost loop only."""
        ...

    def write(self, data: bytes) -> None:
        """Write all of `data` within a timeout, or raise `PortError`."""
        ...

    def close(self) -> None:
        """Close the port. Closing twice is fine."""
        ...


class Strip(Protocol):
    """A light strip."""

    count: int

    def show(self, frame: Sequence[Rgb]) -> None:
        """Show one (red, green, blue) of 0..255 for each pixel, dimmed as a whole if the current limit requires it.

        Raises `FrameError` (the frame shown stays) or `StripError`.
        """
        ...

    def close(self) -> None:
        """Turn all pixels off and release the pin. Closing twice is fine."""
        ...


class Buttons(Protocol):
    """The buttons at the mat, debounced."""

    def listen(self, pressed: Callable[[str, float], None]) -> None:
        """From now on call `pressed(name, t)` once for each press; `t` is the time of the first contact."""
        ...

    def tick(self, t: float) -> None:
        """Process pending edges and call `pressed`; call this at least every 10 ms with the current time."""
        ...

    def close(self) -> None:
        """Release the pins. Closing twice is fine."""
        ...

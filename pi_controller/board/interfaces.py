"""Hardware interfaces (protocols) of a board port, a light strip and the buttons, as the daemon uses them.

Each has a real driver and a mock, and both pass the same contract suite.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

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

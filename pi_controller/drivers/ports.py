"""Hardware interfaces (protocols): what the daemon asks of a board port, a strip and the buttons.

Each has a real driver and a mock, and one contract suite holds for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pi_controller.errors import MatError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Rgb = tuple[int, int, int]


class StripError(MatError, OSError):
    """The strip cannot be opened or written."""

    code = "strip"


class FrameError(MatError, ValueError):
    """Not a frame of this strip: a pixel too few or too many, or a channel outside 0..255."""

    code = "frame"


class ButtonsError(MatError, OSError):
    """The buttons' pins cannot be opened or read."""

    code = "buttons"


class Port(Protocol):
    """A byte stream to the board. Every failure is a `PortError`; after one the port is closed."""

    name: str

    def read(self, at_least: int = 0) -> bytes:
        """Return all bytes that wait, without blocking; with `at_least`, wait for that many (bounded by a timeout)."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for a byte to read; for the edge that drives a daemon."""
        ...

    def write(self, data: bytes) -> None:
        """Write all of `data` or raise `PortError` (a bounded wait)."""
        ...

    def close(self) -> None:
        """Give the port back. Closing twice is fine."""
        ...


class Strip(Protocol):
    """A strip of pixels."""

    count: int

    def show(self, frame: Sequence[Rgb]) -> None:
        """Show one (red, green, blue) of 0..255 for each pixel, dimmed as a whole where the current cap asks for it.

        Raises `FrameError` (and shows what it showed before) or `StripError`.
        """
        ...

    def close(self) -> None:
        """Turn all pixels off and give the pin back. Closing twice is fine."""
        ...


class Buttons(Protocol):
    """The buttons at the mat, debounced."""

    def listen(self, pressed: Callable[[str, float], None]) -> None:
        """Call `pressed(name, t)` once for each press, from then on; `t` is when the finger came down."""
        ...

    def tick(self, t: float) -> None:
        """Let pending edges settle; call at least every 10 ms with the current time. `pressed` is called from here."""
        ...

    def close(self) -> None:
        """Give the pins back. Closing twice is fine."""
        ...

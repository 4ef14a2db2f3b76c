"""The narrow faces of the hardware: what the daemon asks of a board port, a strip and the buttons.

Each has a real driver and a mock, and one contract suite holds for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Rgb = tuple[int, int, int]


class Port(Protocol):
    """A byte stream to the board. Every failure is a `PortError`; after one the port is closed."""

    name: str

    def read(self, at_least: int = 0) -> bytes:
        """Return all bytes that wait, without blocking; with `at_least`, wait for that many (bounded by a timeout)."""
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
        """Show one (red, green, blue) of 0..255 for each pixel, dimmed as a whole where the current cap asks for it."""
        ...

    def close(self) -> None:
        """Turn all pixels off and give the pin back."""
        ...


class Buttons(Protocol):
    """The buttons at the mat, debounced."""

    def listen(self, pressed: Callable[[str, float], None]) -> None:
        """Call `pressed(name, t)` once for each press, from then on."""
        ...

    def tick(self, t: float) -> None:
        """Let pending edges settle; call at least every 10 ms with the current time."""
        ...

    def close(self) -> None:
        """Give the pins back."""
        ...

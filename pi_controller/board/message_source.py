"""Interface of a message source: a connected board, the sensors on the Pi's own pins, or none."""

from typing import Protocol

from pi_controller.board.messages import Message
from pi_controller.errors import PortError


class Waitable(Protocol):
    """The port or reader of a source, which can be waited for."""

    @property
    def name(self) -> str:
        """Its name, for people."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for data; called by the outermost loop only."""
        ...


class Source(Protocol):
    """A source of messages, driven by `step`, which never reads a clock and never sleeps."""

    missing: PortError | None
    """Why the port or reader cannot be opened, or was lost; None while it is open."""
    why: str
    """Why there is no link, in one line without a port's path; empty while there is one."""

    @property
    def port(self) -> Waitable | None:
        """The port or reader; None while it is closed."""
        ...

    @property
    def up(self) -> bool:
        """True if readings arrive."""
        ...

    @property
    def pinging(self) -> bool:
        """True while a PONG is expected, whose arrival time sets the clock: read it at once."""
        ...

    @property
    def sent(self) -> int:
        """Bytes sent so far."""
        ...

    def step(self, t: float, at_least: int = 0) -> list[Message]:
        """Read new data (in lock step at least `at_least` bytes), advance to `t`, and return the messages."""
        ...

    def close(self) -> None:
        """Release the port or readers. Closing twice is fine."""
        ...


class NoSource:
    """The source of a table without sensors: it yields no messages and reports no error."""

    missing: PortError | None = None
    why = ""
    port: Waitable | None = None
    up = False
    pinging = False
    sent = 0

    def step(self, t: float, at_least: int = 0) -> list[Message]:
        """Return no messages."""
        del t, at_least
        return []

    def close(self) -> None:
        """Close; there is no port to release."""

"""The interface of a message source: a connected board, the sensors on the Pi's own pins, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pi_controller.errors import PortError
    from pi_controller.link.messages import Message


class Waits(Protocol):
    """The port or reader that readings come in by."""

    @property
    def name(self) -> str:
        """What it is, for people."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for something to take in; for the edge that drives a daemon."""
        ...


class Source(Protocol):
    """A source of messages. It is driven by `step` alone, which never reads a clock and never sleeps."""

    missing: PortError | None
    """Why nothing can be opened, or was lost; None while it is open."""
    why: str
    """Why there is no link, in one line that names no port's path; empty while there is one."""

    @property
    def port(self) -> Waits | None:
        """What readings come in by, while it is open."""
        ...

    @property
    def up(self) -> bool:
        """Whether readings come."""
        ...

    @property
    def pinging(self) -> bool:
        """Whether an answer is on its way whose moment of arrival tells the board's clock."""
        ...

    @property
    def sent(self) -> int:
        """Bytes sent so far."""
        ...

    def step(self, t: float, at_least: int = 0) -> list[Message]:
        """Take in what waits (in lock step, `at_least` bytes), let time pass to `t`; return what came."""
        ...

    def close(self) -> None:
        """Give everything back. Closing twice is fine."""
        ...


class NoSource:
    """The source of a table without sensors: nothing ever comes, and nothing is missing."""

    missing: PortError | None = None
    why = ""
    port: Waits | None = None
    up = False
    pinging = False
    sent = 0

    def step(self, t: float, at_least: int = 0) -> list[Message]:
        """Return no messages."""
        del t, at_least
        return []

    def close(self) -> None:
        """There is nothing to give back."""

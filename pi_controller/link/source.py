"""The interface of a message source: a connected board, or the sensors on the Pi's own pins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, overload

from pi_controller.link.connection import BoardConnection

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.drivers.ports import Port
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


class Link(Protocol):
    """The state of the link."""

    @property
    def up(self) -> bool:
        """Readings come."""
        ...

    @property
    def pinging(self) -> bool:
        """An answer is on its way, and the moment it arrives tells the board's clock."""
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
    def session(self) -> Link:
        """Whether the link is up."""
        ...

    @property
    def sent(self) -> int:
        """Bytes sent so far."""
        ...

    def step(self, t: float, at_least: int = 0) -> list[Message]:
        """Take in what waits, let time pass to `t`; return what came."""
        ...

    def close(self) -> None:
        """Give everything back. Closing twice is fine."""
        ...


@overload
def listening(to: Source | Callable[[], Port]) -> Source: ...
@overload
def listening(to: None) -> None: ...
@overload
def listening(to: Source | Callable[[], Port] | None) -> Source | None: ...
def listening(to: Source | Callable[[], Port] | None) -> Source | None:
    """Return the source that `to` is, or a listener at the board whose port it opens; None for no sensors at all."""
    return BoardConnection(to) if callable(to) else to

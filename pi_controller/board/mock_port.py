"""Serial cable in memory: two `Port` ends with the faults of a real one, for tests and for simulated mats.

Opening the host's end discards its input, bytes sent to a closed end are lost, only one program may open it, and a
port stays closed after a fault. No time passes here: a read that would have to wait returns the available bytes.
"""

from __future__ import annotations

from pi_controller.board.serial_port import (
    board_gone_error,
    no_board_error,
    port_busy_error,
    port_closed_error,
    write_timeout_error,
)

CAPACITY = 4096
"""Unread bytes in one direction at which writes time out."""


class MockPort:
    """One end of a `MockCable`; `inbox` has the bytes to read here, `far` is the other end.

    `short_reads` limits the bytes of one read (None: no limit). If `stalled`, every write times out.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.inbox = bytearray()
        self.far: MockPort | None = None
        self.is_open = True
        self.pulled = False
        self.short_reads: int | None = None
        self.stalled = False

    def __repr__(self) -> str:
        return f"<MockPort {self.name} {'open' if self.is_open else 'closed'}>"

    def read(self, at_least: int = 0) -> bytes:
        """Return the available bytes, at once."""
        del at_least
        self._check()
        n = len(self.inbox) if self.short_reads is None else self.short_reads
        data = bytes(self.inbox[:n])
        del self.inbox[:n]
        return data

    def wait(self, seconds: float) -> None:
        """Return at once: no time passes here."""
        del seconds
        self._check()

    def write(self, data: bytes) -> None:
        """Deliver `data` to the other end. Raises `PortError` if it is stalled or its inbox is full."""
        self._check()
        listener = self.far if self.far is not None and self.far.is_open else None
        if self.stalled or (listener is not None and len(listener.inbox) + len(data) > CAPACITY):
            self.close()
            raise write_timeout_error(self.name)
        if listener is not None:
            listener.inbox += data

    def close(self) -> None:
        """Close this end. Closing twice is fine."""
        self.is_open = False
        self.inbox.clear()

    def _check(self) -> None:
        if self.pulled:
            self.close()
            self.pulled = False
            raise board_gone_error(self.name)
        if not self.is_open:
            raise port_closed_error(self.name)


class MockCable:
    """A cable with a board at its end, plugged in. `board` is the board's end, `open()` opens the host's."""

    def __init__(self, name: str = "mock") -> None:
        self.name = name
        self.board = MockPort(f"{name} (board)")
        self._plugged = True
        self._host: MockPort | None = None

    def open(self) -> MockPort:
        """Open the host's end. Raises `PortError` if it is unplugged or already open."""
        if not self._plugged:
            raise no_board_error(self.name)
        if self._host is not None and self._host.is_open and not self._host.pulled:
            raise port_busy_error(self.name)
        self._host = MockPort(self.name)
        self._host.far, self.board.far = self.board, self._host
        return self._host

    def plug(self) -> None:
        """Plug the cable in; the board gets a new end."""
        if not self._plugged:
            self._plugged = True
            self.board = MockPort(f"{self.name} (board)")

    def unplug(self) -> None:
        """Pull the cable: both ends fail from now on, and unread bytes are lost."""
        self._plugged = False
        for end in (self.board, self._host):
            if end is not None and end.is_open:
                end.pulled = True
                end.inbox.clear()

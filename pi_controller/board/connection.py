"""The connection to a board: opens its port, reconnects if it is lost, and states why there is no board.

`BoardConnection.step(t)` drives it; it never reads a clock and never sleeps. The daemon uses it, and so do the verbs
that read a mat without a game.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from pi_controller.board.interfaces import BoardOptions, Port
from pi_controller.board.messages import Gap, LinkDown, LinkUp, Message, Piezo
from pi_controller.board.serial_port import SerialPort, find_port
from pi_controller.board.session import BoardSession
from pi_controller.errors import PortError

RETRY_S = 1.0
"""Interval between attempts to open a missing board's port."""


class BoardConnection:
    """Reads the board behind `open_port`, which raises `PortError` while there is no board.

    `magnetometers` is how many the mat has (`PinMap.magnetometers_built`).
    """

    def __init__(self, open_port: Callable[[], Port], magnetometers: int | None = None) -> None:
        self.port: Port | None = None
        self.session = BoardSession(self._send, magnetometers)
        self.sent = 0
        """Bytes sent to the board so far."""
        self.missing: PortError | None = None
        """Why the port cannot be opened, or was lost; None while it is open."""
        self.why = ""
        """Why there is no link, in one line without a port's path; empty while there is one."""
        self.open_port = open_port
        self._look_at = float("-inf")

    @property
    def up(self) -> bool:
        """True if the board has answered and its frames arrive."""
        return self.session.up

    @property
    def pinging(self) -> bool:
        """True while a PONG is expected, whose arrival time sets the clock: read it at once."""
        return self.session.pinging

    def step(self, t: float, at_least: int = 0) -> list[Message]:
        """Read the port (in lock step at least `at_least` bytes), advance to `t`, and return the messages, joined.

        A board that cannot be reached is reported once as `LinkDown`, and again if the reason changes.
        """
        messages: list[Message] = []
        try:
            if self.port is None:
                if t < self._look_at:
                    return []
                self._look_at = t + RETRY_S
                self.port = self.open_port()
                self.missing = None
                self.session.start(t)
            messages += self.session.feed(self.port.read(at_least), t)
            messages += self.session.tick(t)
        except PortError as error:
            messages += self._lost(t, error)
        for message in messages:
            if isinstance(message, LinkDown):
                self.why = message.why
        if self.session.up:
            self.why = ""
        return coalesce(messages)

    def close(self) -> None:
        """Send BYE to the board and release the port. Closing twice is fine."""
        if self.port is not None:
            with suppress(PortError):  # the board may be gone already
                self.session.close()
            self.port.close()
            self.port = None

    def _lost(self, t: float, error: PortError) -> list[Message]:
        if self.port is not None:
            self.port.close()
            self.port = None
        self.missing = error
        messages = self.session.report_port_loss(t, error.public)
        return messages if messages or error.public == self.why else [LinkDown(t, error.public)]

    def _send(self, data: bytes) -> None:
        if self.port is not None:
            self.port.write(data)
            self.sent += len(data)


def coalesce(messages: Iterable[Message]) -> list[Message]:
    """Return the messages with consecutive blocks of samples joined into one, at the place of the first."""
    out: list[Message] = []
    runs: dict[int, list[Piezo]] = {}
    place, end = -1, -1
    for message in messages:
        if isinstance(message, Piezo):
            if message.index == end:
                runs[place].append(message)
            else:
                place = len(out)
                runs[place] = [message]
                out.append(message)
            end = message.index + len(message.samples)
        else:
            out.append(message)
            if isinstance(message, LinkUp | LinkDown | Gap):
                end = -1
    for at, run in runs.items():
        if len(run) > 1:
            out[at] = replace(run[0], samples=np.concatenate([block.samples for block in run]))
    return out


def make_serial_board(options: BoardOptions) -> BoardConnection:
    """Return the connection to the mat board on USB; its port is opened by `step`."""
    port, timeout_s = options.port, options.write_timeout_s
    return BoardConnection(lambda: SerialPort(find_port(port), timeout_s), options.magnetometers)

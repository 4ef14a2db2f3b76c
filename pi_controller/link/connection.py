"""The connection to a board: opens its port, reconnects when it is lost, and says why there is no board.

`BoardConnection.step(t)` is all there is: it never reads a clock and never sleeps. The daemon listens with it, and so
does whoever looks at a mat without a game.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.errors import PortError
from pi_controller.link.messages import Gap, LinkDown, LinkUp, Piezo
from pi_controller.link.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_controller.drivers.ports import Port
    from pi_controller.link.messages import Message

AGAIN_S = 1.0
"""How often a missing board is looked for."""


class BoardConnection:
    """Listens to what `open_port` opens; that raises `PortError` while there is no board."""

    def __init__(self, open_port: Callable[[], Port]) -> None:
        self.port: Port | None = None
        self.session = Session(self._send)
        self.sent = 0
        """Bytes sent to the board so far."""
        self.missing: PortError | None = None
        """Why the port cannot be opened, or was lost; None while it is open."""
        self.why = ""
        """Why there is no link, in one line that names no port's path; empty while there is one."""
        self.open_port = open_port
        self._look_at = float("-inf")

    @property
    def up(self) -> bool:
        """Whether the board has answered and its frames come."""
        return self.session.up

    @property
    def pinging(self) -> bool:
        """Whether an answer is on its way whose moment of arrival tells the board's clock."""
        return self.session.pinging

    def step(self, t: float, at_least: int = 0) -> list[Message]:
        """Take in what waits (in lock step, `at_least` bytes), let time pass to `t`; return what came, joined.

        A board that cannot be reached is told of once as `LinkDown`, and again when there is another reason.
        """
        messages: list[Message] = []
        try:
            if self.port is None:
                if t < self._look_at:
                    return []
                self._look_at = t + AGAIN_S
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
        """Say goodbye to the board and give the port back. Closing twice is fine."""
        if self.port is not None:
            with suppress(PortError):  # it may be gone already, which is what a goodbye is for
                self.session.close()
            self.port.close()
            self.port = None

    def _lost(self, t: float, error: PortError) -> list[Message]:
        if self.port is not None:
            self.port.close()
            self.port = None
        self.missing = error
        messages = self.session.lost(t, error.public)
        return messages if messages or error.public == self.why else [LinkDown(t, error.public)]

    def _send(self, data: bytes) -> None:
        if self.port is not None:
            self.port.write(data)
            self.sent += len(data)


def coalesce(messages: Iterable[Message]) -> list[Message]:
    """Return the messages with blocks of samples that follow on one another made one, in the place of the first."""
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

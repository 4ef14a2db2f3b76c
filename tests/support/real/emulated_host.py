"""A host in emulated time: the project's own session at the other end of an emulated board's USB cable."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pi_controller.board import wire
from pi_controller.board.messages import BoardEvent, BoardHealth
from pi_controller.board.session import BoardSession

if TYPE_CHECKING:
    from emulated_board import EmulatedBoard

    from pi_controller.board.messages import Message

STEP_US = 10_000
UP_S = 3.0
"""A board that starts has answered a HELLO by then."""


class Host:
    """Reads `board` and talks to it while time passes; `messages` are all that came, `frames` counts frames by type."""

    def __init__(self, board: EmulatedBoard) -> None:
        self.board = board
        self._out: list[bytes] = []
        self.session = BoardSession(self._out.append)
        self.messages: list[Message] = []
        self.frames: Counter[int] = Counter()
        self.raw = b""
        """The last kilobyte that was read."""
        self.decoder = wire.Decoder(wire.TO_HOST, wire.WELCOME)
        """Hears the same bytes as the session, and forgets no session when the link is down: what is `bad` is torn."""

    @property
    def t(self) -> float:
        """Emulated time, seconds."""
        return self.board.us * 1e-6

    def connect(self) -> float:
        """Open the port and say HELLO until the board answers; return how long that took, s."""
        began = self.t
        self.board.change("open", True)
        self.decoder.restart()
        self.session.start(began)
        while not self.session.up:
            assert self.t - began < UP_S, f"the board does not answer: {self.raw!r}"
            self.go(STEP_US * 1e-6)
        return self.t - began

    def go(self, seconds: float) -> list[Message]:
        """Let time pass; return what came."""
        came: list[Message] = []
        end = self.board.us + seconds * 1e6
        while self.board.us < end - 1:
            said = b"".join(self._out)
            self._out.clear()
            self.hear(self.board.run(min(STEP_US, end - self.board.us), said), came)
        return came

    def hear(self, data: bytes, came: list[Message]) -> None:
        """Take bytes that were read."""
        self.raw = (self.raw + data)[-1000:]
        for kind, _, _ in self.decoder.feed(data):
            self.frames[kind] += 1
        new = self.session.feed(data, self.t) + self.session.tick(self.t)
        came += new
        self.messages += new

    def away(self, seconds: float) -> None:
        """The program stops for so long: nobody reads or writes. A packet that was on its way is read afterwards."""
        self.board.change("reads", False)
        late = self.board.run(seconds * 1e6)
        self.board.change("reads", True)
        self.hear(late, [])

    def rates(self, seconds: float) -> dict[str, float]:
        """Let time pass; return frames of a kind a second, and the mean and longest pass of the board's loop, ms."""
        self.board.state()
        before = self.frames.copy()
        self.go(seconds)
        new = self.frames - before
        passes = self.board.state()["passes"]
        return {
            "piezo": new[wire.PIEZO] / seconds,
            "touch": new[wire.TOUCH] / seconds,
            "field": new[wire.FIELD] / seconds,
            "mean_ms": sum(passes) / len(passes) / 1000,
            "longest_ms": max(passes) / 1000,
        }

    def events(self, came: list[Any] | None = None) -> list[tuple[str, int]]:
        """Return kind and part of the board's events among `came`, else of all."""
        return [
            (one.kind, one.part) for one in (self.messages if came is None else came) if isinstance(one, BoardEvent)
        ]

    def health(self) -> BoardHealth:
        """Return the newest HEALTH."""
        return next(one for one in reversed(self.messages) if isinstance(one, BoardHealth))

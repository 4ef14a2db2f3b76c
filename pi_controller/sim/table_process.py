"""A table in a process of its own, in lock step with a simulated mat: the daemon of `run`, with its journal on disk,
that a test can kill at any moment.

The process is forked from one that has imported everything already, so that starting it again costs next to nothing.
"""

from __future__ import annotations

import multiprocessing
import sys
from typing import TYPE_CHECKING

import msgspec

from pi_controller.assembly import board, mat_sensors, open_table
from pi_controller.daemon import Daemon
from pi_controller.drivers.buttons import MockButtons
from pi_controller.errors import MatError
from pi_controller.mats import Mat
from pi_controller.referee.judge import JudgeCall
from pi_controller.table.settings import load
from pi_controller.table.view import View

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerProcess
    from pathlib import Path

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload([__name__])


class Turn(msgspec.Struct, frozen=True):
    """The mat's turn: `n` bytes were written, buttons pressed, the judge has spoken; it is `t` now."""

    t: float
    n: int
    presses: tuple[str, ...] = ()
    calls: tuple[JudgeCall, ...] = ()


class Reply(msgspec.Struct, frozen=True):
    """The table's turn: what it shows, and how many bytes it sent to the board."""

    view: View
    sent: int


class TableDiedError(MatError, RuntimeError):
    """The table's process is gone."""

    code = "died"


class TableProcess:
    """Client side of the other process (`simulation.TableSide`)."""

    def __init__(self, settings: Path) -> None:
        self._settings = settings
        self._presses: list[str] = []
        self._calls: list[JudgeCall] = []
        self.process: ForkServerProcess | None = None
        self._turns: Connection | None = None

    def start(self) -> None:
        """Start the table; it resumes the journal of its settings."""
        self.close()
        self._presses, self._calls = [], []
        self._turns, theirs = _processes.Pipe()
        self.process = _processes.Process(target=serve, args=(self._settings, theirs), daemon=True)
        self.process.start()
        theirs.close()

    @property
    def kill(self) -> Callable[[], None]:
        """What kills the table (SIGKILL), at once and from any thread."""
        assert self.process is not None
        return self.process.kill

    def close(self) -> None:
        """End the process, whatever it does."""
        if self.process is not None and self._turns is not None:
            self.process.kill()
            self.process.join()
            self.process.close()
            self._turns.close()
            self.process = self._turns = None

    def press(self, name: str) -> None:
        """Press a button; it counts in the next turn."""
        self._presses.append(name)

    def judge(self, call: JudgeCall) -> None:
        """Say something to the referee; it counts in the next turn."""
        self._calls.append(call)

    def step(self, t: float, n: int) -> tuple[View, int]:
        """Take a turn; raises `TableDiedError` when nobody answers."""
        turn = Turn(t, n, tuple(self._presses), tuple(self._calls))
        self._presses, self._calls = [], []
        assert self._turns is not None
        try:
            self._turns.send_bytes(msgspec.json.encode(turn))
            reply = msgspec.json.decode(self._turns.recv_bytes(), type=Reply)
        except (OSError, EOFError):
            self.close()
            raise TableDiedError("the table's process is gone", "start it again") from None
        return reply.view, reply.sent


def serve(settings_file: Path, turns: Connection) -> None:
    """Server side: run the table, answering each `Turn` by a `Reply` until there are no more."""
    settings = load(settings_file)
    buttons = MockButtons()
    daemon: Daemon | None = None
    while True:
        try:
            turn = msgspec.json.decode(turns.recv_bytes(), type=Turn)
        except EOFError:
            return
        if daemon is None:  # time is only known now
            daemon = Daemon(open_table(settings, turn.t), [Mat(board(settings), mat_sensors(settings))], buttons)
        for name in turn.presses:
            buttons.press(name, turn.t)
        for call in turn.calls:
            try:
                daemon.table.judge(call)
            except MatError as error:  # the judge was overtaken by what the mat felt
                print(error.what, file=sys.stderr)
        before = daemon.sent
        daemon.step(turn.t, at_least=turn.n)
        turns.send_bytes(msgspec.json.encode(Reply(daemon.table.view, daemon.sent - before)))

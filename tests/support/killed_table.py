"""A table in a process of its own, in lock step with a simulated mat.

It is the daemon of `run` with its journal on disk; a test can kill it at any moment. The process is forked from one
that has imported all modules already, so restarting it is cheap.
"""

import multiprocessing
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import msgspec

from pi_controller.board.buttons import MockButtons
from pi_controller.config import read_settings
from pi_controller.errors import MatError
from pi_controller.referee.judge import JudgeCommand
from pi_controller.runtime.assembly import make_source, mat_sensors, open_table
from pi_controller.runtime.daemon import Daemon
from pi_controller.table.mats import Mat
from pi_controller.table.view import View

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["pi_controller.runtime.assembly"])


class Turn(msgspec.Struct, frozen=True):
    """The mat's turn at time `t`: bytes written (`n`), buttons pressed, and the judge's commands."""

    t: float
    n: int
    presses: tuple[str, ...] = ()
    calls: tuple[JudgeCommand, ...] = ()


class Reply(msgspec.Struct, frozen=True):
    """The table's turn: its view, and the number of bytes sent to the board."""

    view: View
    sent: int


class TableDiedError(MatError, RuntimeError):
    """The table's process has died."""

    code = "died"


class TableProcess:
    """Client of the table's process (`simulation.TableSide`)."""

    def __init__(self, settings: Path) -> None:
        self._settings = settings
        self._presses: list[str] = []
        self._calls: list[JudgeCommand] = []
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
        """A function that kills the table (SIGKILL), at once and from any thread."""
        assert self.process is not None
        return self.process.kill

    def close(self) -> None:
        """End the process in any state."""
        if self.process is not None and self._turns is not None:
            self.process.kill()
            self.process.join()
            self.process.close()
            self._turns.close()
            self.process = self._turns = None

    def press(self, name: str) -> None:
        """Press a button in the next turn."""
        self._presses.append(name)

    def judge(self, call: JudgeCommand) -> None:
        """Give the referee a command in the next turn."""
        self._calls.append(call)

    def step(self, t: float, n: int) -> tuple[View, int]:
        """Take a turn; raises `TableDiedError` if the table does not answer."""
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
    """Run the table in this process, answering each `Turn` by a `Reply` until the connection closes."""
    settings = read_settings(settings_file)
    buttons = MockButtons()
    daemon: Daemon | None = None
    while True:
        try:
            turn = msgspec.json.decode(turns.recv_bytes(), type=Turn)
        except EOFError:
            return
        if daemon is None:  # the start time is known only now
            daemon = Daemon(open_table(settings, turn.t), [Mat(make_source(settings), mat_sensors(settings))], buttons)
        for name in turn.presses:
            buttons.press(name, turn.t)
        for call in turn.calls:
            try:
                daemon.table.judge(call)
            except MatError as error:  # a mat event came before the judge's command
                print(error.message, file=sys.stderr)
        before = daemon.sent
        daemon.step(turn.t, at_least=turn.n)
        turns.send_bytes(msgspec.json.encode(Reply(daemon.table.view, daemon.sent - before)))

"""A table in a process of its own, in lock step with a simulated mat: the daemon of `run`, with its journal on disk,
that a test can kill at any moment.

Run as a module it is that process: `python -m pi_controller.sim.elsewhere SETTINGS`. It reads one `Turn` a line and
answers each with one `Reply` a line.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from pi_controller.daemon import Daemon
from pi_controller.drivers.buttons import MockButtons
from pi_controller.errors import MatError
from pi_controller.referee.judge import JudgeCall
from pi_controller.run import board, feel, open_table
from pi_controller.table.settings import load
from pi_controller.table.view import View

if TYPE_CHECKING:
    from collections.abc import Callable


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


class Elsewhere:
    """The other process, as the simulated people reach it (`lockstep.TableSide`)."""

    def __init__(self, settings: Path) -> None:
        self._settings = settings
        self._presses: list[str] = []
        self._calls: list[JudgeCall] = []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the table; it resumes the journal of its settings."""
        self._presses, self._calls = [], []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pi_controller.sim.elsewhere", str(self._settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    @property
    def kill(self) -> Callable[[], None]:
        """What kills the table (SIGKILL), at once and from any thread."""
        assert self._process is not None
        return self._process.kill

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

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
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(msgspec.json.encode(turn) + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            process.kill()
            process.communicate()
            raise TableDiedError("the table's process is gone", "start it again")
        reply = msgspec.json.decode(line, type=Reply)
        return reply.view, reply.sent


def serve(settings_file: Path, turns: IO[bytes], replies: IO[bytes]) -> None:
    """Be the table: answer every turn until there are no more."""
    settings = load(settings_file)
    buttons = MockButtons()
    daemon: Daemon | None = None
    for line in turns:
        turn = msgspec.json.decode(line, type=Turn)
        if daemon is None:  # time is only known now
            daemon = Daemon(open_table(settings, turn.t), feel(settings), board(settings), buttons)
        for name in turn.presses:
            buttons.press(name, turn.t)
        for call in turn.calls:
            try:
                daemon.table.judge(call)
            except MatError as error:  # the judge was overtaken by what the mat felt
                print(error.what, file=sys.stderr)
        before = daemon.sent
        daemon.step(turn.t, at_least=turn.n)
        replies.write(msgspec.json.encode(Reply(daemon.table.view, daemon.sent - before)) + b"\n")
        replies.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.stdin.buffer, sys.stdout.buffer)

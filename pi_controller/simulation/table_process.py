"""A table in a process of its own, in lock step with a simulated mat.

It is the daemon of `run` with its journal on disk; a test can kill it at any moment. The process is forked from one
that has imported all modules already, so restarting it is cheap.
"""

from __future__ import annotations

import logging
import multiprocessing
import random
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import msgspec

from pi_controller.board.buttons import MockButtons
from pi_controller.config import read_settings
from pi_controller.errors import MatError
from pi_controller.referee.judge import JudgeAction, JudgeCommand
from pi_controller.rules.base import Json
from pi_controller.runtime.assembly import assemble, make_source, mat_sensors, open_table
from pi_controller.runtime.daemon import Daemon, Mat
from pi_controller.runtime.run import run_loop, running
from pi_controller.table.table import Table
from pi_controller.table.view import View

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload([__name__])


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


# A table of the simulated tournament, in its own process: the table program with a judge who enters random results.
#
# Journal, daemon, link to the hub and rules are those of `run`; there is no mat. The judge enters the results of two
# teams without skill: hits find by luck, and each missed pad makes the next hit likelier to find.
#
#     python -m pi_controller.simulation.table_process SETTINGS SEED PACE


IDLE_S = 0.02
HANDSHAKE_S = 1.5
"""Time of the teams at the table before a game, and for the handshake after it."""
_FINDS = {"first": 1 / 4, "second": 1 / 3}


class ChanceJudge:
    """Enters a random action every `pace` seconds from `rng`, during a match until it is over."""

    def __init__(self, rng: random.Random, pace: float) -> None:
        self._rng = rng
        self._pace = pace
        self._next = 0.0
        self._epoch = ""

    def step(self, t: float, table: Table, playing: bool) -> None:
        """Enter the next action if it is due; `playing`: the table has a match."""
        about = table.journal.meta
        if about is not None and about.epoch != self._epoch:
            self._epoch, self._next = about.epoch, t + min(HANDSHAKE_S, 10 * self._pace)
        if not playing or t < self._next or table.view.phase == "over":
            return
        self._next = t + self._pace
        try:
            table.judge(JudgeAction(t, self._action(table)))
        except MatError as error:
            logging.getLogger(__name__).warning("%s", error.message)

    def _action(self, table: Table) -> dict[str, Json]:
        legal = table.game.legal_actions(table.story.state)
        owed = table.view.owed
        if owed in _FINDS and table.view.phase in ("hide", "hit"):
            return {"do": "hit", "found": self._rng.random() < _FINDS[owed]}
        return self._rng.choice([action for action in legal if action["do"] != "foul"] or list(legal))


def main(argv: list[str]) -> int:
    """Run the table until SIGTERM."""
    settings, seed, pace = read_settings(Path(argv[0])), int(argv[1]), float(argv[2])
    logging.basicConfig(level=logging.WARNING)
    judge = ChanceJudge(random.Random(seed), pace)
    with running() as (stop, service, clock, stack):
        daemon, _, commands, *_ = assemble(settings, Path(argv[0]).parent, clock, stack)
        table = daemon.table
        assert commands is not None

        def serve() -> None:
            commands.process_commands(table, clock())
            judge.step(clock(), table, _playing(table))

        run_loop(daemon, clock, stop, service, serve, min(IDLE_S, pace or 0.001))
    return 0


def _playing(table: Table) -> bool:
    story: Any = table.story
    return dict(story.teams) != {"A": "A", "B": "B"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

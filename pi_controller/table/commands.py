"""Queue of commands from the web's thread to the table's, with their results back.

The table runs in one thread. Another thread puts a command on the queue and waits; the table's thread executes the
waiting commands in each step, in order.
"""

from __future__ import annotations

import asyncio
import queue
from concurrent.futures import Future
from typing import Any, NamedTuple

import msgspec

from pi_controller.errors import MatError
from pi_controller.referee.judge import HubCommand, JudgeCommand
from pi_controller.referee.story import Protest
from pi_controller.rules.base import Game
from pi_controller.table.table import Command, CommandResult, Table
from pi_controller.table.view import View

MAX_WAITING_COMMANDS = 64
"""Most waiting commands."""
MAX_COMMANDS_PER_STEP = 8
"""Commands executed in one step: each is written to disk, and the mat must be read in between."""
TIMEOUT_S = 2.0


class CommandQueueError(MatError, RuntimeError):
    """The table does not answer: the queue is full, or the table hangs."""

    code = "busy"


class Picture(NamedTuple):
    """Snapshot of the table for signed-in users.

    `state` is the state of the game, `last_undoable` the batch that an undo would take back (0: none), `board` a line
    about the board's state, `rulings` the possible rulings on a protest, `nameable` whether the teams can be named now.
    """

    view: View
    game: Game[Any]
    state: Any
    protest: Protest | None
    last_undoable: int
    board: str
    rulings: tuple[str, ...] = ()
    nameable: bool = False


class _PendingCommand(NamedTuple):
    command: Command
    answer: Future[CommandResult]


class CommandQueue:
    """Command queue of one table. Call `submit` in any event loop, but `process_commands` and `update_picture` in the
    table's thread only.
    """

    def __init__(self, most: int = MAX_WAITING_COMMANDS) -> None:
        self._waiting: queue.Queue[_PendingCommand] = queue.Queue(most)
        self.picture: Picture | None = None
        """Latest snapshot of the table; None before the first."""

    async def submit(
        self,
        call: JudgeCommand | HubCommand,
        actor: str,
        role: str,
        key: str,
        expect: int | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> CommandResult:
        """Send `call` to the table, which sets its `t`, and return the result.

        Raises as `Table.command` does, and `CommandQueueError` if the queue is full or the table does not answer within
        `timeout_s` seconds. In the latter case the command was not executed, unless the table took it at that very
        moment. It is safe to send it again with the same `key`: a command that was executed is reported as a
        repetition.
        """
        asked = _PendingCommand(Command(call, actor, role, key, expect), Future())
        try:
            self._waiting.put_nowait(asked)
        except queue.Full:
            raise CommandQueueError("too many commands wait for the table", "try again in a moment") from None
        try:
            return await asyncio.wait_for(asyncio.wrap_future(asked.answer), timeout_s)
        except TimeoutError:
            raise CommandQueueError("the table does not answer", "check whether it was done, then try again") from None

    def process_commands(self, table: Table, t: float, board: str = "") -> int:
        """Execute up to `MAX_COMMANDS_PER_STEP` waiting commands at time `t`, then update the snapshot; return their
        number.
        """
        results: list[tuple[_PendingCommand, CommandResult | MatError]] = []
        for _ in range(MAX_COMMANDS_PER_STEP):
            try:
                asked = self._waiting.get_nowait()
            except queue.Empty:
                break
            if not asked.answer.set_running_or_notify_cancel():
                continue  # the sender has stopped waiting
            command = msgspec.structs.replace(asked.command, call=msgspec.structs.replace(asked.command.call, t=t))
            try:
                results.append((asked, table.command(command)))
            except MatError as error:
                results.append((asked, error))
            except BaseException as error:
                asked.answer.set_exception(error)
                raise
        self.update_picture(table, board)  # first, so that the sender then reads the new state
        for asked, answer in results:
            if isinstance(answer, MatError):
                asked.answer.set_exception(answer)
            else:
                asked.answer.set_result(answer)
        return len(results)

    def update_picture(self, table: Table, board: str = "") -> None:
        """Update the snapshot of the table."""
        view, before = table.view, self.picture
        if before is None or before.view is not view or before.board != board:
            story = table.story
            self.picture = Picture(
                view,
                table.game,
                story.state,
                story.protest,
                story.undo_target.batch,
                board,
                table.referee.rulings,
                story.can_name_teams(table.game),
            )

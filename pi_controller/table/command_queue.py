"""Queue of commands from the web's thread to the table's, with their results back.

The table lives in one thread and knows no other. Who commands from another thread puts the command on the desk and
waits; the table's thread serves the desk each step, in the order in which it was asked.
"""

from __future__ import annotations

import asyncio
import queue
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from pi_controller.errors import MatError
from pi_controller.table.command import Command

if TYPE_CHECKING:
    from pi_controller.games.base import Game
    from pi_controller.referee.judge import HubCall, JudgeCall
    from pi_controller.referee.story import Protest
    from pi_controller.table.table import Table
    from pi_controller.table.view import View

MOST = 64
"""Commands that may wait."""
A_STEP = 8
"""Commands that are taken in one step: each is written to disk, and the mat is felt in between."""
TIMEOUT_S = 2.0


class CommandQueueError(MatError, RuntimeError):
    """The table does not answer: the queue is full, or the table stands still."""

    code = "busy"


class Settled(NamedTuple):
    """Result of a command: `command.CommandResult`, and the `View.revision` after it."""

    seq: int
    repeated: bool
    revision: int


class Picture(NamedTuple):
    """The table as those see it who are signed in.

    `state` is the game's, `last_undoable` the batch that an undo takes back (0: none), `board` a line on how the board
    is, `rulings` what can be ruled on a protest, `nameable` whether the teams can be named now.
    """

    view: View
    game: Game[Any]
    state: Any
    protest: Protest | None
    last_undoable: int
    board: str
    rulings: tuple[str, ...] = ()
    nameable: bool = False


class _Asked(NamedTuple):
    command: Command
    answer: Future[Settled]


class CommandQueue:
    """One table's queue. `ask` in any event loop; `serve` and `show` in the table's thread only."""

    def __init__(self, most: int = MOST) -> None:
        self._waiting: queue.Queue[_Asked] = queue.Queue(most)
        self.picture: Picture | None = None
        """The table as it was shown last, None before."""

    async def ask(
        self,
        call: JudgeCall | HubCall,
        actor: str,
        role: str,
        key: str,
        expect: int | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Settled:
        """Say `call` to the table (its `t` is set when the table takes it) and return what came of it.

        Raises what `Table.command` does, and `CommandQueueError` when the queue is full or the table does not answer in
        `timeout_s` seconds: then it is not done, or, taken in that very moment, said again with the same `key` it is
        told as done.
        """
        asked = _Asked(Command(call, actor, role, key, expect), Future())
        try:
            self._waiting.put_nowait(asked)
        except queue.Full:
            raise CommandQueueError("too many commands wait for the table", "try again in a moment") from None
        try:
            return await asyncio.wait_for(asyncio.wrap_future(asked.answer), timeout_s)
        except TimeoutError:
            raise CommandQueueError(
                "the table does not answer", "look whether it plays on, then say it again"
            ) from None

    def serve(self, table: Table, t: float, board: str = "") -> int:
        """Take what waits, at most a few commands, as said at `t`; return how many. Then show the table as it is."""
        results: list[tuple[_Asked, Settled | MatError]] = []
        for _ in range(A_STEP):
            try:
                asked = self._waiting.get_nowait()
            except queue.Empty:
                break
            if not asked.answer.set_running_or_notify_cancel():
                continue  # whoever asked has gone
            command = msgspec.structs.replace(asked.command, call=msgspec.structs.replace(asked.command.call, t=t))
            try:
                ruled = table.command(command)
                results.append((asked, Settled(ruled.seq, ruled.repeated, table.view.revision)))
            except MatError as error:
                results.append((asked, error))
            except BaseException as error:
                asked.answer.set_exception(error)
                raise
        self.show(table, board)  # first, so that who is answered sees what came of it
        for asked, answer in results:
            if isinstance(answer, MatError):
                asked.answer.set_exception(answer)
            else:
                asked.answer.set_result(answer)
        return len(results)

    def show(self, table: Table, board: str = "") -> None:
        """Lay out the table as it is now."""
        view, before = table.view, self.picture
        if before is None or before.view is not view or before.board != board:
            story = table.story
            self.picture = Picture(
                view,
                table.game,
                story.state,
                story.protest,
                story.undoable.batch,
                board,
                table.rulings,
                story.nameable(table.game),
            )

"""Queue of the judges' and the hub's commands to one table, and the picture of the table that they decide by."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from pi_controller.referee.judge import HubCommand, JudgeCommand
from pi_controller.referee.story import Protest
from pi_controller.rules.base import Game
from pi_controller.table.commands import TIMEOUT_S, CommandQueue
from pi_controller.table.table import Command, CommandResult, Table
from pi_controller.table.view import View


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


class TableQueue(CommandQueue[Command, CommandResult]):
    """Command queue of one table. Call `submit_call` in any event loop, but `serve` and `update_picture` in the
    table's thread only.
    """

    picture: Picture | None = None
    """Latest snapshot of the table; None before the first."""

    async def submit_call(
        self,
        call: JudgeCommand | HubCommand,
        actor: str,
        role: str,
        key: str,
        expect: int | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> CommandResult:
        """Send `call` to the table, which sets its `t`, and return the result.

        Raises as `Table.command` and `submit` do. It is safe to send it again with the same `key`: a command that was
        executed is reported as a repetition.
        """
        return await self.submit(Command(call, actor, role, key, expect), timeout_s)

    def serve(self, table: Table, t: float, board: str = "") -> int:
        """Execute waiting commands at time `t` and update the snapshot; return the number of commands."""
        return self.drain(
            lambda command: table.command(replace(command, call=replace(command.call, t=t))),
            lambda: self.update_picture(table, board),
        )

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

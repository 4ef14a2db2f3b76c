"""State for the console: the view with the live page's texts, the allowed commands, and the latest events.

Journal, legal actions and board are read once for each change, however many judges look.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pi_controller.errors import MatError
from pi_controller.show import phrases
from pi_controller.show.game_show import player_rows
from pi_controller.show.names import player_name
from pi_controller.web import event_log
from pi_controller.web.console_page import Console, console
from pi_controller.web.game_page import page_of
from pi_controller.web.page_content import board
from pi_controller.web.signing.roles import begins_games, may, rulings

if TYPE_CHECKING:
    from pathlib import Path

    from pi_controller.games.base import Json
    from pi_controller.table.command_queue import CommandQueue, Picture
    from pi_controller.table.view import View
    from pi_controller.web.api_types import Me, Side, StateContent
    from pi_controller.web.console_play import FoulsOf
    from pi_controller.web.event_log import EventLog
    from pi_controller.web.page_content import Board

log = logging.getLogger(__name__)


class Snapshot(NamedTuple):
    """A view of the table with the end of its journal, its legal actions, and the board that shows it."""

    picture: Picture
    minutes: EventLog
    legal: tuple[dict[str, Json], ...]
    board: Board
    fouls: tuple[FoulsOf, ...]


class JudgeState:
    """Takes snapshots of the table through `command_queue`; its journal is at `journal`."""

    def __init__(self, command_queue: CommandQueue, journal: Path, language: str) -> None:
        self._command_queue, self._journal, self._language = command_queue, journal, language
        self._latest: Snapshot | None = None
        self._one = asyncio.Lock()

    async def snapshot(self) -> Snapshot | None:
        """Return the table as it is; None before there is one."""
        async with self._one:
            picture = self._command_queue.picture
            if picture is not None and (self._latest is None or self._latest.picture is not picture):
                legal = await asyncio.to_thread(picture.game.legal_actions, picture.state)
                called = page_of(picture.view).fouls(picture.view, picture.game, picture.state, self._language)
                shown = board(picture.view, self._language)
                self._latest = Snapshot(picture, await self._minutes(picture), legal, shown, called)
            return self._latest

    async def _minutes(self, picture: Picture) -> EventLog:
        view = picture.view
        try:
            return await asyncio.to_thread(
                event_log.kept, self._journal, view.game, view.teams, self._language, picture.last_undoable, view.seq
            )
        except MatError as error:  # the table says so itself when it cannot write
            log.warning("the end of the journal cannot be read: %s", error.what)
            return self._latest.minutes if self._latest else event_log.EventLog()

    def page(self, snapshot: Snapshot, role: str) -> Console:
        """Return what the console shows and offers somebody of `role`."""
        return console(
            snapshot.picture.view,
            snapshot.legal,
            self._language,
            undo=snapshot.minutes.undo,
            last=snapshot.minutes.action,
            options=snapshot.picture.game.settings,
            sets=may(role, "set"),
            begins=begins_games(role, snapshot.picture.rulings) and not snapshot.picture.protest,
            names=may(role, "teams") and snapshot.picture.nameable,
            before=snapshot.picture.game.hiders_before(snapshot.picture.state),
        )

    def content(self, snapshot: Snapshot, me: Me, now: float) -> StateContent:
        """Return the whole state for `me` (name and role), at `now` on the table's clock."""
        view, protest, shown = snapshot.picture.view, snapshot.picture.protest, snapshot.board
        return {
            "view": view,
            "board": {
                "texts": shown.texts,
                "marks": shown.marks,
                "counts": shown.counts,
                "layout": shown.layout,
                "table": shown.table,
            },
            "console": self.page(snapshot, me["role"]),
            "me": me,
            "legal": snapshot.legal,
            "fouls": snapshot.fouls,
            "protest": {"by": protest.by, "text": protest.text, "play_on": protest.play_on} if protest else None,
            "rulings": rulings(me["role"], snapshot.picture.rulings),
            "sides": sides_in_play(view),
            "log": snapshot.minutes.lines,
            "health": {
                "link": view.link,
                "note": phrases.notice(view, self._language),
                "faults": view.faults,
                "sensors": view.sensors,
                "board": snapshot.picture.board,
            },
            "now": round(now, 3),
        }


def sides_in_play(view: View) -> list[Side]:
    """Return who can still be out of the game other than by play: the teams, or the players who are in it."""
    if view.phase in {"over", "halted"}:
        return []
    rows = player_rows(view.sheet)
    names = [name for name, row in rows.items() if not row.get("out")] if rows else ["A", "B"]
    return [{"value": name, "label": player_name(view, name)} for name in names]


def as_json(content: StateContent) -> bytes:
    """Return the state as it is sent."""
    return msgspec.json.encode(content)

"""What the console is told of the table: the view with the live page's texts, what may be done now, and the last of it.

Journal, legal actions and board are read once for each change, however many judges look.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from pi_controller.errors import MatError
from pi_controller.games.dakota_state import HIDER_FOULS, HITTER_FOULS
from pi_controller.referee.story import HAMPA_APENA
from pi_controller.web import minutes
from pi_controller.web.board import board
from pi_controller.web.console_page import Console, console, foul_label
from pi_controller.web.signing.roles import may

if TYPE_CHECKING:
    from pathlib import Path

    from pi_controller.games.base import Json
    from pi_controller.table.desk import Desk, Picture
    from pi_controller.web.board import Board
    from pi_controller.web.minutes import Minutes

log = logging.getLogger(__name__)


class Told(NamedTuple):
    """A picture of the table with the end of its journal, the actions legal in it, and the board that shows it."""

    picture: Picture
    minutes: Minutes
    legal: tuple[dict[str, Json], ...]
    board: Board


class JudgeState:
    """Tells the table on `desk`, whose journal is at `journal`."""

    def __init__(self, desk: Desk, journal: Path, language: str) -> None:
        self._desk, self._journal, self._language = desk, journal, language
        self._told: Told | None = None
        self._one = asyncio.Lock()

    async def told(self) -> Told | None:
        """Return the table as it is; None before there is one."""
        async with self._one:
            picture = self._desk.picture
            if picture is not None and (self._told is None or self._told.picture is not picture):
                legal = await asyncio.to_thread(picture.game.legal_actions, picture.state)
                shown = board(picture.view, self._language)
                self._told = Told(picture, await self._minutes(picture), legal, shown)
            return self._told

    async def _minutes(self, picture: Picture) -> Minutes:
        view = picture.view
        try:
            return await asyncio.to_thread(
                minutes.kept, self._journal, view.game, view.teams, self._language, picture.mark, view.seq
            )
        except MatError as error:  # the table says so itself when it cannot write
            log.warning("the end of the journal cannot be read: %s", error.what)
            return self._told.minutes if self._told else minutes.Minutes()

    def page(self, told: Told, role: str) -> Console:
        """Return what the console shows and offers somebody of `role`."""
        return console(
            told.picture.view,
            told.legal,
            self._language,
            undo=told.minutes.undo,
            last=told.minutes.action,
            options=told.picture.game.settings,
            sets=may(role, "set"),
            before=told.picture.game.hiders_before(told.picture.state),
        )

    def content(self, told: Told, me: dict[str, str], now: float) -> dict[str, Any]:
        """Return the whole state for `me` (name and role), at `now` on the table's clock."""
        view, protest, shown = told.picture.view, told.picture.protest, told.board
        return {
            "view": view,
            "board": {
                "texts": shown.texts,
                "marks": shown.marks,
                "counts": shown.counts,
                "layout": shown.layout,
                "table": shown.table,
            },
            "console": self.page(told, me["role"]),
            "me": me,
            "legal": told.legal,
            "fouls": fouls(view.game, self._language),
            "protest": {"by": protest.by, "text": protest.text, "play_on": protest.play_on} if protest else None,
            "log": told.minutes.lines,
            "health": {
                "link": view.link,
                "note": view.note,
                "faults": view.faults,
                "sensors": view.sensors,
                "board": told.picture.board,
            },
            "now": round(now, 3),
        }


def fouls(game: str, language: str = "en") -> list[dict[str, str]]:
    """Return the fouls that a judge can enter in `game`, in words."""
    if game != HAMPA_APENA:
        return []
    return [
        {"by": by, "kind": kind, "label": foul_label(kind, language)}
        for by, kinds in (("hider", HIDER_FOULS), ("hitter", HITTER_FOULS))
        for kind in kinds
    ]


def as_json(content: dict[str, Any]) -> bytes:
    """Return the state as it is sent."""
    return msgspec.json.encode(content)

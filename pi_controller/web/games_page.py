"""Past games of the table, public: a list of the archived journals beside the table's own, and each as a sheet.

The pages read what the archive keeps (`journal.rotation`) and write nothing. A game is named by the date in its file's
name, so no address leads to another file. An archived journal is closed and its facts hold no place of a bead before it
was found; the reasons of protests are left out. Reading is slow for a small computer: one game is read at a time, with
a pause after it, and what was read is kept in memory.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pi_controller.display.i18n import Translator
from pi_controller.errors import MatError, describe_error
from pi_controller.journal.journal import Journal
from pi_controller.journal.read_record import read_journal_record
from pi_controller.journal.sheet import Sheet, sheet_of
from pi_controller.record.writing import write
from pi_controller.web import requests
from pi_controller.web.requests import RequestError
from pi_controller.web.score_sheet import SheetRow, SheetText
from pi_controller.web.templates import render

log = logging.getLogger(__name__)

GAMES_A_PAGE = 20
MAX_PAGES = 50
MAX_JOURNAL_BYTES = 16_000_000
"""A larger journal is listed by its date alone; a long game takes 2 MB."""
MAX_LINES = 2000
"""Lines of a sheet on the page; the journal has the rest."""
MAX_RECORD_CHARS = 400_000
MAX_KEPT_GAMES, MAX_KEPT_LINES = 200, 8
"""Lines of the list, and whole games, that stay in memory."""
MAX_WAITING = 8
"""Requests that wait until a game is read; others are told to come back."""
PAUSE_SHARE = 2.0
"""After reading a game the next one waits this many times as long, so that the table itself has the processor."""
_STAMP = r"\d{4}-\d\d-\d\d-\d{4}(?:-\d{1,4})?"

T = TypeVar("T")


class PastGame(NamedTuple):
    """One line of the list: the `stamp` names the game in its address; `result` is "" if it cannot be read."""

    stamp: str
    began: str
    game: str = ""
    sides: tuple[str, ...] = ()
    result: str = ""


class OpenedGame(NamedTuple):
    """A whole game: its sheet as rows under `heads`, and its record. The teams are called by their letters in both."""

    about: PastGame
    source: str
    heads: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    left_out: int
    record: str
    of_teams: bool


class PastGames:
    """Reads the archived games of the table whose journal is at `journal`, in the language of `tr`."""

    def __init__(self, journal: Path, tr: Translator) -> None:
        self._journal, self._tr = journal, tr
        self._name = re.compile(rf"{re.escape(journal.stem)}-({_STAMP}){re.escape(journal.suffix)}")
        self._summaries = lru_cache(MAX_KEPT_GAMES)(self._summarise_file)
        self._opened = lru_cache(MAX_KEPT_LINES)(self._open_file)

    def list_stamps(self) -> list[str]:
        """Return the names of the archived games, the newest first."""
        try:
            files = [path for path in self._journal.parent.iterdir() if _is_plain_file(path)]
        except OSError:
            return []
        found = (match[1] for path in files if (match := self._name.fullmatch(path.name)))
        return sorted(found, key=_stamp_order, reverse=True)

    def summarise(self, stamp: str) -> PastGame:
        """Return the line of the game `stamp` in the list."""
        try:
            return self._summaries(stamp, self._version_of(stamp))
        except (MatError, OSError) as error:
            log.info("an archived game cannot be read: %s", describe_error(error))
            return PastGame(stamp, _format_stamp(stamp))

    def open(self, stamp: str) -> OpenedGame:
        """Return the whole game `stamp`. Raises `MatError` or `OSError` if it cannot be read."""
        return self._opened(stamp, self._version_of(stamp))

    def _version_of(self, stamp: str) -> tuple[int, int]:
        """Return the size and the time of change of the game's file. Raises `OSError` and `RequestError`."""
        found = self._path(stamp).stat()
        if found.st_size > MAX_JOURNAL_BYTES:
            raise RequestError("large", "this game is too large for a page", "open its journal on the machine")
        return found.st_size, found.st_mtime_ns

    def _summarise_file(self, stamp: str, _: tuple[int, int]) -> PastGame:
        return self._summarise(stamp, _read_sheet(self._path(stamp)))

    def _path(self, stamp: str) -> Path:
        return self._journal.with_name(f"{self._journal.stem}-{stamp}{self._journal.suffix}")

    def _open_file(self, stamp: str, _: tuple[int, int]) -> OpenedGame:
        path = self._path(stamp)
        sheet = _read_sheet(path)
        texts = SheetText(sheet, self._tr)
        return OpenedGame(
            self._summarise(stamp, sheet),
            sheet.source,
            tuple(texts.columns),
            tuple(texts.rows(MAX_LINES)),
            max(0, len(sheet.lines) - MAX_LINES),
            write(read_journal_record(str(path)))[:MAX_RECORD_CHARS],
            bool(sheet.teams),
        )

    def _summarise(self, stamp: str, sheet: Sheet) -> PastGame:
        began = f"{sheet.began:%Y-%m-%d %H:%M}" if sheet.began else _format_stamp(stamp)
        texts = SheetText(sheet, self._tr)
        return PastGame(stamp, began, texts.show.name, tuple(texts.names.values()), texts.result)


def games_routes(journal: Path, tr: Translator) -> list[Route]:
    """Return the routes `/games` and `/games/{stamp}` of the table whose journal is at `journal`."""
    games, reading, waiting = PastGames(journal, tr), asyncio.Lock(), 0

    async def read(work: Callable[[], T]) -> T:
        nonlocal waiting
        if waiting >= MAX_WAITING:
            raise RequestError("busy", "other games are being read", "try again in a moment", 2.0)
        waiting += 1
        try:
            async with reading:
                loop = asyncio.get_running_loop()
                begun = loop.time()
                found = await asyncio.to_thread(work)
                await asyncio.sleep(PAUSE_SHARE * (loop.time() - begun))
                return found
        finally:
            waiting -= 1

    async def list_page(request: Request) -> Response:
        number = request.query_params.get("page", "1")
        stamps = await asyncio.to_thread(games.list_stamps)
        pages = min(MAX_PAGES, max(1, -(-len(stamps) // GAMES_A_PAGE)))
        if not re.fullmatch(r"[1-9]\d?", number) or int(number) > pages:
            raise HTTPException(404)
        shown = stamps[(int(number) - 1) * GAMES_A_PAGE : int(number) * GAMES_A_PAGE]
        found = [await read(partial(games.summarise, stamp)) for stamp in shown]
        return HTMLResponse(render("games.html", tr, games=found, number=int(number), pages=pages))

    async def game_page(request: Request) -> Response:
        stamp = request.path_params["stamp"]
        if not re.fullmatch(_STAMP, stamp) or stamp not in await asyncio.to_thread(games.list_stamps):
            raise HTTPException(404)
        try:
            opened = await read(partial(games.open, stamp))
        except OSError as error:
            raise HTTPException(404) from error
        return HTMLResponse(render("game.html", tr, opened=opened, game=opened.about))

    return [requests.json_route("/games", list_page), requests.json_route("/games/{stamp}", game_page)]


def _read_sheet(path: Path) -> Sheet:
    with Journal(path, read_only=True) as journal:
        return sheet_of(journal)


def _is_plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _stamp_order(stamp: str) -> tuple[str, int]:
    day, minute, number = stamp[:10], stamp[11:15], stamp[16:]
    return f"{day}-{minute}", int(number or 1)


def _format_stamp(stamp: str) -> str:
    return f"{stamp[:10]} {stamp[11:13]}:{stamp[13:15]}"

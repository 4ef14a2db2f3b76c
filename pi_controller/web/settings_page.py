"""The settings in the browser, for the head judge: every setting, a restart, a report for who helps, and the journal.

Saved settings apply when the table starts again; a game in progress continues from its journal.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from pi_controller.config import edit
from pi_controller.display.game_display import key_to_words
from pi_controller.errors import SettingsError
from pi_controller.table.backup import copy_of
from pi_controller.table.table_queue import TableQueue
from pi_controller.web import requests
from pi_controller.web.sign_in import SignInRoutes
from pi_controller.web.templates import render

log = logging.getLogger(__name__)

UNITS = {"s": "seconds", "ms": "milliseconds", "min": "minutes", "days": "days", "mb": "MB", "db": "dB", "ma": "mA"}
"""The unit that the end of a key's name tells."""
TITLES = {
    "table": "Table", "game": "Game", "game.options": "Options of the game",
    "teams": "Teams", "mat": "Mat", "board": "Mat board",
    "board_b": "Second mat board", "strips": "Light strips", "buttons": "Buttons",
    "buttons.pins": "Pins of the buttons", "web": "Pages", "marks": "Marks of the host", "voice": "Sound",
    "strikes": "Strikes", "recording": "Recordings", "backup": "Backup", "referee": "Referee",
    "referee.fouls": "Fouls", "referee.answers": "Answers in time", "hub": "Tournament hub", "exhibit": "Exhibit",
    "observers": "Observers", "webhook": "Webhook",
}  # fmt: skip
"""The heading of each section."""
OPEN_PHASES = {"toss", "throw", "show", "over"}
"""Phases in which nothing is hidden."""
NO_FILE = "This table runs without a settings file. Start it with 'moccasin-mat run --settings table.toml'."

Save = Callable[[Mapping[str, Any], str], str]
"""Save changes made for a version of the file; return the new version."""


class SettingsChange(msgspec.Struct, forbid_unknown_fields=True):
    """New values by key, such as "web.event", for the `version` of the settings file that the page showed."""

    version: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    changes: dict[str, Any]


class Restart(msgspec.Struct, forbid_unknown_fields=True):
    """Start the table again; `playing` confirms that a game is in progress."""

    playing: bool = False


class SettingsPage:
    """The routes of the page. `file` is the settings file of the table, None if it has none.

    `save` writes it, and `restart` starts the table again with what was saved. `command_queue` has the table's state,
    `journal` is its journal. `report` makes the report for who helps.
    """

    def __init__(
        self,
        signed: SignInRoutes,
        command_queue: TableQueue,
        file: Path | None,
        restart: Callable[[], None],
        save: Save | None,
        journal: Path,
        report: Callable[[str], bytes] | None = None,
    ) -> None:
        self._signed, self._command_queue, self._file, self._restart = signed, command_queue, file, restart
        self._save, self._journal, self._report = save, journal, report
        self._in_force = "" if file is None else edit.read_written(file)[1]
        self._one = asyncio.Lock()

    async def page(self, request: Request) -> Response:
        """Answer with the page; without a sign-in with the sign-in page of the console."""
        try:
            await self._require_head(request)
        except requests.RequestError as error:
            if error.code != "signed_out":
                raise
            return RedirectResponse(self._signed.home, 303)
        sections, version, fault = list[dict[str, Any]](), "", NO_FILE
        if self._file is not None:
            try:
                settings, version = await asyncio.to_thread(edit.read_written, self._file)
                sections, fault = [_section(one) for one in edit.list_settings(settings)], ""
            except SettingsError as error:
                fault = error.message
        return HTMLResponse(
            render(
                "settings.html",
                sections=sections,
                version=version,
                fault=fault,
                file="" if self._file is None else str(self._file),
                waits=bool(version) and version != self._in_force,
            )
        )

    async def change(self, request: Request) -> Response:
        """Save the changes of a POST."""
        session = await self._require_head(request)
        sent = await requests.read_request(request, SettingsChange)
        if self._save is None:
            raise requests.RequestError("missing", "there is no settings file", NO_FILE)
        self._signed.charge_command(session)
        async with self._one:
            saved = await asyncio.to_thread(self._save, sent.changes, sent.version)
        log.info("%s changed the settings: %s", session.person.name, ", ".join(sent.changes))
        return requests.json_response({"ok": True, "version": saved, "waits": saved != self._in_force})

    async def restart(self, request: Request) -> Response:
        """Start the table again."""
        session = await self._require_head(request)
        sent = await requests.read_request(request, Restart)
        picture = self._command_queue.picture
        if picture is not None and picture.view.phase not in {"over", "halted"} and not sent.playing:
            raise requests.RequestError(
                "playing", "a game is in progress", "it continues after the restart: confirm, or wait for its end"
            )
        log.info("%s starts the table again", session.person.name)
        self._restart()
        return requests.json_response({"ok": True})

    async def report(self, request: Request) -> Response:
        """Answer with the report for who helps, a ZIP: the checks of the machine, the settings, and warnings."""
        session = await self._require_head(request)
        if self._report is None:
            raise requests.RequestError("missing", "this table makes no report", "run 'moccasin-mat doctor'")
        self._signed.charge_command(session)
        picture = self._command_queue.picture
        content = await asyncio.to_thread(self._report, f"{picture.board if picture else 'not ready'}\n")
        return _download(content, "moccasin-mat-report.zip", "application/zip")

    async def copy(self, request: Request) -> Response:
        """Answer with a copy of the journal; not during a hide, whose secrets are in it."""
        session = await self._require_head(request)
        picture = self._command_queue.picture
        if picture is None or picture.view.phase not in OPEN_PHASES:
            raise requests.RequestError("playing", "a hide is in progress", "take the copy when it is over")
        self._signed.charge_command(session)

        def make_copy() -> bytes:
            with TemporaryDirectory() as folder:
                return copy_of(self._journal, Path(folder)).read_bytes()

        name = f"{self._journal.stem}-{datetime.now():%Y-%m-%d-%H%M}.sqlite"  # noqa: DTZ005 - the hall's time
        return _download(await asyncio.to_thread(make_copy), name, "application/vnd.sqlite3")

    async def _require_head(self, request: Request) -> Any:
        return await self._signed.require_right(request, "settings", "change the settings")


def settings_routes(page: SettingsPage) -> list[Route]:
    """Return the routes of the settings; a `MatError` becomes a JSON answer with a status."""
    return [
        requests.json_route("/judge/settings", page.page),
        requests.json_route("/judge/settings/save", page.change, "POST"),
        requests.json_route("/judge/settings/restart", page.restart, "POST"),
        requests.json_route("/judge/settings/report.zip", page.report),
        requests.json_route("/judge/settings/journal.sqlite", page.copy),
    ]


def _download(content: bytes, name: str, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers={"content-disposition": f"attachment; filename={name}"})


def _section(section: edit.SectionContent) -> dict[str, Any]:
    fields = [_field(field) for field in section.fields]
    changed = sum(field["value"] != field["default"] for field in fields)
    return {"title": TITLES[section.key], **msgspec.structs.asdict(section), "fields": fields, "changed": changed}


def _field(field: edit.FieldContent) -> dict[str, Any]:
    name, unit = field.key.rpartition(".")[2], ""
    if field.kind == "number" and (end := name.rpartition("_")[2]) in UNITS:
        name, unit = name.rpartition("_")[0], UNITS[end]
    about = field.about[:1].upper() + field.about[1:]
    more = {"id": "f-" + field.key.replace(".", "-"), "label": key_to_words(name), "unit": unit, "about": about}
    return msgspec.structs.asdict(field) | more

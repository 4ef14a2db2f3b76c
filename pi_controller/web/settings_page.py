"""The settings in the browser, for the head judge: every setting, a restart, a report for who helps, and the journal.

Saved settings apply when the table starts again; a game in progress continues from its journal.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pi_controller.table.backup import copy_of
from pi_controller.table.table_queue import TableQueue
from pi_controller.web import requests
from pi_controller.web.settings_form import SettingsForm
from pi_controller.web.sign_in import SignInRoutes

log = logging.getLogger(__name__)

OPEN_PHASES = {"toss", "throw", "show", "over"}
"""Phases in which nothing is hidden."""


class Restart(msgspec.Struct, forbid_unknown_fields=True):
    """Start the table again; `playing` confirms that a game is in progress."""

    playing: bool = False


class SettingsPage:
    """The routes of the page, which shows `form`.

    `restart` starts the table again with what was saved. `command_queue` has the table's state, `journal` is its
    journal. `report` makes the report for who helps.
    """

    def __init__(
        self,
        signed: SignInRoutes,
        command_queue: TableQueue,
        form: SettingsForm,
        restart: Callable[[], None],
        journal: Path,
        report: Callable[[str], bytes] | None = None,
    ) -> None:
        self._signed, self._command_queue, self._form, self._restart = signed, command_queue, form, restart
        self._journal, self._report = journal, report

    async def page(self, request: Request) -> Response:
        """Answer with the page; without a sign-in with the sign-in page of the console."""
        try:
            await self._require_head(request)
        except requests.RequestError as error:
            if error.code != "signed_out":
                raise
            return RedirectResponse(self._signed.home, 303)
        return await self._form.page(request, "/judge", restarts=True)

    async def change(self, request: Request) -> Response:
        """Save the changes of a POST."""
        session = await self._require_head(request)
        self._signed.charge_command(session)
        return await self._form.save(request, session.person.name)

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
            raise requests.RequestError("missing", "this table makes no report", "run 'moccasin-mat mat check'")
        self._signed.charge_command(session)
        picture = self._command_queue.picture
        content = await asyncio.to_thread(self._report, f"{picture.board if picture else 'not ready'}\n")
        return requests.download(content, "moccasin-mat-report.zip")

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
        return requests.download(await asyncio.to_thread(make_copy), name)

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

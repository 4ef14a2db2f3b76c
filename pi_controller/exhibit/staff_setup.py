"""The staff's first hour without a shell, at `/staff/setup`: settings and texts of an installation, from a phone.

A few settings are saved to the settings file, as the head judge's page of a table does, and apply at once. Texts become
a draft: the staff looks at its preview, then shows it to visitors, which writes `texts.toml`. Refused input changes
nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pi_controller.config import Settings, edit
from pi_controller.config.fields import Keys
from pi_controller.display.i18n import catalogue, mark, resolve_language
from pi_controller.errors import SettingsError
from pi_controller.exhibit.host_files import HostTexts
from pi_controller.web import requests
from pi_controller.web.accounts import Session
from pi_controller.web.connection_limits import is_loopback
from pi_controller.web.requests import RequestError, json_route
from pi_controller.web.roles import has_right
from pi_controller.web.settings_page import Save, SettingsChange

log = logging.getLogger(__name__)

PATH = "/staff/setup"
SETTINGS: Mapping[Keys, str] = {
    ("exhibit", "languages"): mark("Languages"),
    ("exhibit", "opens"): mark("Opens at"),
    ("exhibit", "closes"): mark("Closes at"),
    ("exhibit", "season_from"): mark("First day of the season"),
    ("exhibit", "season_to"): mark("Last day of the season"),
    ("exhibit", "dim_from"): mark("Dimmed from"),
    ("exhibit", "dim_to"): mark("Dimmed until"),
    ("exhibit", "dim_page"): mark("Brightness of the screen while dimmed"),
    ("exhibit", "dim_lights"): mark("Brightness of the lights while dimmed"),
    ("voice", "english"): mark("Say aloud what to do, in English"),
    ("voice", "volume"): mark("Volume"),
    ("voice", "quiet_volume"): mark("Volume while quiet"),
    ("voice", "quiet_from"): mark("Quiet from"),
    ("voice", "quiet_to"): mark("Quiet until"),
    ("exhibit", "usage"): mark("Count the sessions of each day"),
}
"""The settings on this page with their labels; all others are set in the settings file."""
TextKey = Literal["title", "what", "introduction", "introduced_by", "closed", "out_of_season", "credits", "attribution"]
TEXTS: Mapping[TextKey, str] = {
    "title": mark("Title"),
    "what": mark("One sentence for passers-by"),
    "introduction": mark("Introduction"),
    "introduced_by": mark("Who introduces the game"),
    "closed": mark("While closed"),
    "out_of_season": mark("Outside the season"),
    "credits": mark("Credits"),
    "attribution": mark("Attribution line"),
}
"""The texts on this page with their labels; pictures, labels and stories stay in `texts.toml`."""
PHONE_SIGN_OUT_S = 900.0
"""A phone of the staff signs out after this time without a touch: texts need thought."""
LONG_TEXTS = frozenset({"what", "introduction", "closed", "out_of_season", "credits"})
MAX_TEXT_CHARS = 4000


class TextsChange(msgspec.Struct, forbid_unknown_fields=True):
    """New texts by key."""

    texts: dict[TextKey, Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARS)]]


class SetupHooks(NamedTuple):
    """What the set-up page needs of the staff page.

    `require_staff` returns the session of a signed-in user, `render` returns a page, `apply` and `propose` let the loop
    apply settings and take a draft of the texts.
    """

    require_staff: Callable[[Request], Awaitable[Session]]
    render: Callable[..., Response]
    apply: Callable[[Settings], Awaitable[None]]
    propose: Callable[[Mapping[str, str]], Awaitable[None]]


def select_settings(current: Settings, new: Settings) -> Settings:
    """Return `current` with the values of `SETTINGS` from `new`, and codes in place of the paths of catalogues."""
    languages = tuple(resolve_language(one) for one in new.exhibit.languages)
    new = new.model_copy(update={"exhibit": new.exhibit.model_copy(update={"languages": languages})})
    sections = {
        name: getattr(current, name).model_copy(
            update={key: getattr(getattr(new, name), key) for section, key in SETTINGS if section == name}
        )
        for name in ("exhibit", "voice")
    }
    return current.model_copy(update=sections)


class StaffSetup:
    """Serves the page. `file` is the settings file, None without one; `save` writes it."""

    def __init__(self, hooks: SetupHooks, file: Path | None, save: Save | None, language: str) -> None:
        self.texts = HostTexts()
        """The texts that the form begins with, set by the loop."""
        self._hooks, self._file, self._save, self._language = hooks, file, save, language
        self._one = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the page's routes."""
        return [
            json_route(PATH, self._page),
            json_route(f"{PATH}/settings", self._save_settings, "POST"),
            json_route(f"{PATH}/texts", self._draft_texts, "POST"),
        ]

    async def _page(self, request: Request) -> Response:
        session = await self._hooks.require_staff(request)
        text = catalogue(self._language).gettext
        fields, version, fault = list[tuple[str, edit.FieldContent]](), "", ""
        if self._file is not None and self._save is not None and has_right(session.person.role, "settings"):
            try:
                settings, version = await asyncio.to_thread(edit.read_written, self._file)
                found = {one.key: one for section in edit.list_settings(settings) for one in section.fields}
                fields = [(text(label), found[".".join(keys)]) for keys, label in SETTINGS.items()]
            except SettingsError as error:
                fault = str(error)
        texts = [(key, text(label), getattr(self.texts, key), key in LONG_TEXTS) for key, label in TEXTS.items()]
        head = has_right(session.person.role, "settings")
        saved = "saved" in request.query_params
        more = {} if is_loopback(requests.client_ip(request)) else {"back_s": f"{PHONE_SIGN_OUT_S:g}"}
        return self._hooks.render(
            "setup", fields=fields, version=version, fault=fault, texts=texts, head=head, saved=saved, **more
        )

    async def _save_settings(self, request: Request) -> Response:
        """Save the changes of a POST."""
        session = await self._hooks.require_staff(request)
        if not has_right(session.person.role, "settings"):
            raise RequestError("role", "only the head judge may change the settings", "ask the head judge")
        if self._file is None or self._save is None:
            raise RequestError("invalid", "this installation has no settings file", "start it with --settings FILE")
        sent = await requests.read_request(request, SettingsChange)
        if unknown := [key for key in sent.changes if tuple(key.split(".")) not in SETTINGS]:
            raise RequestError("invalid", f"these are no settings of this page: {', '.join(unknown)[:200]}")
        async with self._one:
            await asyncio.to_thread(self._save, sent.changes, sent.version)
            new, _ = await asyncio.to_thread(edit.read_written, self._file)
        await self._hooks.apply(new)
        log.info("%s changed the settings: %s", session.person.name, ", ".join(sent.changes))
        return requests.json_response({"ok": True})

    async def _draft_texts(self, request: Request) -> Response:
        """Take a draft of the texts from a POST, for the preview."""
        await self._hooks.require_staff(request)
        sent = await requests.read_request(request, TextsChange)
        await self._hooks.propose({key: text.strip() for key, text in sent.texts.items()})
        return requests.json_response({"ok": True})

"""The staff's first hour without a shell, at `/staff/setup`: settings and texts of an installation, from a phone.

Some settings are saved to the settings file by the form that a table's head judge has, and apply at once. Texts become
a draft: the staff looks at its preview, then shows it to visitors, which writes `texts.toml`. Refused input changes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pi_controller.config import Settings, edit
from pi_controller.config.fields import Keys
from pi_controller.display.i18n import Translator, resolve_language
from pi_controller.exhibit.host_files import HostTexts
from pi_controller.exhibit.orders import DraftTexts, UseSettings
from pi_controller.text import mark
from pi_controller.web import requests
from pi_controller.web.connection_limits import is_loopback
from pi_controller.web.requests import RequestError, json_route
from pi_controller.web.roles import has_right
from pi_controller.web.sessions import Session
from pi_controller.web.settings_form import Save, SettingsForm

if TYPE_CHECKING:
    from pi_controller.exhibit.staff_desk import StaffPage

HOME = "/staff"
PATH = f"{HOME}/setup"
SETTINGS_PATH = f"{PATH}/settings"
SETTINGS: tuple[Keys, ...] = (
    *(
        ("exhibit", key)
        for key in (
            *("languages", "opens", "closes", "dim_from", "dim_to", "dim_lights", "dim_page"),
            *("season_from", "season_to", "usage"),
        )
    ),
    *(("voice", key) for key in ("english", "volume", "quiet_volume", "quiet_from", "quiet_to")),
)
"""The settings that the staff can change; all others are set in the settings file."""
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
IDLE_SIGN_OUT_S = 60.0
"""The page signs out after this time without a touch, and returns to the visitors' page."""
PHONE_SIGN_OUT_S = 900.0
"""A phone of the staff signs out after this time without a touch: texts need thought."""
LONG_TEXTS = frozenset({"what", "introduction", "closed", "out_of_season", "credits"})
MAX_TEXT_CHARS = 4000


class TextsChange(msgspec.Struct, forbid_unknown_fields=True):
    """New texts by key."""

    texts: dict[TextKey, Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARS)]]


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
    """Serves the page for those signed in at `staff`, and `form` with its settings.

    `file` is the settings file, None without one.
    """

    def __init__(self, staff: StaffPage, file: Path | None, save: Save | None, tr: Translator) -> None:
        self.texts = HostTexts()
        """The texts that the form begins with, set by the loop."""
        self._staff, self._file, self._tr = staff, file, tr
        self._form = SettingsForm(file, save, tr, SETTINGS)

    def routes(self) -> list[Route]:
        """Return the page's routes."""
        return [
            json_route(PATH, self._page),
            json_route(SETTINGS_PATH, self._settings_page),
            json_route(f"{SETTINGS_PATH}/save", self._save_settings, "POST"),
            json_route(f"{PATH}/texts", self._draft_texts, "POST"),
        ]

    async def _page(self, request: Request) -> Response:
        session = await self._staff.require_staff(request)
        texts = [
            (key, self._tr.text(label), getattr(self.texts, key), key in LONG_TEXTS) for key, label in TEXTS.items()
        ]
        head = has_right(session.person.role, "settings")
        return self._staff.render("setup", texts=texts, head=head, back_s=f"{_sign_out_s(request):g}")

    async def _settings_page(self, request: Request) -> Response:
        await self._require_head(request)
        return await self._form.page(request, HOME, back_s=_sign_out_s(request))

    async def _save_settings(self, request: Request) -> Response:
        """Save the changes of a POST, and apply them."""
        session = await self._require_head(request)
        answer = await self._form.save(request, session.person.name)
        if self._file is not None:
            new, _ = await asyncio.to_thread(edit.read_written, self._file)
            await self._staff.submit(UseSettings(new))
        return answer

    async def _require_head(self, request: Request) -> Session:
        session = await self._staff.require_staff(request)
        if not has_right(session.person.role, "settings"):
            raise RequestError("role", "only the head judge may change the settings", "ask the head judge")
        return session

    async def _draft_texts(self, request: Request) -> Response:
        """Take a draft of the texts from a POST, for the preview."""
        await self._staff.require_staff(request)
        sent = await requests.read_request(request, TextsChange)
        await self._staff.submit(DraftTexts({key: text.strip() for key, text in sent.texts.items()}))
        return requests.json_response({"ok": True})


def _sign_out_s(request: Request) -> float:
    """Return the time without a touch after which a page signs out, in s: longer for a phone."""
    return IDLE_SIGN_OUT_S if is_loopback(requests.client_ip(request)) else PHONE_SIGN_OUT_S

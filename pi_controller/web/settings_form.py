"""The form of a settings file: every setting for the head judge, and a few for the staff of an installation."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pi_controller.config import edit
from pi_controller.config.fields import Keys
from pi_controller.display.game_display import key_to_words
from pi_controller.display.i18n import Translator
from pi_controller.errors import SettingsError
from pi_controller.text import Sentence
from pi_controller.web import requests
from pi_controller.web.templates import render

log = logging.getLogger(__name__)

UNITS = {
    "s": Sentence("seconds"), "ms": Sentence("milliseconds"), "min": Sentence("minutes"), "days": Sentence("days"),
    "mb": Sentence("MB"), "db": Sentence("dB"), "ma": Sentence("mA"),
}  # fmt: skip
"""The unit that the end of a key's name tells."""
TITLES = {
    "table": Sentence("Table"), "game": Sentence("Game"), "game.options": Sentence("Options of the game"),
    "teams": Sentence("Teams"), "mat": Sentence("Mat"), "board": Sentence("Mat board"),
    "board_b": Sentence("Second mat board"), "strips": Sentence("Light strips"), "buttons": Sentence("Buttons"),
    "buttons.pins": Sentence("Pins of the buttons"), "web": Sentence("Pages"), "marks": Sentence("Marks of the host"),
    "voice": Sentence("Sound"), "strikes": Sentence("Strikes"), "recording": Sentence("Recordings"),
    "backup": Sentence("Backup"), "referee": Sentence("Referee"), "referee.fouls": Sentence("Fouls"),
    "referee.answers": Sentence("Answers in time"), "hub": Sentence("Tournament hub"), "exhibit": Sentence("Exhibit"),
    "observers": Sentence("Observers"),
}  # fmt: skip
"""The heading of each section."""
NO_FILE = Sentence("There is no settings file. Start the program with '--settings table.toml'.")

Save = Callable[[Mapping[str, Any], str], str]
"""Save changes made for a version of the file; return the new version."""


class SettingsChange(msgspec.Struct, forbid_unknown_fields=True):
    """New values by key, such as "web.event", for the `version` of the settings file that the page showed."""

    version: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    changes: dict[str, Any]


class SettingsForm:
    """Shows and saves the settings in `file`, which `save` writes; both are None for a program without a file.

    `keys` limits the form to these settings; None shows all. The page is in the language of `tr`. Raises
    `SettingsError` for an unreadable file.
    """

    def __init__(
        self, file: Path | None, save: Save | None, tr: Translator, keys: Collection[Keys] | None = None
    ) -> None:
        self._file, self._save, self._tr = file, save, tr
        self._keys = None if keys is None else frozenset(".".join(one) for one in keys)
        self._in_force = "" if file is None else edit.read_written(file)[1]
        self._one = asyncio.Lock()

    async def page(self, request: Request, home: str, *, restarts: bool = False, back_s: float = 0.0) -> Response:
        """Answer with the page, which belongs to the console at `home`.

        It returns to the public page after `back_s` without a touch (0: never). With `restarts` it offers what a table
        has: a restart, the report, and the journal.
        """
        sections, version, fault = list[dict[str, Any]](), "", NO_FILE
        if self._file is not None:
            try:
                settings, version = await asyncio.to_thread(edit.read_written, self._file)
                sections, fault = describe_form(self._select(edit.list_settings(settings))), ""
            except SettingsError as error:
                fault = error.sentences[0]
        html = render(
            "settings.html",
            self._tr,
            home=home,
            sections=sections,
            version=version,
            fault=fault,
            file="" if self._file is None else str(self._file),
            back_s=back_s,
            restarts=restarts,
            saved="saved" in request.query_params,
            waits=bool(version) and version != self._in_force,
            opened=self._keys is not None,
        )
        return requests.compress(request, html.encode(), "text/html")

    async def save(self, request: Request, name: str) -> Response:
        """Save the changes that `name` sent by POST. Raises `RequestError` and `EditError`; then nothing is written."""
        sent = await requests.read_request(request, SettingsChange)
        if self._save is None:
            raise requests.RequestError("missing", "there is no settings file", NO_FILE)
        if unknown := [] if self._keys is None else [key for key in sent.changes if key not in self._keys]:
            raise requests.RequestError(
                "invalid", "this page does not have these settings: {keys}", keys=", ".join(unknown)[:200]
            )
        async with self._one:
            version = await asyncio.to_thread(self._save, sent.changes, sent.version)
        log.info("%s changed the settings: %s", name, ", ".join(sent.changes))
        return requests.json_response({"ok": True, "version": version, "waits": version != self._in_force})

    def _select(self, sections: list[edit.SectionContent]) -> list[edit.SectionContent]:
        """Return the `sections` with the fields of this form."""
        keys = self._keys
        if keys is None:
            return sections
        selected = [
            msgspec.structs.replace(one, fields=tuple(field for field in one.fields if field.key in keys))
            for one in sections
        ]
        return [one for one in selected if one.fields]


def describe_form(sections: list[edit.SectionContent]) -> list[dict[str, Any]]:
    """Return the form's sections for its template; all texts in them are sentences."""
    return [_section(one) for one in sections]


def _section(section: edit.SectionContent) -> dict[str, Any]:
    fields = [_field(field) for field in section.fields]
    changed = sum(field["value"] != field["default"] for field in fields)
    texts = {"title": TITLES[section.key], "about": Sentence(section.about)}
    return msgspec.structs.asdict(section) | texts | {"fields": fields, "changed": changed}


def _field(field: edit.FieldContent) -> dict[str, Any]:
    name, unit = field.key.rpartition(".")[2], ""
    if field.kind == "number" and (end := name.rpartition("_")[2]) in UNITS:
        name, unit = name.rpartition("_")[0], UNITS[end]
    about = field.about[:1].upper() + field.about[1:]
    more = {
        "id": "f-" + field.key.replace(".", "-"),
        "label": Sentence(key_to_words(name)),
        "unit": unit,
        "about": Sentence(about if about[-1:] in {".", ")"} else f"{about}."),
        "choices": [(one, Sentence(str(one).replace("_", " "))) for one in field.choices],
    }
    return msgspec.structs.asdict(field) | more

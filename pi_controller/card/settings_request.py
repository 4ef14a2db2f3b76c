"""The unit that writes the settings of a system service at its request (`config.request`), and what it accepts."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from pi_controller.card.changes import Change, LinkFile, WholeFile
from pi_controller.card.kiosk import serving_unit, watching_unit
from pi_controller.card.service_unit import RUN, quote_path
from pi_controller.config import edit, machine_settings
from pi_controller.config.load import read_text
from pi_controller.config.request import ANSWER, REQUEST, SaveAnswer, SaveRequest
from pi_controller.errors import SettingsError
from pi_controller.host.files import atomic_write
from pi_controller.host.place import Place
from pi_controller.host.request import read_request_file
from pi_controller.text import pack_sentence

MAX_BYTES = 65_536
MACHINE_KEYS = frozenset({"name", "hub", *(f"wifi.{key}" for key in machine_settings.Wifi.model_fields)})
"""Keys of machine.toml that the page may change."""
RESTART_AFTER_S = 2.0
"""Time for the page's last answer before the machine starts again."""


def changes(place: Place) -> list[Change]:
    """Return the files of the unit that saves settings."""
    writable = f"{quote_path(place.settings_folder)} -{RUN}"
    text = serving_unit(REQUEST, program=quote_path(place.program), writable=writable)
    return [
        WholeFile(REQUEST.path, watching_unit(REQUEST)),
        WholeFile(REQUEST.service, text),
        LinkFile(REQUEST.path.parent / "multi-user.target.wants" / REQUEST.path.name, REQUEST.path),
    ]


def accept(place: Place) -> tuple[str, bool]:
    """Save what the page asks for and answer it; return a line for the log, and True if the machine must start again.

    The line names keys and no values: one of them can be a password. Raises `SettingsError`.
    """
    asked = _read_request(place.on_disk(RUN / REQUEST.file))
    settings = place.on_disk(place.settings)
    restarts = False
    try:
        saved = _save(asked, settings)
        restarts = bool(asked.machine)
        keys = (*asked.changes, *(f"hub.{key}" for key in asked.hub), *asked.machine)
        answer, line = SaveAnswer(asked.number, saved), f"saved: {', '.join(keys)}"
    except SettingsError as error:
        issues = error.issues if isinstance(error, edit.EditError) else {}
        answer = SaveAnswer(asked.number, "", error.code, *error.sentences, issues)
        line = f"refused: {error.message}"
    atomic_write(settings.with_name(ANSWER), msgspec.json.encode(answer, enc_hook=pack_sentence), 0o644)
    return line, restarts


def _save(asked: SaveRequest, settings: Path) -> str:
    """Write table.toml and machine.toml, after both were checked; return the version of table.toml."""
    machine = settings.with_name(machine_settings.FILE)
    new_machine = change_machine(machine, asked.machine) if asked.machine else ""
    if not asked.changes and not asked.hub:
        new = read_text(settings)
    else:
        new = edit.change_version(settings, asked.version, asked.changes, asked.hub)
    if asked.machine:
        if not machine.exists():
            atomic_write(machine, b"", 0o600)
        edit.write_kept(machine, new_machine)
    edit.write_kept(settings, new)
    return edit.version_of(new)


def change_machine(path: Path, changes: Mapping[str, Any]) -> str:
    """Return the content of machine.toml at `path` with `changes`. Raises `EditError` with the fault of each key."""
    if others := sorted(set(changes) - MACHINE_KEYS):
        raise edit.EditError("this page does not have these settings: {keys}", keys=", ".join(others)[:200])
    text = read_text(path) if path.exists() else ""
    new = edit.edit_text(text, {tuple(key.split(".")): value for key, value in changes.items()})
    edit.require_valid(machine_settings.Machine, tomllib.loads(new))
    return new


def _read_request(path: Path) -> SaveRequest:
    try:
        return msgspec.json.decode(read_request_file(path, MAX_BYTES + 1), type=SaveRequest)
    except (OSError, msgspec.MsgspecError) as error:
        raise SettingsError(
            "there is no valid request in {path}", "save on the page of the settings", path=path
        ) from error

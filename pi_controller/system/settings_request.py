"""Save the settings of a system service: its page asks, and a unit of the machine writes the files.

The service may not write its settings, because the machine trusts their folder. It puts the changes into a file that a
unit watches (`kiosk.Request`); that unit refuses what the page could not change, and answers in the settings' folder.
"""

import secrets
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from pi_controller.config import edit
from pi_controller.config.load import read_text
from pi_controller.errors import SettingsError, describe_error
from pi_controller.system import machine_settings
from pi_controller.system.files import atomic_write
from pi_controller.system.install import Change, Link, WholeFile
from pi_controller.system.kiosk import Request, read_request_file
from pi_controller.system.place import Place
from pi_controller.system.service_unit import RUN, quote_path

REQUEST = Request("settings-request", "new-settings", "the head judge saves settings")
ANSWER = "settings-answer.json"
"""The answer, beside the settings."""
MAX_BYTES = 65_536
MACHINE_KEYS = frozenset({"name", "hub", *(f"wifi.{key}" for key in machine_settings.Wifi.model_fields)})
"""Keys of machine.toml that the page may change."""
ANSWER_S = 65.0
"""How long the page waits for the answer: longer than the unit may take, so that what it says afterwards holds."""
POLL_S = 0.1
RESTART_AFTER_S = 2.0
"""Time for the page's last answer before the machine starts again."""


class SaveRequest(msgspec.Struct, frozen=True):
    """Changes made for a `version` of the settings; the answer has the same `number`.

    On a card `machine` has changes of machine.toml ({"wifi.own": true}), after which the machine starts again, and
    `hub` new values of the table's section [hub].
    """

    number: str
    version: str
    changes: dict[str, Any]
    machine: dict[str, Any] = {}
    hub: dict[str, Any] = {}


class SaveAnswer(msgspec.Struct, frozen=True):
    """The new `version` of the settings, or why they were refused: `code`, `what` and the `issues` of the keys."""

    number: str
    version: str = ""
    code: str = ""
    what: str = ""
    todo: str = ""
    issues: dict[str, str] = {}


def changes(place: Place) -> list[Change]:
    """Return the files of the unit that saves settings."""
    writable = f"{quote_path(place.settings_folder)} -{RUN}"
    text = REQUEST.service_text(program=quote_path(place.program), writable=writable)
    return [
        WholeFile(REQUEST.path, REQUEST.path_text()),
        WholeFile(REQUEST.service, text),
        Link(REQUEST.path.parent / "multi-user.target.wants" / REQUEST.path.name, REQUEST.path),
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
        answer = SaveAnswer(asked.number, "", error.code, error.message, error.hint, issues)
        line = f"refused: {error.message}"
    atomic_write(settings.with_name(ANSWER), msgspec.json.encode(answer), 0o644)
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
        raise edit.EditError(f"these are no settings of this page: {', '.join(others)}"[:300])
    text = read_text(path) if path.exists() else ""
    new = edit.edit_text(text, {tuple(key.split(".")): value for key, value in changes.items()})
    edit.require_valid(machine_settings.Machine, tomllib.loads(new))
    return new


def _read_request(path: Path) -> SaveRequest:
    try:
        return msgspec.json.decode(read_request_file(path, MAX_BYTES + 1), type=SaveRequest)
    except (OSError, msgspec.MsgspecError) as error:
        raise SettingsError(f"there is no valid request in {path}", "save on the page of the settings") from error


def saver(
    file: Path, folder: str, sleep: Callable[[float], None] = time.sleep
) -> Callable[[Mapping[str, Any], str], str]:
    """Return the function that saves changes of `file`: by the machine's unit, or itself if there is none.

    `folder` is the service's run folder from systemd, "" for none.
    """
    if not folder or not REQUEST.path.exists():
        return lambda changes, version: edit.save_changes(file, changes, version)

    def save(changes: Mapping[str, Any], version: str) -> str:
        asked = SaveRequest(secrets.token_hex(8), version, dict(changes))
        return ask(asked, Path(folder) / REQUEST.file, file.with_name(ANSWER), sleep)

    return save


def ask_machine(file: Path, folder: str, machine: Mapping[str, Any], hub: Mapping[str, Any]) -> None:
    """Have the machine's unit save the choices of a card's page beside the settings `file`. Raises `EditError`.

    `folder` is the service's run folder from systemd.
    """
    version = edit.version_of(read_text(file))
    asked = SaveRequest(secrets.token_hex(8), version, {}, dict(machine), dict(hub))
    ask(asked, Path(folder) / REQUEST.file, file.with_name(ANSWER))


def ask(asked: SaveRequest, request: Path, answer: Path, sleep: Callable[[float], None] = time.sleep) -> str:
    """Write the request and wait for its answer; return the new version. Raises `EditError`."""
    try:
        atomic_write(request, msgspec.json.encode(asked), 0o600)
    except OSError as error:
        raise edit.EditError(f"the settings cannot be saved: {describe_error(error)}", "is the disk full?") from error
    for _ in range(round(ANSWER_S / POLL_S)):
        sleep(POLL_S)
        try:
            found = msgspec.json.decode(answer.read_bytes(), type=SaveAnswer)
        except (OSError, msgspec.MsgspecError):
            continue
        if found.number != asked.number:
            continue
        if found.version:
            return found.version
        kind = edit.StaleError if found.code == edit.StaleError.code else edit.EditError
        raise kind(found.what, found.todo, found.issues)
    raise edit.EditError("the machine does not save the settings", f"look at 'journalctl -u {REQUEST.service.name}'")

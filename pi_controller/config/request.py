"""Ask for changed settings: a system service may not write its own file, because the machine trusts its folder.

It puts the changes into a file that a unit of the machine watches (`host.request`); that unit refuses what the page
could not change, and answers in the settings' folder. Without such a unit the file is changed here.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from pi_controller.config import edit
from pi_controller.config.load import read_text
from pi_controller.errors import describe_error
from pi_controller.host.files import atomic_write
from pi_controller.host.request import Request
from pi_controller.text import Sentence, unpack_sentence

REQUEST = Request("settings-request", "new-settings", "the head judge saves settings")


ANSWER = "settings-answer.json"
"""The answer, beside the settings."""


ANSWER_S = 65.0
"""How long the page waits for the answer: longer than the unit may take, so that what it says afterwards holds."""


POLL_S = 0.1


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
    message: Sentence = Sentence("")
    hint: Sentence = Sentence("")
    issues: dict[str, Sentence] = {}


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
        raise edit.EditError(
            "the settings cannot be saved: {why}", "is the disk full?", why=describe_error(error)
        ) from error
    for _ in range(round(ANSWER_S / POLL_S)):
        sleep(POLL_S)
        try:
            found = msgspec.json.decode(answer.read_bytes(), type=SaveAnswer, dec_hook=unpack_sentence)
        except (OSError, msgspec.MsgspecError):
            continue
        if found.number != asked.number:
            continue
        if found.version:
            return found.version
        kind = edit.StaleError if found.code == edit.StaleError.code else edit.EditError
        raise kind(found.message, found.hint, found.issues)
    raise edit.EditError(
        "the machine does not save the settings", "look at 'journalctl -u {unit}'", unit=REQUEST.service.name
    )

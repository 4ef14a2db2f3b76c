"""Support bundle: a ZIP with the report, the versions, the settings and the last lines of the log.

It excludes names, PINs, passwords, the journal and all magnetometer readings.
"""

import io
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import cast

import msgspec

from pi_controller.card.service import run_captured
from pi_controller.config import Settings
from pi_controller.errors import UsageError, describe_error
from pi_controller.host.files import atomic_write
from pi_controller.host.place import NAME
from pi_controller.host.platform import home_folder
from pi_controller.tools.report import DoctorReport

LOG_LINES = 200
LEFT_OUT = "(left out)"
_SECRET = re.compile(r"pass|secret|token|^pin$|_pin$|key|user|mail|phone|^url$|^heartbeat$", re.IGNORECASE)
_NAMES = re.compile(r"^name$|^a$|^b$|team|player|label", re.IGNORECASE)
_WHAT = """What is in here: report.txt and report.json (what the doctor found), settings.json (the settings) and log.txt
(the last lines of the table's log). Names, PINs and passwords are left out; nothing of the journal is here, and no
reading of a magnetometer.
"""
Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


def service_log() -> str:
    """Return the last log lines of the table's service, or why there are none."""
    if shutil.which("journalctl") is None:
        return "this system keeps no service log (there is no journalctl)\n"
    try:
        command = ["journalctl", "--unit", NAME, "--lines", str(LOG_LINES), "--no-pager", "--output", "short-iso"]
        done = run_captured(command, 10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the service log cannot be read: {type(error).__name__}\n"
    return done.stdout or f"{done.stderr.strip()}\n"


def anonymous_settings(settings: Settings) -> Json:
    """Return the settings as JSON without names, PINs and passwords, and with only the last part of paths."""
    content = cast("dict[str, Json]", settings.model_dump(mode="json"))
    game = cast("dict[str, Json]", content["game"])
    rule_set = game.pop("name")  # no personal name
    content = cast("dict[str, Json]", _anonymous(content))
    cast("dict[str, Json]", content["game"])["name"] = rule_set
    return content


def _anonymous(value: Json, key: str = "") -> Json:
    match value:
        case dict():
            return {name: _anonymous(inner, name) for name, inner in value.items()}
        case list():
            return [_anonymous(inner, key) for inner in value]
        case str() if value and (_SECRET.search(key) or _NAMES.search(key)):
            return LEFT_OUT
        case str() if "/" in value and key != "port":
            return Path(value).name
        case int() if _SECRET.search(key) and key != "pin":  # the strips' `pin` is a GPIO pin
            return LEFT_OUT
        case _:
            return value


def given_names(settings: Settings) -> set[str]:
    """Return the names chosen by people: the table's, the teams', the players'."""
    found = {settings.table.name, settings.teams.a, settings.teams.b}
    found |= {name.strip() for name in settings.game.options.get("players", "").split(",")}
    return {name for name in found if name}


def redact(text: str, hidden: Iterable[str]) -> str:
    """Redact from `text` the words in `hidden`, longest first, and the path of the home folder."""
    home = str(home_folder())
    text = text.replace(home, "~") if len(home) > 1 else text
    for word in sorted(hidden, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
        text = re.sub(pattern, LEFT_OUT, text, flags=re.IGNORECASE if len(word) > 1 else 0)
    return text


def pack_bundle(report: DoctorReport, settings: Settings, log: str, more: Mapping[str, str] | None = None) -> bytes:
    """Return the bundle as a ZIP; `more` are further texts by file name, redacted like the others."""
    # a name of one letter (the teams' defaults) would redact ordinary words
    hidden = {name for name in given_names(settings) if len(name) > 1}
    lines = redact(log, hidden).splitlines()[-LOG_LINES:]
    parts = {
        "READ-ME.txt": _WHAT,
        "report.txt": redact(report.text(), hidden),
        "report.json": redact(report.json().decode(), hidden),
        "settings.json": msgspec.json.format(msgspec.json.encode(anonymous_settings(settings))).decode(),
        "log.txt": "\n".join([*lines, ""]),
        **{name: redact(text, hidden) for name, text in (more or {}).items()},
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)
    return packed.getvalue()


def write_bundle(path: Path, report: DoctorReport, settings: Settings, log: Callable[[], str] = service_log) -> None:
    """Write the bundle to `path` atomically. Raises `UsageError` if it cannot be written."""
    try:
        atomic_write(path, pack_bundle(report, settings, log()))
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {describe_error(error)}", "name a file in a folder that is writable"
        ) from error

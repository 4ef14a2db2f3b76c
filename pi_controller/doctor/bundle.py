"""A bundle to send to whoever helps: the report, the versions, the settings and the last lines of the log, as a ZIP.

It holds no names, no PINs and passwords, nothing of the journal, and no reading of a magnetometer.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from pi_controller.errors import UsageError
from pi_controller.setup.service import log_choice
from pi_controller.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_controller.doctor.report import Report
    from pi_controller.table.settings import Settings

LOG_LINES = 200
LEFT_OUT = "(left out)"
_SECRET = re.compile(r"pass|secret|token|^pin$|_pin$|key|user|mail|phone", re.IGNORECASE)
_NAMES = re.compile(r"^name$|^a$|^b$|team|player|label", re.IGNORECASE)
_WHAT = """What is in here: report.txt and report.json (what the doctor found), settings.json (the settings) and log.txt
(the last lines of the table's log). Names, PINs and passwords are left out; nothing of the journal is here, and no
reading of a magnetometer.
"""
Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


def service_log() -> str:
    """Return the last lines that the table's service logged, or why there are none."""
    if shutil.which("journalctl") is None:
        return "this system keeps no service log (there is no journalctl)\n"
    try:
        done = subprocess.run(
            ["journalctl", *log_choice(), "--lines", str(LOG_LINES), "--no-pager", "--output", "short-iso"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the service log cannot be read: {type(error).__name__}\n"
    return done.stdout or f"{done.stderr.strip()}\n"


def anonymous_settings(settings: Settings) -> Json:
    """Return the settings as JSON without names, PINs and passwords, paths by their last part only."""
    content = cast("dict[str, Json]", settings.model_dump(mode="json"))
    game = cast("dict[str, Json]", content["game"])
    kept = game.pop("name")
    content = cast("dict[str, Json]", _anonymous(content))
    cast("dict[str, Json]", content["game"])["name"] = kept  # the rule set's name is nobody's
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
        case int() if _SECRET.search(key) and key != "pin":  # the strips' pin is a pin
            return LEFT_OUT
        case _:
            return value


def names(settings: Settings) -> set[str]:
    """Return the names that people gave: the table's, the teams', the players'."""
    found = {settings.table.name, settings.teams.a, settings.teams.b}
    found |= {name.strip() for name in settings.game.options.get("players", "").split(",")}
    return {name for name in found if name}


def without(text: str, hidden: Iterable[str]) -> str:
    """Redact from `text` the words in `hidden`, longest first, and the path of anybody's home."""
    text = text.replace(str(Path.home()), "~") if len(str(Path.home())) > 1 else text
    for word in sorted(hidden, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
        text = re.sub(pattern, LEFT_OUT, text, flags=re.IGNORECASE if len(word) > 1 else 0)
    return text


def write(path: Path, report: Report, settings: Settings, log: Callable[[], str] = service_log) -> None:
    """Write the bundle to `path`, whole or not at all. Raises `UsageError` where it cannot be written."""
    # a name of one letter would blot out ordinary words; those are the teams' defaults
    hidden = {name for name in names(settings) if len(name) > 1}
    lines = without(log(), hidden).splitlines()[-LOG_LINES:]
    parts = {
        "READ-ME.txt": _WHAT,
        "report.txt": without(report.text(), hidden),
        "report.json": without(report.json().decode(), hidden),
        "settings.json": msgspec.json.format(msgspec.json.encode(anonymous_settings(settings))).decode(),
        "log.txt": "\n".join([*lines, ""]),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)
    try:
        replace_file(path, packed.getvalue())
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}", "name a file in a folder that may be written"
        ) from error

"""Runs all checks of a table for a few seconds, and reports one line for each part.

This outermost module reads clocks and waits.
"""

import io
import re
import shutil
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec
from msgspec.structs import replace
from pydantic import BaseModel

from pi_controller.board.connection import BoardConnection
from pi_controller.board.message_source import Source
from pi_controller.board.pins import STARTS_S, PinsSource
from pi_controller.calibration import profile as profiles
from pi_controller.calibration.walk import may_hide_bead
from pi_controller.config import Settings, read_settings
from pi_controller.display.sound import Sound
from pi_controller.errors import MatError, SettingsError, UsageError, describe_error
from pi_controller.runtime.assembly import make_source
from pi_controller.sensing.beads import ModuleCorrection
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.faults import Fault
from pi_controller.simulation.mat import SimListening
from pi_controller.system import doctor_checks
from pi_controller.system.files import atomic_write
from pi_controller.system.platform import home_folder
from pi_controller.system.sensor_checks import LISTEN_S, Group, Report, ReportLine, SensorListener
from pi_controller.system.service import log_choice, run_captured

ANSWER_S = 3.0
"""Longest wait for a board's answer."""
IDLE_S = 0.02
SIM_SEED = 1
SETTINGS = Group("Settings")


def examine(
    path: Path | None, sim: Sequence[Fault] | None, progress: Callable[[float], None]
) -> tuple[Report, Settings]:
    """Check the table with the settings at `path` (None: the defaults); return the report and the settings.

    `sim` are the faults of a simulated mat that is checked instead of the table's own; `progress` is called with the
    completed share of the listening time.
    """
    settings, lines = _settings(path)
    for mat, (prefix, own) in enumerate(mats := _mats(settings)):

        def share(part: float, mat: int = mat, mats: int = len(mats)) -> None:
            progress((mat + part) / mats)

        found = (
            _mat(own, share, path) if sim is None else examine_simulated(own, [] if mat else sim, share, SIM_SEED + mat)
        )
        lines += [replace(line, name=prefix + line.name) for line in found]
    lines += [*doctor_checks.buttons(settings), *doctor_checks.strips(settings)]
    for line in doctor_checks.loudspeaker(settings):
        if line is None:
            time.sleep(IDLE_S)
        else:
            lines.append(line)
    lines += _machine(settings, simulated=sim is not None)
    return Report(tuple(lines), doctor_checks.versions(), sim is not None), settings


def examine_without_mat(path: Path | None) -> tuple[Report, Settings]:
    """Check a table while its service runs: without its mat, buttons and strips, which the service holds."""
    settings, lines = _settings(path)
    return Report((*lines, *_machine(settings)), doctor_checks.versions()), settings


def examine_exhibit(path: Path | None, sound: Sound) -> Iterator[ReportLine | None]:
    """Yield the lines of an exhibit while it runs: without its service, and the mat, buttons and strips that it holds.

    Yields None while its loudspeaker `sound` plays a moment of silence.
    """
    settings, lines = _settings(path)
    section, unused = settings.exhibit, dict[str, BaseModel]()
    if section.mat != "sensors":
        unused["board"] = settings.board.model_copy(update={"port": "none"})
    if section.mat == "screen":
        unused["strips"] = settings.strips.model_copy(update={"kind": "none"})
    if section.mat == "screen" and not section.four_buttons:
        unused["buttons"] = settings.buttons.model_copy(update={"kind": "none"})
    settings = settings.model_copy(update=unused)
    yield from lines
    yield from doctor_checks.disk(settings.table.journal)
    yield from doctor_checks.machine_lines(settings)
    yield from doctor_checks.loudspeaker(settings, sound)


def _machine(settings: Settings, *, simulated: bool = False) -> list[ReportLine]:
    if simulated:  # no port is opened, so its group is not needed
        settings = settings.model_copy(update={"board": settings.board.model_copy(update={"port": "none"})})
    return [
        *doctor_checks.disk(settings.table.journal),
        *doctor_checks.machine_lines(settings),
        *doctor_checks.service_lines(),
    ]


def examine_simulated(
    settings: Settings, faults: Sequence[Fault], progress: Callable[[float], None], seed: int = SIM_SEED
) -> list[ReportLine]:
    """Return the lines for a simulated mat's sensors and link, after `LISTEN_S` virtual seconds."""
    ears = _listener(settings)
    conditions = Conditions(magnetometers=settings.magnetometers, depth_mm=settings.board.depth_mm)
    with SimListening(seed, conditions, faults) as sim:
        sim.connection.session.request_self_test()
        while sim.t < LISTEN_S:
            ears.take(sim.tick())
            progress(sim.t / LISTEN_S)
        return [*doctor_checks.link_lines(sim.connection, ears), *ears.lines()]


def _mats(settings: Settings) -> list[tuple[str, Settings]]:
    """Return each mat's prefix for its lines, and the settings with its board as [board]."""
    if settings.mat.seats != "each":
        return [("", settings)]
    return [("mat A: ", settings), ("mat B: ", settings.for_mat_b)]


def _why_no_magnetometers(settings: Settings) -> str:
    if settings.board.port == "pins":
        return "none on the Pi's own pins: the judge confirms the bead"
    return 'the judge confirms the bead: [referee] beads = "judge"' if settings.referee.beads == "judge" else ""


def _listener(
    settings: Settings, *, hidden: bool = False, correction: ModuleCorrection | None = None
) -> SensorListener:
    strikes, without = settings.strikes.detector_settings(), _why_no_magnetometers(settings)
    return SensorListener(strikes, settings.magnetometers, hidden=hidden, without=without, correction=correction)


def _mat(settings: Settings, progress: Callable[[float], None], path: Path | None) -> list[ReportLine]:
    """Return the lines for the sensors and the link of the table's own board; `path` is that of the settings."""
    source = make_source(settings)
    correction = None if path is None else _correction(settings, path.parent)
    ears = _listener(settings, hidden=may_hide_bead(settings.table.journal), correction=correction)
    try:
        match source:
            case PinsSource():
                _listen(source, ears, progress, STARTS_S)
                return [*doctor_checks.sensors(source, ears), *ears.lines()]
            case BoardConnection():
                source.session.request_self_test()
                _listen(source, ears, progress, ANSWER_S)
                return [*doctor_checks.link_lines(source, ears), *ears.lines()]
            case _:
                return [*doctor_checks.link_lines(None, ears), *ears.lines()]
    finally:
        source.close()


def _listen(source: Source, ears: SensorListener, progress: Callable[[float], None], answer_s: float) -> None:
    """Wait at most `answer_s` for the board's answer, then listen for `LISTEN_S`."""
    began = time.monotonic()
    up_at = began + answer_s
    while (now := time.monotonic()) < up_at + LISTEN_S:
        ears.take(source.step(now))
        if source.port is None:
            break  # the port is missing, and the doctor does not wait for it
        if ears.up is None:
            if now > up_at:
                break
        else:
            up_at = min(up_at, now)
            progress((now - up_at) / LISTEN_S)
        source.port.wait(IDLE_S)


def _settings(path: Path | None) -> tuple[Settings, list[ReportLine]]:
    """Return the settings (the defaults if they cannot be read) and their lines."""
    if path is None:
        return Settings(), [SETTINGS.absent("file", "no file was named: the defaults are checked")]
    try:
        settings = read_settings(path)
    except SettingsError as error:
        todo = f"'moccasin-mat check-settings {path}' shows what is wrong; the defaults are checked"
        return Settings(), [SETTINGS.fails("file", "; ".join(error.places), todo)]
    lines = [SETTINGS.passes("file", str(path))]
    for prefix, own in _mats(settings):
        lines.append(replace(_profile(own, path.parent), name=f"{prefix}profile"))
    return settings, lines


def _profile(settings: Settings, folder: Path) -> ReportLine:
    name = settings.board.profile
    if not name:
        return SETTINGS.absent("profile", "the settings name none")
    try:
        profile = profiles.load_profile(folder, name)
    except MatError as error:
        return SETTINGS.fails("profile", error.message, error.hint)
    return SETTINGS.passes("profile", f"{name}, made {profile.made}")


def _correction(settings: Settings, folder: Path) -> ModuleCorrection | None:
    """Return the correction of wrong modules in the mat's profile; None without a profile that can be read."""
    if not settings.board.profile:
        return None
    try:
        return profiles.load_profile(folder, settings.board.profile).correction()
    except MatError:  # its own line says so
        return None


# Support bundle: a ZIP with the report, the versions, the settings and the last lines of the log.
#
# It excludes names, PINs, passwords, the journal and all magnetometer readings.


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
        command = ["journalctl", *log_choice(), "--lines", str(LOG_LINES), "--no-pager", "--output", "short-iso"]
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


def pack_bundle(report: Report, settings: Settings, log: str, more: Mapping[str, str] | None = None) -> bytes:
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


def write_bundle(path: Path, report: Report, settings: Settings, log: Callable[[], str] = service_log) -> None:
    """Write the bundle to `path` atomically. Raises `UsageError` if it cannot be written."""
    try:
        atomic_write(path, pack_bundle(report, settings, log()))
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {describe_error(error)}", "name a file in a folder that is writable"
        ) from error

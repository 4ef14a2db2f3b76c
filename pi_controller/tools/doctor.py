"""Runs all checks of a table for a few seconds, and reports one line for each part.

This outermost module reads clocks and waits.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace
from pydantic import BaseModel

from pi_controller.board.connection import BoardConnection
from pi_controller.board.message_source import NoSource, Source
from pi_controller.board.pins import STARTS_S, PinsSource
from pi_controller.calibration import profile as profiles
from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.sensor_listener import LISTEN_S, SensorListener
from pi_controller.config import Settings, read_settings
from pi_controller.display.sound import AplaySound
from pi_controller.errors import MatError, SettingsError
from pi_controller.host.findings import Finding, Group
from pi_controller.journal.hidden_bead import may_hide_bead
from pi_controller.runtime.assembly import make_source
from pi_controller.simulation.board import SimBoard
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.listening import SimListening
from pi_controller.tools import doctor_checks, machine_checks, pin_checks, service_checks
from pi_controller.tools.report import DoctorReport

ANSWER_S = 3.0
"""Longest wait for a board's answer."""
IDLE_S = 0.02
SIM_SEED = 1
SETTINGS = Group("Settings")


def examine(
    path: Path | None, progress: Callable[[float], None], *, simulated: bool = False, noise: bool = False
) -> tuple[DoctorReport, Settings]:
    """Check the table with the settings at `path` (None: the defaults); return the report and the settings.

    If `simulated`, a simulated mat is checked instead of the table's own; `progress` is called with the completed share
    of the listening time. With `noise` the report describes the noise of the strike sensors.
    """
    settings, lines = _settings(path)
    for mat, (prefix, own) in enumerate(mats := _mats(settings)):

        def share(part: float, mat: int = mat, mats: int = len(mats)) -> None:
            progress((mat + part) / mats)

        if simulated:
            found = examine_simulated(own, share, SIM_SEED + mat, noise=noise)
        else:
            found = _mat(own, share, noise=noise)
        lines += [replace(line, name=prefix + line.name) for line in found]
    lines += [*pin_checks.buttons(settings), *pin_checks.strips(settings)]
    for line in machine_checks.loudspeaker(settings):
        if line is None:
            time.sleep(IDLE_S)
        else:
            lines.append(line)
    lines += _machine(settings, simulated=simulated)
    return DoctorReport(tuple(lines), machine_checks.versions(), simulated), settings


def examine_without_mat(path: Path | None) -> tuple[DoctorReport, Settings]:
    """Check a table while its service runs: without its mat, buttons and strips, which the service holds."""
    settings, lines = _settings(path)
    return DoctorReport((*lines, *_machine(settings)), machine_checks.versions()), settings


def examine_exhibit(path: Path | None, sound: AplaySound) -> Iterator[Finding | None]:
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
    yield from machine_checks.disk(settings.table.journal)
    yield from machine_checks.machine_lines(settings)
    yield from machine_checks.loudspeaker(settings, sound)


def _machine(settings: Settings, *, simulated: bool = False) -> list[Finding]:
    if simulated:  # no port is opened, so its group is not needed
        settings = settings.model_copy(update={"board": settings.board.model_copy(update={"port": "none"})})
    return [
        *machine_checks.disk(settings.table.journal),
        *machine_checks.machine_lines(settings),
        *service_checks.service_lines(),
    ]


def examine_simulated(
    settings: Settings,
    progress: Callable[[float], None],
    seed: int = SIM_SEED,
    faults: Sequence[Callable[[SimBoard], None]] = (),
    *,
    noise: bool = False,
) -> list[Finding]:
    """Return the lines for a simulated mat's sensors and link, after `LISTEN_S` virtual seconds; `faults` break it."""
    ears = _listener(settings, noise=noise)
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


def _listener(settings: Settings, *, hidden: bool = False, noise: bool = False) -> SensorListener:
    detectors = Detectors(settings.strikes.detector_settings(), settings.magnetometers)
    without = _why_no_magnetometers(settings)
    return SensorListener(detectors, settings.strikes.sensor, hidden=hidden, without=without, noise=noise)


def _mat(settings: Settings, progress: Callable[[float], None], *, noise: bool) -> list[Finding]:
    """Return the lines for the sensors and the link of the table's own board."""
    source = make_source(settings)
    ears = _listener(settings, hidden=may_hide_bead(settings.table.journal), noise=noise)
    try:
        match source:
            case PinsSource():
                _listen(source, ears, progress, STARTS_S)
                return [*pin_checks.sensors(source, ears), *ears.lines()]
            case BoardConnection():
                source.session.request_self_test()
                _listen(source, ears, progress, ANSWER_S)
                return [*doctor_checks.link_lines(source, ears), *ears.lines()]
            case NoSource():
                return [*doctor_checks.link_lines(None, ears), *ears.lines()]
            case _:
                _listen(source, ears, progress, STARTS_S)
                return [doctor_checks.driver_line(settings.board.port, source), *ears.lines()]
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


def _settings(path: Path | None) -> tuple[Settings, list[Finding]]:
    """Return the settings (the defaults if they cannot be read) and their lines."""
    if path is None:
        return Settings(), [SETTINGS.absent("file", "no file was named: the defaults are checked")]
    try:
        settings = read_settings(path)
    except SettingsError as error:
        hint = f"'moccasin-mat settings check {path}' shows what is wrong; the defaults are checked"
        return Settings(), [SETTINGS.fails("file", "; ".join(error.places), hint)]
    lines = [SETTINGS.passes("file", str(path))]
    for prefix, own in _mats(settings):
        lines.append(replace(_profile(own, path.parent), name=f"{prefix}profile"))
    return settings, lines


def _profile(settings: Settings, folder: Path) -> Finding:
    name = settings.board.profile
    if not name:
        return SETTINGS.absent("profile", "the settings name no profile")
    try:
        profile = profiles.load_profile(folder, name)
    except MatError as error:
        return SETTINGS.fails("profile", error.message, error.hint)
    return SETTINGS.passes("profile", f"{name}, made {profile.made}")

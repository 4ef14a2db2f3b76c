"""Runs all checks of a table for a few seconds and reports one line for each part.

This is the edge where clocks are read and time is waited for.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pi_controller.assembly import board
from pi_controller.calibration import profile as profiles
from pi_controller.calibration.secret import hide_open
from pi_controller.doctor import link, machine, pins, service
from pi_controller.doctor.report import Line, Report
from pi_controller.doctor.sensor_checks import LISTEN_S, Ears
from pi_controller.errors import MatError, SettingsError
from pi_controller.link.connection import BoardConnection
from pi_controller.link.pins import STARTS_S, PinsSource
from pi_controller.sim.listening import SimListening
from pi_controller.table.settings import Settings, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pi_controller.link.source import Source
    from pi_controller.sim.faulty import Fault

ANSWER_S = 3.0
"""A board that has not answered by then does not."""
IDLE_S = 0.02
SIM_SEED = 1
SETTINGS = "Settings"


def examine(
    path: Path | None, sim: Sequence[Fault] | None, progress: Callable[[float], None]
) -> tuple[Report, Settings]:
    """Return what is found of the table whose settings are at `path` (None: the defaults), and those settings.

    `sim` has the faults of a simulated mat that is looked at instead of the table's own; `progress` is called with the
    share of the listening that is over.
    """
    settings, lines = _settings(path)
    for mat, (prefix, own) in enumerate(mats := _mats(settings)):

        def share(part: float, mat: int = mat, mats: int = len(mats)) -> None:
            progress((mat + part) / mats)

        found = _mat(own, share) if sim is None else simulated(own, [] if mat else sim, share, SIM_SEED + mat)
        lines += [replace(line, name=prefix + line.name) for line in found]
    lines += [*pins.buttons(settings), *pins.strips(settings)]
    lines += [*machine.disk(settings.table.journal), *machine.lines(settings)]
    lines += service.lines()
    return Report(tuple(lines), machine.versions(), sim is not None), settings


def simulated(
    settings: Settings, faults: Sequence[Fault], progress: Callable[[float], None], seed: int = SIM_SEED
) -> list[Line]:
    """Return the lines of a simulated mat's sensors and link, after `LISTEN_S` virtual seconds."""
    ears = Ears(settings.strikes.detector(), without=_without(settings))
    with SimListening(seed, faults=faults) as sim:
        sim.connection.session.test()
        while sim.t < LISTEN_S:
            ears.take(sim.tick())
            progress(sim.t / LISTEN_S)
        return [*link.lines(sim.connection, ears), *ears.lines()]


def _mats(settings: Settings) -> list[tuple[str, Settings]]:
    """Return each mat's name, as it stands before its lines, and its settings, where [board] is its board."""
    if settings.mat.seats != "each":
        return [("", settings)]
    return [("mat A: ", settings), ("mat B: ", settings.before_b)]


def _without(settings: Settings) -> str:
    """Return why no magnetometer is looked at; empty where they are."""
    if settings.board.port == "pins":
        return "none on the Pi's own pins: the judge confirms the bead"
    return 'the judge confirms the bead: [referee] beads = "judge"' if settings.referee.beads == "judge" else ""


def _mat(settings: Settings, progress: Callable[[float], None]) -> list[Line]:
    """Return the lines of the sensors and the link of the table's own board."""
    hidden = hide_open(settings.table.journal)
    source = board(settings)
    ears = Ears(settings.strikes.detector(), hidden=hidden, without=_without(settings))
    try:
        match source:
            case PinsSource():
                _listen(source, ears, progress, STARTS_S)
                return [*pins.sensors(source, ears), *ears.lines()]
            case BoardConnection():
                source.session.test()
                _listen(source, ears, progress, ANSWER_S)
                return [*link.lines(source, ears), *ears.lines()]
            case _:
                return [*link.lines(None, ears), *ears.lines()]
    finally:
        source.close()


def _listen(source: Source, ears: Ears, progress: Callable[[float], None], answer_s: float) -> None:
    """Listen for `LISTEN_S` from the answer on, which is waited for `answer_s` at most."""
    began = time.monotonic()
    up_at = began + answer_s
    while (now := time.monotonic()) < up_at + LISTEN_S:
        ears.take(source.step(now))
        if source.port is None:
            break  # it is not there, and the doctor does not wait for it
        if ears.up is None:
            if now > up_at:
                break
        else:
            up_at = min(up_at, now)
            progress((now - up_at) / LISTEN_S)
        source.port.wait(IDLE_S)


def _settings(path: Path | None) -> tuple[Settings, list[Line]]:
    """Return the settings, the defaults where they cannot be read, and their lines."""
    if path is None:
        return Settings(), [Line(SETTINGS, "file", "not here", "no file was named: the defaults are looked at")]
    try:
        settings = load(path)
    except SettingsError as error:
        # what stands in the file may be a name or a password: only say where
        places = [re.sub(r"(:\d+: \[[\w.]+\] \w+|:\d+): .*", r"\1", line) for line in error.what.splitlines()]
        todo = f"'moccasin-mat check-settings {path}' tells what is wrong; the defaults are looked at"
        return Settings(), [Line(SETTINGS, "file", "fail", "; ".join(places), todo)]
    lines = [Line(SETTINGS, "file", "pass", str(path))]
    for prefix, own in _mats(settings):
        lines.append(replace(_profile(own, path.parent), name=f"{prefix}profile"))
    return settings, lines


def _profile(settings: Settings, folder: Path) -> Line:
    name = settings.board.profile
    if not name:
        return Line(SETTINGS, "profile", "not here", "the settings name none")
    try:
        profile = profiles.load(folder, name)
    except MatError as error:
        return Line(SETTINGS, "profile", "fail", error.what, error.todo)
    return Line(SETTINGS, "profile", "pass", f"{name}, made {profile.made}")

"""The nightly self-test: checks everything while no visitor plays, and stores its verdict until the next test.

It proceeds in short steps and pauses during a session. A test missed because the power was off is run as soon as the
installation is idle.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, time, timedelta
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Literal

import msgspec

from pi_controller.display.sound import SILENCE, Sound, SoundError
from pi_controller.display.voice import SPEECH_PROGRAM
from pi_controller.errors import MatError, describe_error
from pi_controller.exhibit.exhibit import local_time
from pi_controller.exhibit.health import WARM_C, store_state
from pi_controller.journal.verify import verify_journal
from pi_controller.system.machine_health import LOW_DISK_BYTES

if TYPE_CHECKING:
    from pi_controller.exhibit.installation import Installation

log = logging.getLogger(__name__)

Part = Literal["clock", "disk", "heat", "journals", "lights", "link", "loudspeaker", "sensors", "supply", "texts"]


class Check(msgspec.Struct, frozen=True):
    """Result of one part: `wrong` describes the fault in English, "" if the part is well."""

    part: Part
    wrong: str = ""


class Verdict(msgspec.Struct, frozen=True):
    """Results of a self-test that ended at `t`, s since 1970."""

    t: float
    checks: tuple[Check, ...]

    @property
    def wrong(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(one for one in self.checks if one.wrong)

    def __str__(self) -> str:
        if not self.wrong:
            return f"self-test: no faults ({len(self.checks)} checks)"
        return "self-test: " + "; ".join(f"{one.part}: {one.wrong}" for one in self.wrong)


class SelfTest:
    """Runs the checks of `begin` daily at `hour` (None: never).

    `local` converts to local time, `kept` stores the verdict. `begin` is called when the test starts and yields one
    check at a time.
    """

    def __init__(
        self,
        hour: time | None,
        begin: Callable[[float, Verdict | None], Iterable[Check]],
        local: Callable[[float], datetime],
        kept: Path | None = None,
    ) -> None:
        self.verdict = _load_verdict(kept)
        self.hour, self._begin, self._local, self._path = hour, begin, local, kept
        self._running: Iterator[Check] | None = None
        self._found: list[Check] = []
        self._done_for = self._last_hour(self.verdict.t) if self.verdict is not None else None

    @property
    def running(self) -> bool:
        """True while a test is in progress."""
        return self._running is not None

    def step(self, t: float, *, idle: bool) -> bool:
        """Run one step of a due test if the installation is `idle`; return True if the test has finished."""
        if not idle or self.hour is None:
            return False
        if self._running is None:
            if self._last_hour(t) == self._done_for:
                return False
            self._running, self._found = iter(self._begin(t, self.verdict)), []
        check = next(self._running, None)
        if check is not None:
            self._found.append(check)
            return False
        self._running, self._done_for = None, self._last_hour(t)
        self.verdict = Verdict(t, _merge_checks(self._found))
        log.log(logging.WARNING if self.verdict.wrong else logging.INFO, "%s", self.verdict)
        kept = msgspec.json.encode(self.verdict).decode()
        store_state(self._path, kept, "the verdict of the self-test cannot be saved for a restart")
        return True

    def _last_hour(self, t: float) -> datetime | None:
        """Return the last time before `t` at which a test was due."""
        if self.hour is None:
            return None
        now = self._local(t).replace(tzinfo=None)
        due = datetime.combine(now.date(), self.hour)
        return due if due <= now else due - timedelta(days=1)


def _merge_checks(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return one check for each part, with all its faults."""
    wrong: dict[Part, list[str]] = {}
    for check in checks:
        wrong.setdefault(check.part, []).extend(filter(None, (check.wrong,)))
    return tuple(Check(part, "; ".join(found)) for part, found in wrong.items())


def _load_verdict(path: Path | None) -> Verdict | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Verdict) if path is not None else None
    except (OSError, msgspec.MsgspecError):
        return None


def check_installation(at: Installation, t: float, before: Verdict | None) -> Iterator[Check]:
    """Yield the checks of a self-test of the installation `at` that begins at `t`, each short.

    `before` is the last verdict.
    """
    early = t < Path(__file__).stat().st_mtime or (before is not None and t < before.t)
    yield Check("clock", f"the clock says {local_time(t):%Y-%m-%d %H:%M}, which is impossible: set it" if early else "")
    health, free = at.watch.health, at.watch.health.free_bytes
    yield Check("disk", "disk space is low" if free is not None and free < LOW_DISK_BYTES else "")
    yield Check("disk", f"{health.fs_errors} errors of the file system: replace it" if health.fs_errors else "")
    yield Check("disk", _find_write_fault(at.games.folder / ".exhibit-probe"))
    hot = health.temperature_c is not None and health.temperature_c >= WARM_C
    yield Check("heat", f"{health.temperature_c:.0f} °C" if hot and health.temperature_c is not None else "")
    yield Check("supply", "the voltage was too low" if at.watch.under_voltage else "")
    if at.settings.exhibit.mat == "sensors":
        board = at.exhibit.board
        yield Check("link", "" if board is not None and board.up else "the mat's board does not answer")
        for fault in at.exhibit.sensor_faults:
            yield Check("sensors", f"{fault.sensor} of pad {fault.pad}: {fault.why}")
        for one in at.drift.report:
            what = "the disc" if one.strip is None else f"strip {one.strip + 1}"
            yield Check("sensors", f"{what} of pad {one.pad} has drifted" if one.far else "")
    if (dark := at.lights_fault()) is not None:
        yield Check("lights", dark)
    if at.settings.voice.is_audible:
        yield from _check_loudspeaker(at.sound)
    if at.settings.voice.english and which(SPEECH_PROGRAM) is None:
        yield Check("loudspeaker", f"{SPEECH_PROGRAM} is not installed, so nothing is said aloud")
    yield Check("texts", at.exhibit.host.fault)
    for path in at.games.list_journals():
        yield Check("journals", _journal_fault(path))


def _find_write_fault(probe: Path) -> str:
    """Return why a file at `probe` cannot be written; "" if it can."""
    try:
        with probe.open("wb") as file:
            file.write(b"moccasin-mat")
            file.flush()
            os.fsync(file.fileno())
        probe.unlink()
    except OSError as error:
        return f"the disk cannot be written: {describe_error(error)}"
    return ""


def _check_loudspeaker(sound: Sound) -> Iterator[Check]:
    """Play silence and yield checks meanwhile, so that no step of the loop waits for the device."""
    fault = ""
    try:
        sound.play(SILENCE, 0.0)
        while sound.is_playing():
            yield Check("loudspeaker")
    except SoundError as error:
        fault = error.message
    yield Check("loudspeaker", fault)


def _journal_fault(path: Path) -> str:
    """Return the fault of a recorded game's journal; "" if it has none."""
    try:
        found = verify_journal(path)
    except MatError as error:
        return f"{path.name}: {error.message}" if path.exists() else ""
    return f"{path.name}: {found.wrong}" if found.wrong else ""

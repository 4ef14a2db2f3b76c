"""The nightly self-test: the doctor's checks while no visitor plays, and their result until the next test.

It proceeds in short steps. A session interrupts it; then it begins anew. A test missed because the power was off is run
as soon as the installation is idle.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.sensor_listener import LISTEN_S, SensorListener
from pi_controller.errors import MatError
from pi_controller.exhibit.health import store_state
from pi_controller.host.findings import Finding, Group, find_failures
from pi_controller.journal.verify import verify_journal
from pi_controller.text import Sentence, pack_sentence, unpack_sentence

if TYPE_CHECKING:
    from pi_controller.exhibit.installation import Installation

log = logging.getLogger(__name__)

GAMES = Group("Recorded games")
Lines = Iterator[Finding | None]
"""The lines of the checks; None after a step that has no line yet."""


class SelfTestVerdict(msgspec.Struct, frozen=True):
    """The doctor's lines of a self-test that ended at `t`, s since 1970."""

    t: float
    lines: tuple[Finding, ...]

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The lines of the parts that fail."""
        return find_failures(self.lines)

    def __str__(self) -> str:
        if not self.failures:
            return f"self-test: no faults ({sum(line.outcome == 'pass' for line in self.lines)} checks)"
        return "self-test: " + "; ".join(f"{line}" for line in self.failures)


class SelfTest:
    """Runs the checks of `begin` daily at `hour` (None: never).

    `local` converts to local time, `kept` stores the verdict. `begin` is called when the test starts.
    """

    def __init__(
        self,
        hour: time | None,
        begin: Callable[[], Lines],
        local: Callable[[float], datetime],
        kept: Path | None = None,
    ) -> None:
        self.verdict = _load_verdict(kept)
        self.hour, self._begin, self._local, self._path = hour, begin, local, kept
        self._running: Lines | None = None
        self._found: list[Finding] = []
        self._done_for = self._last_hour(self.verdict.t) if self.verdict is not None else None

    @property
    def running(self) -> bool:
        """True while a test is in progress."""
        return self._running is not None

    def step(self, t: float, *, idle: bool) -> bool:
        """Run one step of a due test if the installation is `idle`; return True if the test has finished."""
        if not idle or self.hour is None:
            self._running = None
            return False
        if self._running is None:
            if self._last_hour(t) == self._done_for:
                return False
            self._running, self._found = self._begin(), []
        try:
            line = next(self._running)
        except StopIteration:
            self._finish(t)
            return True
        if line is not None:
            self._found.append(line)
        return False

    def _finish(self, t: float) -> None:
        self._running, self._done_for = None, self._last_hour(t)
        self.verdict = SelfTestVerdict(t, tuple(self._found))
        log.log(logging.WARNING if self.verdict.failures else logging.INFO, "%s", self.verdict)
        kept = msgspec.json.encode(self.verdict, enc_hook=pack_sentence).decode()
        store_state(self._path, kept, "the verdict of the self-test cannot be saved for a restart")

    def _last_hour(self, t: float) -> datetime | None:
        """Return the last time before `t` at which a test was due."""
        if self.hour is None:
            return None
        now = self._local(t).replace(tzinfo=None)
        due = datetime.combine(now.date(), self.hour)
        return due if due <= now else due - timedelta(days=1)


def _load_verdict(path: Path | None) -> SelfTestVerdict | None:
    try:
        kept = path.read_bytes() if path is not None else b""
        return msgspec.json.decode(kept, type=SelfTestVerdict, dec_hook=unpack_sentence) if kept else None
    except (OSError, msgspec.MsgspecError, KeyError):
        return None


def check_installation(at: Installation) -> Lines:
    """Yield the doctor's lines for the installation `at`: its machine, its mat's sensors, and its recorded games."""
    yield from at.examine(at.sound)
    if at.settings.exhibit.mat == "sensors":
        yield from _check_sensors(at)
    for path in at.games.list_journals():
        if (fault := _journal_fault(path)) is not None:
            wrong = Sentence.concat(": ", (path.name, fault))
            yield GAMES.fails("recorded game", wrong) if fault else GAMES.passes("recorded game")


def _check_sensors(at: Installation) -> Lines:
    """Listen to the mat for `LISTEN_S`, then yield the lines of its sensors; a bead may lie near its magnetometers."""
    without = Sentence("not checked at night: a bead may lie there")
    strikes = at.settings.strikes
    detectors = Detectors(strikes.detector_settings(), at.settings.magnetometers)
    ears = SensorListener(detectors, strikes.sensor, hidden=True, without=without)
    if at.link_up is not None:
        ears.take([at.link_up])
    at.listener, began = ears, at.now
    try:
        while at.now - began < LISTEN_S:
            yield None
    finally:
        at.listener = None
    yield from ears.lines()


def _journal_fault(path: Path) -> str | None:
    """Return the fault of a recorded game's journal, "" if it has none; None if it was removed meanwhile."""
    try:
        return verify_journal(path).wrong
    except MatError as error:
        return error.message if path.exists() else None

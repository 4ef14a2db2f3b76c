"""The nightly self-test: looks at everything while nobody plays, and gives a verdict that stands until the next.

It goes by steps, each short: a session that begins in between is waited for. A test that was missed, because the power
was off at its hour, is made up for as soon as nobody plays.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

import msgspec

from pi_controller.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import time
    from pathlib import Path

log = logging.getLogger(__name__)

Part = Literal["clock", "disk", "heat", "journals", "lights", "link", "sensors", "supply", "texts"]


class Check(msgspec.Struct, frozen=True):
    """What came of one part: `wrong` says what is, empty where it is well; in English, as logs are."""

    part: Part
    wrong: str = ""


class Verdict(msgspec.Struct, frozen=True):
    """What came of a self-test that ended at `t`, s since 1970."""

    t: float
    checks: tuple[Check, ...]

    @property
    def wrong(self) -> tuple[Check, ...]:
        """The parts that are not well."""
        return tuple(one for one in self.checks if one.wrong)

    def __str__(self) -> str:
        if not self.wrong:
            return f"self-test: all is well ({len(self.checks)} checks)"
        return "self-test: " + "; ".join(f"{one.part}: {one.wrong}" for one in self.wrong)


class SelfTest:
    """Runs the checks of `begin` at `hour` (None: never); `local` tells the time of day, `kept` keeps the verdict.

    `begin` is called at the time of the test and yields a check at a time.
    """

    def __init__(
        self,
        hour: time | None,
        begin: Callable[[float, Verdict | None], Iterable[Check]],
        local: Callable[[float], datetime],
        kept: Path | None = None,
    ) -> None:
        self.verdict = _kept(kept)
        self._hour, self._begin, self._local, self._path = hour, begin, local, kept
        self._running: Iterator[Check] | None = None
        self._found: list[Check] = []
        self._done_for = self._last_hour(self.verdict.t) if self.verdict is not None else None

    @property
    def running(self) -> bool:
        """Whether a test has begun and not ended."""
        return self._running is not None

    def step(self, t: float, *, idle: bool) -> bool:
        """Do a step of the test where it is due at `t` and nobody plays; return whether there is a new verdict."""
        if not idle or self._hour is None:
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
        self.verdict = Verdict(t, _joined(self._found))
        log.log(logging.WARNING if self.verdict.wrong else logging.INFO, "%s", self.verdict)
        if self._path is not None:
            try:
                replace_file(self._path, msgspec.json.encode(self.verdict))
            except OSError as error:
                log.warning("the verdict of the self-test is not kept for a restart: %s", error)
        return True

    def _last_hour(self, t: float) -> datetime | None:
        """Return the last time before `t` at which a test is due."""
        if self._hour is None:
            return None
        now = self._local(t).replace(tzinfo=None)
        due = datetime.combine(now.date(), self._hour)
        return due if due <= now else due - timedelta(days=1)


def _joined(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return one check a part, with all that is wrong with it."""
    wrong: dict[Part, list[str]] = {}
    for check in checks:
        wrong.setdefault(check.part, []).extend(filter(None, (check.wrong,)))
    return tuple(Check(part, "; ".join(found)) for part, found in wrong.items())


def _kept(path: Path | None) -> Verdict | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Verdict) if path is not None else None
    except (OSError, msgspec.MsgspecError):
        return None

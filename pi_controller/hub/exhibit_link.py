"""The installation's connection to a hub: an observer whose thread reports whether the installation runs.

It works only if the host has switched it on (`[exhibit] report`). A report has nothing of the visitors, and it is sent
at times that do not depend on them: at the start, after a change, and each `REPORT_S`. The game never waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, get_args

import aiomqtt
from msgspec.structs import replace

from pi_controller import __version__
from pi_controller.exhibit.faults import KINDS
from pi_controller.hub import messages, mqtt
from pi_controller.system.machine_health import MachineHealth, round_health
from pi_controller.table.table import Observer

if TYPE_CHECKING:
    from pi_controller.config import Settings
    from pi_controller.exhibit.exhibit import Exhibit
    from pi_controller.exhibit.installation import Installation

log = logging.getLogger(__name__)
REPORT_S = 300.0
"""Maximum interval between two reports."""
FREE_STEP = 100_000_000
"""The free disk space is rounded down to a multiple of this many bytes: recorded sessions need less in a day."""


def opening_of(exhibit: Exhibit, t: float) -> messages.Opening:
    """Return whether visitors can play at `t`, whether or not they do."""
    match exhibit.idle_stage(t):
        case "attract":
            return "open"
        case "notice":
            return "notice"
        case _:
            return "closed_today" if exhibit.closed_today else "closed" if exhibit.in_season else "resting"


def make_report(at: Installation, t: float) -> messages.Report:
    """Return the report of the installation at `t`; its faults are those of its staff page."""
    shown, verdict = at.staff.page.shown, at.self_test.verdict
    found = {one.kind for one in shown.faults} if shown is not None else set[str]()
    test = None if verdict is None else messages.SelfTestResult(verdict.t, tuple(one.name for one in verdict.failed))
    return messages.Report(
        name=at.settings.table.name,
        program=__version__,
        state=opening_of(at.exhibit, t),
        faults=tuple(kind for kind in KINDS if kind in found),
        self_test=test,
        machine=round_health(at.watch.health, FREE_STEP),
    )


class ExhibitLink(mqtt.BackgroundLink, Observer["Installation"]):
    """Reports the installation `name` to the hub of `venue`, under the account `broker.user`; `clock` is steady, s."""

    def __init__(self, broker: mqtt.Broker, venue: str, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._topics = [messages.topic(venue, broker.user, kind) for kind in (messages.REPORT, messages.EXHIBIT_STATE)]
        start = secrets.token_hex(4)
        self._states = {one: messages.State(one, start, name) for one in get_args(messages.Presence)}
        self._seen: object = None
        self._latest: messages.Report | None = None
        super().__init__(broker, mqtt.Will(self._topics[1], self._states["lost"]))
        self.start()

    def on_step(self, t: float, table: Installation, armed: bool) -> None:  # noqa: ARG002
        """Pass a new report to the thread, once for each renewal of the staff page."""
        shown = table.staff.page.shown
        if shown is self._seen:
            return
        self._seen, before, latest = shown, self._latest, make_report(table, t)
        self._latest = latest
        if before is None or _at_once(before) != _at_once(latest):
            self.wake()

    async def _session(self, client: aiomqtt.Client, inbound: asyncio.Queue[aiomqtt.Message]) -> None:
        told: messages.Report | None = None
        due = self._clock()
        await mqtt.publish(client, self._topics[1], self._states["ready"], retain=True)
        while True:
            closing = self._closing.is_set()
            self._news.clear()
            while not inbound.empty():  # the embedded broker also sends messages without a subscription
                inbound.get_nowait()
            latest, now = self._latest, self._clock()
            if latest is not None and (now >= due or _at_once(latest) != told):
                told, due = _at_once(latest), now + REPORT_S
                await mqtt.publish(client, self._topics[0], latest, retain=True)
            if closing:
                break
            with suppress(TimeoutError):
                async with asyncio.timeout(None if told is None else due - now):
                    await self._news.wait()
        await mqtt.publish(client, self._topics[1], self._states["stopped"], retain=True)


def _at_once(report: messages.Report) -> messages.Report:
    """Return the part of a report whose changes do not wait for the next one.

    Dangers of the machine are among its faults. That games are not recorded shows when a visitor begins one, so its
    time is not told.
    """
    faults = tuple(code for code in report.faults if code != "recording")
    return replace(report, faults=faults, machine=MachineHealth())


def make_exhibit_link(settings: Settings) -> ExhibitLink | None:
    """Return the connection to the hub in `settings`; None if none is named. Raises `SettingsError`."""
    if not settings.hub.address:
        log.warning("[exhibit] report is on, but [hub] names no hub: join one with 'moccasin-mat hub join'")
        return None
    return ExhibitLink(mqtt.account_broker(settings.hub), settings.hub.venue, settings.table.name)

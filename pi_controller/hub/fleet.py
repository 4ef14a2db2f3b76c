"""The fleet of a lender: whether each installation runs, and an alarm to a webhook if one needs somebody.

Installations send a `Report` over MQTT (`exhibit_link`). The hub stores the last one of each. `advance` decides which
alarm is due; it is pure. An alarm is stored before it is posted, so a restart of the hub neither loses nor repeats it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import msgspec
from msgspec.structs import replace

from pi_controller import __version__
from pi_controller.display.drawing import clean_name, isolate_name
from pi_controller.display.i18n import catalogue, mark
from pi_controller.exhibit.faults import STEPS, Kind
from pi_controller.hub.decision_log import DAY_FORM, format_time
from pi_controller.hub.join import is_newer_version
from pi_controller.hub.messages import EXHIBIT_STATE, REPORT, MessageError, Opening, Presence, Report, State, decode
from pi_controller.hub.mqtt import Retry
from pi_controller.hub.store import FleetStore, StoreError
from pi_controller.runtime.webhook import WebhookError, post_json
from pi_controller.text import join_words
from pi_controller.tournament.schedule import natural_order

if TYPE_CHECKING:
    from pi_controller.hub.settings import FleetSection

log = logging.getLogger(__name__)
KINDS = (EXHIBIT_STATE, REPORT)
"""In the order in which the hub subscribes: by then it is known who is connected."""
MAX_INSTALLATIONS = 256
CAN_WAIT = frozenset({"texts", "recording", "journals"})
"""Faults that stop no visitor and that the place itself mends: shown, but no reason for an alarm."""
OFF_S = 48 * 3600.0
"""An installation that was closed, or switched off properly, is lost after this time: over a closing day."""
ONSET_S = 60.0
"""A fault is alarmed after this time: after a start the board of the mat is missing for some seconds."""
CALM_S = 300.0
"""An installation is well again after this time without a reason for an alarm, s."""
FORGET_S = 30 * 86_400.0
"""An installation that is lost for this long is no longer listed: it was probably given back."""
CHECK_S = 5.0
ALARM_RETRY_S, MAX_ALARM_RETRY_S = 2.0, 600.0


class Alarm(msgspec.Struct, frozen=True):
    """A message to the webhook, decided at `t` (s since 1970), with all `reasons` of that time.

    `number` counts an installation's alarms.
    """

    event: Literal["alarm", "well"]
    t: float
    number: int
    reasons: tuple[str, ...] = ()


class Installation(msgspec.Struct, frozen=True):
    """What the hub knows of an installation. `heard`: when it last was in touch (s since 1970), None if not yet.

    `lost` stays true until it sends something. `began` has the time at which each reason for an alarm began, `alarmed`
    are those that were alarmed since it was last well, `calm_since` is when the last of them ended. `pending` is the
    alarm that the webhook has not accepted yet.
    """

    account: str
    report: Report | None = None
    presence: Presence = "lost"
    heard: float | None = None
    lost: bool = False
    began: dict[str, float] = {}
    alarmed: tuple[str, ...] = ()
    calm_since: float | None = None
    number: int = 0
    pending: Alarm | None = None


def may_be_off(one: Installation) -> bool:
    """Return whether silence is no surprise: it was closed, or switched off properly."""
    state = one.report.state if one.report is not None else "open"
    return one.presence == "stopped" or state in {"closed", "closed_today", "resting"}


def find_reasons(one: Installation) -> tuple[str, ...]:
    """Return why the installation needs somebody: "lost", codes of faults, "self_test:PART"."""
    if one.report is None:
        return ()
    found = ["lost"] if one.lost else []
    found += [code for code in one.report.faults if code not in CAN_WAIT]
    test = one.report.self_test
    found += [f"self_test:{part}" for part in (test.failed if test is not None else ())]
    return tuple(dict.fromkeys(found))


def update_lost(one: Installation, t: float, listening_s: float, lost_after_s: float) -> Installation:
    """Mark the installation as lost if it was silent for too long at `t`, s since 1970.

    `listening_s` is how long the hub has been connected to its broker: it cannot hear anybody before.
    """
    if one.lost or one.report is None or listening_s < lost_after_s:
        return one
    if may_be_off(one):
        if one.report.state == "resting":
            return one
        lost_after_s = max(lost_after_s, OFF_S)
    return replace(one, lost=True) if one.heard is None or t - one.heard >= lost_after_s else one


def advance(one: Installation, t: float) -> Installation:
    """Return the installation with the alarm that is due at `t`, s since 1970; itself if nothing changes.

    A reason that lasts is alarmed once until the installation was well, which is told once as well.
    """
    reasons = find_reasons(one)
    began = {reason: one.began.get(reason, t) for reason in reasons}
    if began != one.began:
        one = replace(one, began=began)
    lasting = tuple(reason for reason in reasons if reason == "lost" or t - began[reason] >= ONSET_S)
    if new := tuple(reason for reason in lasting if reason not in one.alarmed):
        number = one.number + 1
        alarm = Alarm("alarm", t, number, lasting)
        return replace(one, alarmed=(*one.alarmed, *new), calm_since=None, number=number, pending=alarm)
    if reasons or not one.alarmed:
        return one if one.calm_since is None else replace(one, calm_since=None)
    if one.calm_since is None:
        return replace(one, calm_since=t)
    if t - one.calm_since < CALM_S:
        return one
    number = one.number + 1
    return replace(one, alarmed=(), calm_since=None, number=number, pending=Alarm("well", t, number))


class Fleet:
    """The installations in `store`, and their alarms by the settings `section`.

    `clock` returns s since 1970, `steady` a time in s that is never set; `post` posts a body to an address.
    """

    def __init__(
        self,
        store: FleetStore,
        section: FleetSection,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
        post: Callable[[str, bytes], Awaitable[None]] = post_json,
    ) -> None:
        self._store, self._clock, self._steady, self._post = store, clock, steady, post
        self._webhook, self._lost_after_s = section.webhook, section.lost_after_min * 60.0
        self._connected_at: float | None = None
        self._unsaved: set[str] = set()
        self._known_fault = ""
        self._writing = asyncio.Lock()
        self._news, self._alarms = asyncio.Event(), asyncio.Event()
        self.installations: dict[str, Installation] = {}
        for account, body in store.read().items():
            with suppress(msgspec.MsgspecError):  # of another version: the broker has its last report
                self.installations[account] = msgspec.json.decode(body, type=Installation)

    @property
    def has_webhook(self) -> bool:
        """True if alarms are posted."""
        return bool(self._webhook)

    @property
    def is_listening(self) -> bool:
        """True if the hub is connected to its broker."""
        return self._connected_at is not None

    @contextmanager
    def listening(self) -> Generator[None]:
        """Mark the hub as connected to its broker within this context: without that, no installation counts as lost."""
        self._connected_at = self._steady()
        try:
            yield
        finally:
            self._connected_at = None

    def receive(self, account: str, kind: str, data: bytes, *, fresh: bool) -> None:
        """Process a message of `kind`; one that is not `fresh` is of the broker's memory. Raises `MessageError`."""
        one = self.installations.get(account) or Installation(account)
        if kind == REPORT:
            changed = replace(one, report=_clean(decode(data, Report), account))
        else:
            changed = replace(one, presence=decode(data, State).state)
        if account not in self.installations:
            if not fresh and changed.presence != "ready":
                return  # it may have been forgotten
            if len(self.installations) >= MAX_INSTALLATIONS:
                raise MessageError(f"there are {MAX_INSTALLATIONS} installations already")
        if fresh:
            # its last will shows that the connection lasted until then
            by_itself = kind == REPORT or changed.presence != "lost"
            heard = self._clock() if by_itself or one.presence == "ready" else one.heard
            changed = replace(changed, heard=heard, lost=one.lost and not by_itself)
        self._put(changed)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Check the installations and post alarms within this context."""
        works = [asyncio.create_task(self._guard(one)) for one in (self._watch, self._deliver)]
        try:
            yield
        finally:
            for one in works:
                one.cancel()
            await asyncio.gather(*works, return_exceptions=True)
            await self._save()

    def check(self) -> None:
        """Decide which installations are lost now, and which alarms are due."""
        t = self._clock()
        listening_s = 0.0 if self._connected_at is None else self._steady() - self._connected_at
        for one in list(self.installations.values()):
            if one.lost and one.heard is not None and t - one.heard >= FORGET_S:
                del self.installations[one.account]
                self._unsaved.add(one.account)
                continue
            found = update_lost(one, t, listening_s, self._lost_after_s)
            self._put(advance(found, t) if self._webhook else found)

    async def test_webhook(self) -> None:
        """Post a test message. Raises `WebhookError`."""
        if not self._webhook:
            raise WebhookError("no webhook is set", "write [fleet] webhook in hub.toml, and start the hub again")
        body = {"event": "test", "sent": round(self._clock()), "text": "Moccasin Mat: this is a test of the alarm."}
        await self._post(self._webhook, msgspec.json.encode(body))

    def _put(self, one: Installation) -> None:
        if self.installations.get(one.account) != one:
            self.installations[one.account] = one
            self._unsaved.add(one.account)
            self._news.set()

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception:
            log.exception("the fleet is not watched any more; the hub continues")

    async def _watch(self) -> None:
        while True:
            self._news.clear()
            self.check()
            await self._save()
            if any(one.pending is not None for one in self.installations.values()):
                self._alarms.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_S):
                    await self._news.wait()

    async def _deliver(self) -> None:
        """Post the pending alarms, the oldest first; a newer one of the same installation replaces an older one."""
        retry = Retry("the webhook", asyncio.Event(), ALARM_RETRY_S, MAX_ALARM_RETRY_S)
        while True:
            pending = [(one.pending, one) for one in self.installations.values() if one.pending is not None]
            if not pending or not self._webhook:
                self._alarms.clear()
                await self._alarms.wait()
                continue
            alarm, one = min(pending, key=lambda pair: pair[0].t)
            try:
                await self._post(self._webhook, encode_alarm(one, alarm))
            except WebhookError as error:
                await retry.wait_after_failure(error.message.partition(": ")[2] or error.message)
                continue
            retry.reset()
            log.info("the webhook accepted the message: %s of %s", alarm.event, one.account)
            now = self.installations.get(one.account)
            if now is not None and now.pending == alarm:
                self._put(replace(now, pending=None))

    async def _save(self) -> None:
        """Store the changed installations, also if the caller is cancelled meanwhile; if that fails, later."""
        await asyncio.shield(self._write())

    async def _write(self) -> None:
        async with self._writing:
            taken, self._unsaved = self._unsaved, set()
            known = {account: self.installations.get(account) for account in taken}
            bodies = {account: one and msgspec.json.encode(one).decode() for account, one in known.items()}
            try:
                await asyncio.to_thread(self._store.write, bodies)
                self._known_fault = ""
            except StoreError as error:
                self._unsaved |= taken
                if error.message != self._known_fault:
                    self._known_fault = error.message
                    log.warning("%s; will retry", error.message)


def _clean(report: Report, account: str) -> Report:
    """Return a report whose texts can be shown: on one line, without control or direction characters."""
    return replace(report, name=clean_name(report.name) or account, program=clean_name(report.program))


def encode_alarm(one: Installation, alarm: Alarm) -> bytes:
    """Return the JSON of an alarm. Its `id` is the same in each attempt, so that the receiver can drop a repetition."""
    name = one.report.name if one.report is not None else one.account
    sentences = [_describe_reason(reason, one) for reason in alarm.reasons]
    told = "; ".join(sentences) if sentences else "well again"
    body = {
        "event": alarm.event,
        "id": f"{one.account}-{alarm.number}",
        "account": one.account,
        "installation": name,
        "reasons": alarm.reasons,
        "heard": None if one.heard is None else round(one.heard),
        "sent": round(alarm.t),
        "text": f"{name}: {told}",
    }
    return msgspec.json.encode(body)


def _describe_reason(reason: str, one: Installation) -> str:
    code, _, part = reason.partition(":")
    if code == "lost":
        return f"not heard since {format_time(one.heard, '%Y-%m-%d %H:%M')}" if one.heard is not None else "not heard"
    return f"the self-test failed: {part}" if part else fault_texts(code)[0]


# The page of the fleet: a card for each installation, those that need somebody first.

_RUNNING: dict[Opening, str] = {
    "open": mark("Running"),
    "closed": mark("Closed now, by its opening hours"),
    "closed_today": mark("Closed today, by its staff"),
    "resting": mark("Closed for the season"),
    "notice": mark("Shows a notice instead of the game"),
}
_LOST_STEP = mark(
    "Ask somebody there: is its screen on? If it is, only its network is missing. If not, check its power supply."
)
_FIGURES = {"heat": mark("{name}: {n} °C"), "disk": mark("{name}: {n} MB free")}


class Card(NamedTuple):
    """An installation on the page; `level` is "now" if it needs somebody, "soon" if something is to be done, "well".

    `steps` are its faults, each with what to do. `older` is True if its program is older than this hub.
    """

    name: str
    account: str
    level: Literal["now", "soon", "well"]
    status: str
    steps: tuple[tuple[str, str], ...]
    tested: str
    failed: bool
    program: str
    older: bool


def fault_texts(code: str, text: Callable[[str], str] = str) -> tuple[str, str]:
    """Return the name of a fault and what to do, as on the installation's own page."""
    if code in STEPS:
        return cast("tuple[str, str]", tuple(map(text, STEPS[cast("Kind", code)])))
    unknown = text("A fault that this hub does not know: {code}").format(code=code)
    return unknown, text("Its staff page says what to do. Update the hub.")


def list_cards(installations: Mapping[str, Installation], language: str = "en") -> list[Card]:
    """Return the cards of all installations that have reported, the most urgent first."""
    text, known = catalogue(language).gettext, list(installations.values())
    cards = [(one, _make_card(one, one.report, text)) for one in known if one.report is not None]
    levels = ("now", "soon", "well")
    cards.sort(key=lambda pair: (levels.index(pair[1].level), not pair[0].lost, natural_order(pair[1].name)))
    return [card for _, card in cards]


def _make_card(one: Installation, report: Report, text: Callable[[str], str]) -> Card:
    away = one.presence != "ready" or one.lost
    steps = [(text("There is no connection"), text(_LOST_STEP))] if one.lost else []
    steps += [_fault_with_figure(code, report, text) for code in report.faults]
    test = report.self_test
    failed = join_words(test.failed) if test is not None else ""
    if test is not None and set(test.failed) - set(report.faults):
        steps.append((text("The self-test failed"), text("Its staff page has the details.")))
    outcome = text("failed ({time}): {parts}") if failed else text("no faults ({time})")
    tested = outcome.format(time=format_time(test.t, DAY_FORM), parts=failed) if test is not None else text("none yet")
    older = is_newer_version(__version__, report.program)
    soon = bool(steps) or report.state == "notice" or older or (away and not may_be_off(one))
    level = "now" if find_reasons(one) else "soon" if soon else "well"
    status = _describe_absence(one, text) if away else text(_RUNNING[report.state])
    return Card(
        isolate_name(report.name), one.account, level, status, tuple(steps), tested, bool(failed), report.program, older
    )


def _describe_absence(one: Installation, text: Callable[[str], str]) -> str:
    if one.heard is None:
        return text("Not heard")
    if one.lost or not may_be_off(one):
        sentence = text("Not heard since {time}")
    elif one.presence == "stopped":
        sentence = text("Switched off since {time}")
    else:
        sentence = text("Closed; not heard since {time}")
    return sentence.format(time=format_time(one.heard, DAY_FORM))


def _fault_with_figure(code: str, report: Report, text: Callable[[str], str]) -> tuple[str, str]:
    name, step = fault_texts(code, text)
    machine = report.machine
    free = None if machine.free_bytes is None else machine.free_bytes // 1_000_000
    figure = {"heat": machine.temperature_c, "disk": free}.get(code)
    if figure is None or not 0 <= figure < 1_000_000:
        return name, step
    return text(_FIGURES[code]).format(name=name, n=round(figure)), step

"""The visitors' page: the screen as one piece of HTML, pushed when it changes, and the touches sent back.

It serves the page at `/`, the host's pictures, and the log of the session (`/session.jsonl`), so that anybody can check
its seals. A touch is a POST from this page, by default only from this machine; it goes into a queue for the loop that
steps the installation. If the queue is full, the touch is dropped.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import queue
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

import msgspec
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from pi_controller.config import Settings
from pi_controller.display.i18n import catalogue, mark
from pi_controller.errors import MatError, SettingsError
from pi_controller.exhibit.exhibit import Exhibit, SessionGames
from pi_controller.exhibit.health import CrashCounter, DriftReading, Fact, KioskWatch, MachineWatch, facts
from pi_controller.exhibit.host_files import HostFiles, HostTexts
from pi_controller.exhibit.lessons import IDLE, StageName
from pi_controller.exhibit.screen import Screen, build_screen
from pi_controller.exhibit.self_test import Verdict
from pi_controller.exhibit.usage import COLUMNS, Usage
from pi_controller.web import requests
from pi_controller.web.accounts import FILE, Authenticator, PinHasher, Session, Sessions, Users
from pi_controller.web.pushed_page import PushedPage
from pi_controller.web.requests import RequestError, json_route, require_text
from pi_controller.web.roles import has_right
from pi_controller.web.sign_in import SignInRoutes
from pi_controller.web.templates import render

_STATIC = {
    "mat.css": ("pi_controller.web", "text/css"),
    "exhibit.css": ("pi_controller.exhibit", "text/css"),
    "exhibit.js": ("pi_controller.exhibit", "text/javascript"),
    "here.js": ("pi_controller.exhibit", "text/javascript"),
    "preview.css": ("pi_controller.exhibit", "text/css"),
    "staff.css": ("pi_controller.exhibit", "text/css"),
    "staff.js": ("pi_controller.exhibit", "text/javascript"),
    "judge.css": ("pi_controller.web", "text/css"),
    **{
        path.name: ("pi_controller.web", "text/javascript")  # the sign-in page is the judges' own
        for path in files("pi_controller.web").joinpath("static").iterdir()
        if path.name.endswith(".js")
    },
}
_PAGE, _SCREEN = (Path(__file__).with_name(name) for name in ("exhibit.html", "screen.html"))
MAX_WATCHERS = 16
MAX_TOUCHES = 32
"""Touches that may wait for the next step of the loop; ten hands at once need no more."""
MAX_NAME_CHARS = 40


class Touch(NamedTuple):
    """The touched control, and the number of the screen that it was on."""

    name: str
    turn: int


class PageContent(NamedTuple):
    """Content of the page: the screen, the host's texts, and the session's log so far."""

    screen: Screen
    host: HostTexts
    languages: tuple[tuple[str, str], ...]
    session_log: str


class ExhibitPage(PushedPage[PageContent]):
    """Serves an installation at `host`:`port`; `touches` is the queue of visitors' touches.

    `clock` is the installation's, `pictures` returns the host's pictures by name, `anywhere` allows touches from other
    machines. `staff` is the staff page served beside it.
    """

    def __init__(
        self,
        host: str,
        port: int,
        clock: Callable[[], float],
        pictures: Callable[[], Mapping[str, tuple[bytes, str]]],
        *,
        anywhere: bool = False,
        language: str = "en",
        staff: StaffPage | None = None,
    ) -> None:
        self.staff = staff
        self.touches: queue.Queue[Touch] = queue.Queue(MAX_TOUCHES)
        self.seen: float | None = None
        """Time of the last poll by a page on this machine's own screen."""
        self._clock, self._pictures, self._anywhere, self._language = clock, pictures, anywhere, language
        self._newest: PageContent | None = None
        super().__init__(host, port, _STATIC, MAX_WATCHERS)

    def show(self, exhibit: Exhibit) -> None:
        """Publish the current screen of `exhibit`."""
        log = exhibit.session_log
        languages = tuple((code, language_name(code)) for code in exhibit.section.languages)
        self._newest = PageContent(
            build_screen(exhibit), exhibit.host.texts, languages, "" if log is None else log.lines()
        )
        self.publish(self._newest)

    def page(self, picture: PageContent | None) -> str:
        """Return the whole page."""
        screen = None if picture is None else picture.screen
        language = screen.language if screen is not None else self._language
        return render(
            _PAGE,
            language,
            screen=self._render_screen(picture) if picture is not None else Markup(""),
            stage=screen.stage if screen is not None else "rest",
            low=screen is not None and screen.low,
            turn=screen.turn if screen is not None else 0,
            title=screen.title if screen is not None else "",
        )

    def event(self, picture: PageContent) -> tuple[str, bytes]:
        """Return the screen as HTML with the values that the page's script needs."""
        screen = picture.screen
        left = None if screen.until is None else max(0.0, round(screen.until - self._clock(), 1))
        content: dict[str, Any] = {
            "html": str(self._render_screen(picture)),
            "stage": screen.stage,
            "turn": screen.turn,
            "low": screen.low,
            "language": screen.language,
            "title": screen.title,
            "said": " ".join(filter(None, (screen.lead, screen.step.title if screen.step else ""))),
            "left": left,
            "bright": screen.bright,
        }
        return "screen", msgspec.json.encode(content)

    def extra_routes(self) -> list[Route]:
        """Return the routes for touches, pictures and the log."""
        return [
            Route("/touch", self._touch, methods=["POST"]),
            Route("/here", self._record_presence),
            Route("/healthz", _is_served),
            Route("/host/{name}", self._picture),
            Route("/session.jsonl", self._log),
            *(self.staff.routes() if self.staff is not None else ()),
        ]

    def _render_screen(self, picture: PageContent) -> Markup:
        return render_screen(picture.screen, picture.host, picture.languages)

    async def _touch(self, request: Request) -> Response:
        try:
            if not self._anywhere and not _of_this_machine(requests.client_ip(request)):
                raise RequestError(
                    "origin", "touches are accepted only from the installation's own screen", "see [exhibit] touch"
                )
            body = await requests.read_json_body(request)
            requests.reject_unknown_keys(body, "do", "turn")
            name, turn = require_text(body, "do", MAX_NAME_CHARS), body.get("turn")
            if type(turn) is not int:
                raise RequestError("invalid", "turn must be a whole number")
            self.touches.put_nowait(Touch(name, turn))
        except queue.Full:
            return requests.error_response(request, RequestError("busy", "too many touches at once"))
        except MatError as error:
            return requests.error_response(request, error)
        return requests.json_response({"ok": True}, 202)

    async def _record_presence(self, request: Request) -> Response:
        if _of_this_machine(requests.client_ip(request)):
            self.seen = self._clock()
        return Response(status_code=204)

    async def _picture(self, request: Request) -> Response:
        content, kind = self._pictures().get(request.path_params["name"], (None, ""))
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=kind)

    async def _log(self, _: Request) -> Response:
        shown = self._newest
        return PlainTextResponse("" if shown is None else shown.session_log)


async def _is_served(_: Request) -> Response:
    """Answer the kiosk's waiting page on the disk, which has no origin and waits for this page; the body is empty."""
    return Response(status_code=204, headers={"cross-origin-resource-policy": "cross-origin"})


def render_screen(
    screen: Screen, host: HostTexts, languages: Sequence[tuple[str, str]] = (), pictures: str = "/host/"
) -> Markup:
    """Return `screen` as HTML with the host's texts; `pictures` is the path of the host's pictures."""
    html = render(_SCREEN, screen.language, s=screen, host=host, languages=languages, long=range(20), pictures=pictures)
    return Markup(html)  # noqa: S704 - escaped by it


def language_name(code: str) -> str:
    """Return a language's name for itself from its catalogue's header, else its code."""
    if code == "en":
        return "English"
    named = catalogue(code).info().get("language-name", "")
    return named or code


def _of_this_machine(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def host_lines(texts: HostTexts) -> Sequence[str]:
    """Return the host's texts that visitors see, a line each, as a preview for a terminal."""
    lines = [f"{name}: {value}" for name, value in texts if isinstance(value, str) and value]
    lines += [f"label: {one.name} ({one.community})" if one.community else f"label: {one.name}" for one in texts.labels]
    return [*lines, *(f"story: {one.title}, told by {one.teller}" for one in texts.stories)]


# The staff page of an installation, at `/staff`: faults, a preview of the visitors' texts, and the staff's commands.
#
# It is behind the judges' sign-in with the same accounts (`web.sign_in`); until a PIN is made in the machine's shell,
# sign-in is impossible and no file is opened or written. The page contains no secret of a hide. Commands go through a
# queue to the loop that steps the installation; the page answers when they are done.


log = logging.getLogger(__name__)

HOME = "/staff"
MAX_NOTICE_CHARS = 300
IDLE_SIGN_OUT_S = 60.0
"""The page signs out after this time without a touch, and returns to the visitors' page."""
DAYS = 14
"""Days of use on the page; the CSV has all of them."""
_ORDER_TIMEOUT_S, _SOUND_TIMEOUT_S = 3.0, 8.0
_LOCAL_TIME = re.compile(r"20\d{2}-\d{2}-\d{2}T\d{2}:\d{2}")
_MAX_ORDERS = 8
_STAFF_PAGE, _PREVIEW, _RESET_PAGE = (
    Path(__file__).with_name(name) for name in ("staff.html", "preview.html", "reset.html")
)
RESET_RIGHT = "people"
"""The right that a reset needs: it removes all accounts."""
_HEADING = mark("Staff")
READY_NOTICES = (
    mark("Closed for a moment. Please come back later."),
    mark("Closed today. Please come back another day."),
    mark("Under repair. Please come back later."),
)
"""Notices to choose from if there is no keyboard, in the installation's first language."""

Do = Literal["notice", "end", "supply", "texts", "sound", "clock", "keys", "reset"]
PREVIEWED: tuple[StageName, ...] = ("attract", "about", "rest")
"""Stages that show the host's texts."""


@dataclass(slots=True)
class Order:
    """A command of the staff. The loop sets `done` when it is finished, and `fault` if it failed.

    `mark` identifies the texts to publish, `t` is the time to set, s since 1970. With `erased` a reset erases the old
    files.
    """

    do: Do
    notice: str
    done: threading.Event
    mark: str = ""
    t: float = 0.0
    erased: bool = False
    fault: str = ""


class Preview(NamedTuple):
    """Preview of the host's texts: each stage as HTML, and the pictures by name.

    `mark` identifies texts that wait for approval, "" if none wait.
    """

    mark: str
    stages: Mapping[str, Markup]
    pictures: Mapping[str, tuple[bytes, str]]


def preview_of(exhibit: Exhibit, games: SessionGames, t: float) -> Preview:
    """Return a preview at `t` of the waiting texts, or of the published ones if none wait."""
    host, waiting = exhibit.host, exhibit.host.waiting
    candidate = HostFiles(None)
    candidate.texts, candidate.pictures = (waiting or host).texts, (waiting or host).pictures
    always = exhibit.section.model_copy(update=dict.fromkeys(("opens", "closes", "season_from", "season_to"), ""))
    shown = Exhibit(always, games, Random(0), t, host=candidate)  # noqa: S311 - a picture, no game
    stages: dict[str, Markup] = {}
    for name in PREVIEWED:
        shown.stage = shown.stage.enter(name, t)
        screen = msgspec.structs.replace(build_screen(shown), until=None)
        stages[name] = render_screen(screen, candidate.texts, pictures=f"{HOME}/preview/host/")
    shown.close(t)
    return Preview(waiting.mark if waiting is not None else "", stages, candidate.pictures)


class StaffView(msgspec.Struct, frozen=True):
    """Content of the staff page."""

    stage: str
    notice: str
    faults: tuple[str, ...]
    hours: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    pictures: tuple[str, ...]
    """Names of the host's published pictures."""
    usage: tuple[tuple[str, ...], ...]
    csv: str
    machine: tuple[Fact, ...] = ()
    supply: bool = False
    """True if there is an under-voltage warning to dismiss."""
    drift: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...] = ()
    """By pad: the disc's noise and the strips' resting values, each with True if it has drifted too far."""
    verdict: str = ""
    tested: str = ""
    """Time of the self-test that gave the verdict."""
    can_reset: bool = False
    last_reset: str = ""
    loudspeaker: Fact | None = None
    now: str = ""
    """Date and time of the machine's clock."""
    keys: tuple[str, ...] = ()


class StaffStatus(NamedTuple):
    """State shown beside the `Exhibit`: `texts` are the host's, a line each.

    `verdict` is that of the last self-test.
    """

    usage: Usage
    recoveries: CrashCounter | None = None
    texts: tuple[str, ...] = ()
    watch: MachineWatch | None = None
    drift: tuple[DriftReading, ...] = ()
    verdict: Verdict | None = None
    update: str = ""
    """Result of the last update."""
    can_reset: bool = False
    """True if the machine takes the staff's request for a reset."""
    last_reset: str = ""
    """Result of the last reset."""
    screen: KioskWatch | None = None
    loudspeaker: Fact | None = None
    """Result of the last test sound."""
    t: float = 0.0
    """The machine's time, s since 1970."""
    keys: tuple[str, ...] = ()
    """Changes of the keys on the card, a line each, until the staff confirms them."""


def build_staff_view(
    exhibit: Exhibit, settings: Settings, known: StaffStatus, local: Callable[[float], datetime]
) -> StaffView:
    """Return the current content of the staff page; `local` converts to local time."""
    text = catalogue(exhibit.section.languages[0]).gettext
    section, voice = settings.exhibit, settings.voice
    always, never = text("always"), text("none")
    usage, watch, verdict = known.usage, known.watch, known.verdict
    machine = tuple(facts(watch, text)) if watch is not None else ()
    machine += tuple(known.screen.facts(text)) if known.screen is not None else ()
    machine += (Fact(text("Update"), known.update),) if known.update else ()
    days = sorted(usage.days.items(), reverse=True)[:DAYS]
    return StaffView(
        exhibit.stage.name,
        exhibit.notice,
        (*_faults(exhibit, known, text), *(f"{one.name}: {one.value}" for one in machine if one.wrong)),
        (
            (text("Open"), f"{section.opens} – {section.closes}" if section.opens else always),
            (text("Season"), f"{section.season_from} – {section.season_to}" if section.season_from else always),
            (text("Quiet hours"), f"{voice.quiet_from} – {voice.quiet_to}" if voice.quiet_from else never),
            (text("Dimmed"), f"{section.dim_from} – {section.dim_to}" if section.dim_from else never),
            (text("Self-test"), f"{hour:%H:%M}" if (hour := section.self_test_hour) is not None else never),
        ),
        known.texts,
        tuple(exhibit.host.pictures),
        tuple((day, *(str(counts[one]) for one in COLUMNS)) for day, counts in days) if section.usage else (),
        usage.csv() if section.usage else "",
        machine,
        watch is not None and watch.under_voltage,
        tuple(_by_pad(known.drift)),
        "" if verdict is None else str(verdict).removeprefix("self-test: "),
        "" if verdict is None else f"{local(verdict.t):%Y-%m-%d %H:%M}",
        known.can_reset,
        known.last_reset,
        known.loudspeaker,
        f"{local(known.t):%Y-%m-%d %H:%M}",
        known.keys,
    )


def _by_pad(drift: tuple[DriftReading, ...]) -> Iterable[tuple[str, tuple[tuple[str, bool], ...]]]:
    """Yield the sensors of each pad: the resting value now, and in brackets the one at calibration."""
    for pad in sorted({one.pad for one in drift}):
        yield (
            str(pad),
            tuple(
                (f"{one.now:.0f}" if one.then is None else f"{one.now:.0f} ({one.then:.0f})", one.far)
                for one in drift
                if one.pad == pad
            ),
        )


def _faults(exhibit: Exhibit, known: StaffStatus, text: Callable[[str], str]) -> list[str]:
    """Return the faults, a line each; parts that come from files and boards are in English."""
    found: list[str] = []
    if exhibit.host.fault:
        found.append(text("The host’s new texts were not used: {fault}").format(fault=exhibit.host.fault))
    if not exhibit.clock_set:
        found.append(text("The clock is not set, so opening hours do not work. Set it below."))
    if exhibit.fault:
        found.append(text("Games are not recorded: {fault}").format(fault=exhibit.fault))
    if exhibit.section.mat == "sensors":
        link = exhibit.board
        if link is None or not link.up:
            why = link.why if link is not None else ""
            found.append(text("The mat’s board does not respond. {why}").format(why=why).strip())
        found += [
            text("Pad {pad}: a sensor is faulty ({why})").format(pad=one.pad, why=one.why)
            for one in exhibit.sensor_faults
        ]
        for one in known.drift:
            if one.far and one.strip is None:
                found.append(text("Pad {pad}: the hit sensor has become noisy").format(pad=one.pad))
            elif one.far:
                found.append(text("Pad {pad}: a touch strip has drifted: calibrate the mat").format(pad=one.pad))
    recoveries = known.recoveries
    if recoveries is not None and recoveries.count:
        found.append(
            text("Restarted by itself {n} times since the machine was switched on.").format(n=recoveries.count)
        )
    return found


class StaffPage:
    """Serves `/staff` with the accounts in `folder`; `orders` is the queue for the loop. `clock` is the installation's.

    `report` makes a diagnostic report from this page's text; with None no report is offered.
    """

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], float],
        language: str,
        pins: PinHasher | None = None,
        report: Callable[[str], bytes] | None = None,
    ) -> None:
        self.orders: queue.Queue[Order] = queue.Queue(_MAX_ORDERS)
        self.shown: StaffView | None = None
        """Content of the page, set by the loop."""
        self.preview = Preview("", {}, {})
        """Preview of the host's texts, set by the loop."""
        self._path, self._clock, self._language, self._pins = folder / FILE, clock, language, pins
        self._report, self._reporting = report, threading.Lock()
        self._users: Users | None = None
        self._signing: SignInRoutes | None = None

    def routes(self) -> list[Route]:
        """Return the page's routes."""
        return [
            json_route(HOME, self._page),
            json_route(f"{HOME}/sign-in", self._sign_in, "GET", "POST"),
            json_route(f"{HOME}/sign-out", self._sign_out, "POST"),
            json_route(f"{HOME}/do", self._take_order, "POST"),
            json_route(f"{HOME}/reset", self._reset_page),
            json_route(f"{HOME}/usage.csv", self._csv),
            json_route(f"{HOME}/report.zip", self._zip),
            json_route(f"{HOME}/preview/{{stage}}", self._preview_page),
            json_route(f"{HOME}/preview/host/{{name}}", self._picture),
        ]

    def close(self) -> None:
        """Close the accounts file if it is open."""
        if self._users is not None:
            self._users.close()

    def _open_sign_in(self) -> SignInRoutes | None:
        """Return the sign-in, opened on first use; None while there are no accounts."""
        if self._signing is None and self._path.is_file():
            self._users = Users(self._path)
            authenticator = Authenticator(self._users, Sessions(self._users), self._pins or PinHasher(), self._clock)
            self._signing = SignInRoutes(authenticator, HOME, self._language, heading=_HEADING, back_s=IDLE_SIGN_OUT_S)
        return self._signing

    def _signing_in(self) -> SignInRoutes:
        signing = self._open_sign_in()
        if signing is None:
            raise RequestError("signed_out", "there are no accounts yet", "make a PIN: moccasin-mat judges new-head")
        return signing

    async def _page(self, request: Request) -> Response:
        signing = self._open_sign_in()
        if signing is None:
            return HTMLResponse(self._render_page(None, ""))
        try:
            session = await signing.require_session(request)
        except RequestError:
            return await signing.form_response()
        role = session.person.role
        allowed = has_right(role, "exhibit")
        return HTMLResponse(
            self._render_page(
                self.shown if allowed else None, session.person.name, may_reset=has_right(role, RESET_RIGHT)
            )
        )

    def _render_page(self, shown: StaffView | None, name: str, *, may_reset: bool = False) -> str:
        text = catalogue(self._language).gettext
        notices = [text(one) for one in READY_NOTICES]
        return render(
            _STAFF_PAGE,
            self._language,
            shown=shown,
            idle=IDLE,
            me=name,
            may_reset=may_reset,
            notices=notices,
            columns=COLUMNS,
            longest=MAX_NOTICE_CHARS,
            mark=self.preview.mark,
            report=self._report is not None,
            back_s=f"{IDLE_SIGN_OUT_S:g}",
        )

    async def _sign_in(self, request: Request) -> Response:
        return await self._signing_in().sign_in(request)

    async def _sign_out(self, request: Request) -> Response:
        return await self._signing_in().sign_out(request)

    async def _require_staff(self, request: Request) -> Session:
        """Return the user's session. Raises `RequestError` if their role is insufficient."""
        requests.require_same_site(request)
        session = await self._signing_in().require_session(request)
        if not has_right(session.person.role, "exhibit"):
            raise RequestError("role", "this is for judges and the head judge", "ask the head judge")
        return session

    async def _require_resetter(self, request: Request) -> Session:
        """Return the session of a user who may reset the installation. Raises `RequestError` for others."""
        session = await self._require_staff(request)
        if not has_right(session.person.role, RESET_RIGHT):
            raise RequestError("role", "only the head judge may reset the installation", "ask the head judge")
        return session

    async def _confirmed_reset(self, request: Request, body: dict[str, Any]) -> Order:
        """Return the order for a reset once the user's PIN is checked. Raises `MatError`."""
        session = await self._require_resetter(request)
        pin, erased = require_text(body, "pin", requests.MAX_PIN_CHARS), body.get("erased")
        if type(erased) is not bool:
            raise RequestError("invalid", "erased must be true or false")
        await self._signing_in().confirm_pin(request, session, pin)
        return Order("reset", "", threading.Event(), erased=erased)

    async def _take_order(self, request: Request) -> Response:
        session = await self._require_staff(request)
        body = await requests.read_json_body(request)
        requests.reject_unknown_keys(body, "do", "notice", "mark", "now", "pin", "erased")
        do = require_text(body, "do", 10)
        if do == "notice":
            order = Order("notice", require_text(body, "notice", MAX_NOTICE_CHARS, 0), threading.Event())
        elif do == "texts":
            order = Order("texts", "", threading.Event(), require_text(body, "mark", 16))
            if order.mark != self.preview.mark:
                raise RequestError("stale", "the texts have changed since", "look at the preview again")
        elif do == "clock":
            if (t := _parse_local_time(require_text(body, "now", 16))) is None:
                raise RequestError("invalid", "now must be a date and a time like 2026-11-23T14:05")
            order = Order("clock", "", threading.Event(), t=t)
        elif do == "reset":
            order = await self._confirmed_reset(request, body)
        elif do == "end" or do == "supply" or do == "sound" or do == "keys":  # noqa: PLR1714 - so that the type is narrowed
            order = Order(do, "", threading.Event())
        else:
            raise RequestError("invalid", "do must be notice, end, supply, texts, sound, clock, keys or reset")
        try:
            self.orders.put_nowait(order)
        except queue.Full:
            raise RequestError("busy", "the installation does not answer", "try again in a moment") from None
        if not await asyncio.to_thread(order.done.wait, _SOUND_TIMEOUT_S if do == "sound" else _ORDER_TIMEOUT_S):
            raise RequestError("busy", "the installation does not answer", "look again in a moment")
        if order.fault:
            raise RequestError("refused", order.fault)
        log.info("%s did at the staff page: %s", session.person.name, do)
        return requests.json_response({"ok": True})

    async def _reset_page(self, request: Request) -> Response:
        """Answer with the page that lists what a reset changes and asks for the PIN."""
        session = await self._require_resetter(request)
        if self.shown is None or not self.shown.can_reset:
            raise HTTPException(404)
        me, back_s = session.person.name, f"{IDLE_SIGN_OUT_S:g}"
        return HTMLResponse(render(_RESET_PAGE, self._language, me=me, back_s=back_s))

    async def _preview_page(self, request: Request) -> Response:
        await self._require_staff(request)
        stage = str(request.path_params["stage"])
        if (screen := self.preview.stages.get(stage)) is None:
            raise HTTPException(404)
        text = catalogue(self._language).gettext
        names = {"attract": text("Start"), "about": text("About this game"), "rest": text("Closed")}
        return HTMLResponse(
            render(
                _PREVIEW,
                self._language,
                screen=screen,
                stage=stage,
                stages=names.items(),
                mark=self.preview.mark,
                back_s=f"{IDLE_SIGN_OUT_S:g}",
            )
        )

    async def _picture(self, request: Request) -> Response:
        await self._require_staff(request)
        content, kind = self.preview.pictures.get(request.path_params["name"], (None, ""))
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=kind)

    async def _csv(self, request: Request) -> Response:
        await self._require_staff(request)
        shown = self.shown
        return Response(
            "" if shown is None else shown.csv,
            media_type="text/csv; charset=utf-8",
            headers={"content-disposition": "attachment; filename=usage.csv"},
        )

    async def _zip(self, request: Request) -> Response:
        session = await self._require_staff(request)
        if self._report is None:
            raise HTTPException(404)
        if not self._reporting.acquire(blocking=False):
            raise RequestError("busy", "a report is being made", "try again in a moment")
        try:
            content = await asyncio.to_thread(self._report, describe_installation(self.shown))
        finally:
            self._reporting.release()
        log.info("%s downloaded the report", session.person.name)
        headers = {"content-disposition": "attachment; filename=moccasin-mat-report.zip"}
        return Response(content, media_type="application/zip", headers=headers)


def describe_installation(shown: StaffView | None) -> str:
    """Return the faults, the machine's state and the self-test as text, for the report.

    Faults of settings are given by place only: a value may be a name or a password.
    """
    if shown is None:
        return ""
    faults = SettingsError("\n".join(shown.faults)).places
    machine = [f"{one.name}: {one.value}{' (wrong)' if one.wrong else ''}" for one in shown.machine]
    drift = [
        f"pad {pad}: {', '.join(f'{now}*' if far else now for now, far in sensors)}" for pad, sensors in shown.drift
    ]
    test = [f"self-test {shown.tested}: {shown.verdict}"] if shown.verdict else []
    return "\n".join(["What is wrong:", *faults, "", "Machine:", *machine, *test, "", "Sensors:", *drift, ""])


def _parse_local_time(text: str) -> float | None:
    """Return a local time like "2026-11-23T14:05" as s since 1970; None if it is malformed."""
    if not _LOCAL_TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None

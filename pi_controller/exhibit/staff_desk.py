"""The staff page of an installation, at `/staff`, and the execution of the staff's orders.

The page shows faults, a preview of the visitors' texts, and the staff's commands. It is behind the judges' sign-in with
the same accounts (`web.sign_in`); until a PIN is made in the machine's shell, sign-in is impossible and no file is
opened or written. The page contains no secret of a hide. The web's thread puts orders on a queue; `StaffDesk`
executes them in the loop that steps the installation and renews the content of the page, which then answers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from datetime import datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from markupsafe import Markup
from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pi_controller.config import Settings
from pi_controller.display import phrases
from pi_controller.display.i18n import Translator, translator
from pi_controller.display.sound import TEST_TONES, SoundError, tones
from pi_controller.errors import SettingsError, describe_error
from pi_controller.exhibit.crash_count import CrashCounter
from pi_controller.exhibit.exhibit import UNTIL_REOPENED, Exhibit
from pi_controller.exhibit.faults import STEPS, Fault, find_faults, list_steps
from pi_controller.exhibit.health import MachineWatch, WatchFact, facts, store_state
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.orders import (
    MAX_NOTICE_CHARS,
    CloseToday,
    ConfirmKeys,
    DraftTexts,
    DropDraft,
    EndSession,
    Order,
    OrderQueue,
    PlaySound,
    PublishTexts,
    Reopen,
    SetClock,
    ShowNotice,
    StaffOrder,
    UseSettings,
    WakeScreen,
)
from pi_controller.exhibit.page_watch import KioskWatch
from pi_controller.exhibit.pages import host_lines, render_screen
from pi_controller.exhibit.screen import build_screen
from pi_controller.exhibit.self_test import SelfTestVerdict
from pi_controller.exhibit.session_games import SessionGames, local_time
from pi_controller.exhibit.staff_setup import HOME, IDLE_SIGN_OUT_S, Save, StaffSetup
from pi_controller.exhibit.stage import IDLE, StageName
from pi_controller.exhibit.usage import COLUMNS, Usage, UsageBar
from pi_controller.host.files import atomic_write
from pi_controller.host.notify import last_line
from pi_controller.host.place import KEYS_CHANGED, PROGRAMS, SET_CLOCK_REQUEST
from pi_controller.host.status import CARD_FAULTS
from pi_controller.text import mark
from pi_controller.web import requests
from pi_controller.web.accounts import Authenticator
from pi_controller.web.pin_hash import PinHasher
from pi_controller.web.requests import RequestError, json_route
from pi_controller.web.roles import has_right
from pi_controller.web.sessions import Session, Sessions
from pi_controller.web.sign_in import SignInRoutes
from pi_controller.web.templates import render
from pi_controller.web.users import FILE, Users

if TYPE_CHECKING:
    from pi_controller.exhibit.installation import Installation

log = logging.getLogger(__name__)

DAYS = 14
"""Days of use on the page; the CSV has all of them."""
_ORDER_TIMEOUT_S, _SOUND_TIMEOUT_S = 3.0, 8.0
_HEADING = mark("Staff")
READY_NOTICES = (
    mark("Closed for a moment. Please come back later."),
    mark("Under repair. Please come back later."),
)
"""Notices to choose from if there is no keyboard, in the installation's first language."""

PREVIEWED: tuple[StageName, ...] = ("attract", "about", "rest")
"""Stages that show the host's texts."""
REFRESH_S = 1.0
"""Interval between refreshes of the staff page."""
NOTICE = "The staff needs to check this installation. Please come back later."
"""Notice after too many restarts. It is in English, as the host's translations may be the cause."""


class Preview(NamedTuple):
    """Preview of the host's texts: each stage as HTML; `draft` is true if visitors do not see these texts yet."""

    stages: Mapping[str, Markup]
    draft: bool = False


def preview_of(exhibit: Exhibit, games: SessionGames, t: float) -> Preview:
    """Return a preview at `t` of the draft, or of the published texts without one."""
    draft, candidate = exhibit.host.draft, HostFiles(None)
    candidate.texts = (draft or exhibit.host).texts
    always = exhibit.section.model_copy(update=dict.fromkeys(("opens", "closes", "season_from", "season_to"), ""))
    shown = Exhibit(always, games, Random(0), t, host=candidate)  # noqa: S311 - a picture, no game
    stages: dict[str, Markup] = {}
    for name in PREVIEWED:
        shown.stage = shown.stage.enter(name, t)
        screen = replace(build_screen(shown), until=None)
        stages[name] = render_screen(screen, candidate.texts)
    shown.close(t)
    return Preview(stages, draft is not None)


class StaffView(msgspec.Struct, frozen=True):
    """Content of the staff page."""

    stage: str
    notice: str
    closed: str
    """Until when the staff has closed the installation; "" if it has not."""
    faults: tuple[Fault, ...]
    hours: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    pictures: tuple[str, ...]
    """Names of the host's published pictures."""
    usage: tuple[tuple[str, ...], ...]
    chart: tuple[UsageBar, ...]
    """Sessions of the last days."""
    csv: str
    machine: tuple[WatchFact, ...] = ()
    verdict: str = ""
    tested: str = ""
    """Time of the self-test that gave the verdict."""
    loudspeaker: WatchFact | None = None
    """Result of the last test sound."""
    now: str = ""
    """Date and time of the machine's clock."""
    screen_off: bool = False
    """True while the screen is off outside the opening hours."""
    keys: tuple[str, ...] = ()
    """Changes of the keys on the card, a line each, until the staff confirms them."""


def build_staff_view(
    exhibit: Exhibit,
    settings: Settings,
    local: Callable[[float], datetime],
    t: float,
    usage: Usage,
    *,
    recoveries: CrashCounter | None = None,
    watch: MachineWatch | None = None,
    screen: KioskWatch | None = None,
    verdict: SelfTestVerdict | None = None,
    lights: str = "",
    update: str = "",
    clock_jump: tuple[float, float] | None = None,
    cut_off: int = 0,
) -> StaffView:
    """Return the content of the staff page at `t`, s since 1970; `local` converts to local time.

    `verdict` is that of the last self-test, `lights` says why the LED strip is off, `update` is the result of the last
    update. `clock_jump` is when the clock was set last and by how much, s; `cut_off` counts games that a kill ended.
    """
    tr = translator(exhibit.section.languages[0])
    section, voice = settings.exhibit, settings.voice
    always, never = tr.text("always"), tr.text("none")
    machine = tuple(facts(watch, tr)) if watch is not None else ()
    machine += tuple(screen.facts(tr)) if screen is not None else ()
    machine += (WatchFact(tr.text("Update"), update),) if update else ()
    if clock_jump is not None:
        jump = phrases.describe_clock_set(clock_jump[1], tr)
        machine += (WatchFact(tr.text("Clock"), f"{local(clock_jump[0]):%Y-%m-%d %H:%M} {jump}"),)
    if cut_off:
        ended = tr.text("{n}: the program was ended in mid-game. No seal of these can be opened.", n=cut_off)
        machine += (WatchFact(tr.text("Games cut off"), ended),)
    restarts = recoveries.count if recoveries is not None else 0
    days = sorted(usage.days.items(), reverse=True)[:DAYS]
    return StaffView(
        stage=exhibit.stage.name,
        notice=exhibit.notice,
        closed=_describe_closing(exhibit, tr),
        faults=tuple(find_faults(exhibit, machine, verdict, restarts, lights, tr)),
        hours=(
            (tr.text("Open"), f"{section.opens} – {section.closes}" if section.opens else always),
            (tr.text("Season"), f"{section.season_from} – {section.season_to}" if section.season_from else always),
            (tr.text("Quiet hours"), f"{voice.quiet_from} – {voice.quiet_to}" if voice.quiet_from else never),
            (tr.text("Dimmed"), f"{section.dim_from} – {section.dim_to}" if section.dim_from else never),
            (tr.text("Self-test"), f"{hour:%H:%M}" if (hour := section.self_test_hour) is not None else never),
        ),
        texts=tuple(host_lines(exhibit.host.texts)),
        pictures=tuple(exhibit.host.pictures),
        usage=tuple((day, *(str(counts[one]) for one in COLUMNS)) for day, counts in days) if section.usage else (),
        chart=usage.bars(local(t).date(), DAYS) if section.usage else (),
        csv=usage.csv() if section.usage else "",
        machine=machine,
        verdict="" if verdict is None else str(verdict).removeprefix("self-test: "),
        tested="" if verdict is None else f"{local(verdict.t):%Y-%m-%d %H:%M}",
        now=f"{local(t):%Y-%m-%d %H:%M}",
        screen_off=exhibit.screen_off,
    )


def _describe_closing(exhibit: Exhibit, tr: Translator) -> str:
    if not exhibit.closed_today or (until := exhibit.closed_until) is None:
        return ""
    if until == UNTIL_REOPENED:
        return tr.text("Closed until you open it again.")
    return tr.text("Closed until {time}.", time=f"{until:%Y-%m-%d %H:%M}")


class StaffPage:
    """Serves `/staff` with the accounts in `folder`; `orders` is the loop's queue. `clock` is the installation's.

    `report` makes a diagnostic report from this page's text; with None no report is offered. `file` is the settings
    file, which `save` writes; None without one.
    """

    def __init__(
        self,
        folder: Path,
        orders: OrderQueue,
        clock: Callable[[], float],
        tr: Translator,
        pins: PinHasher | None = None,
        report: Callable[[str], bytes] | None = None,
        file: Path | None = None,
        save: Save | None = None,
    ) -> None:
        self.setup = StaffSetup(self, file, save, tr)
        self._orders = orders
        self.shown: StaffView | None = None
        """Content of the page; the loop publishes it."""
        self.seq = 0
        """The number of that content; it rises with each change."""
        self.preview = Preview({})
        """Preview of the host's texts, set by the loop."""
        self._path, self._clock, self._tr, self._pins = folder / FILE, clock, tr, pins
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
            json_route(f"{HOME}/problems", self._problems_page),
            *self.setup.routes(),
            json_route(f"{HOME}/usage.csv", self._csv),
            json_route(f"{HOME}/report.zip", self._zip),
            json_route(f"{HOME}/preview/{{stage}}", self._preview_page),
        ]

    def publish(self, view: StaffView) -> None:
        """Make `view` the content of the page."""
        if view != self.shown:
            self.shown, self.seq = view, self.seq + 1

    def close(self) -> None:
        """Close the accounts file if it is open."""
        if self._users is not None:
            self._users.close()

    def _open_sign_in(self) -> SignInRoutes | None:
        """Return the sign-in, opened on first use; None while there are no accounts."""
        if self._signing is None and self._path.is_file():
            self._users = Users(self._path)
            authenticator = Authenticator(self._users, Sessions(self._users), self._pins or PinHasher(), self._clock)
            self._signing = SignInRoutes(authenticator, HOME, self._tr, heading=_HEADING, back_s=IDLE_SIGN_OUT_S)
        return self._signing

    def _signing_in(self) -> SignInRoutes:
        signing = self._open_sign_in()
        if signing is None:
            raise RequestError("signed_out", "there are no accounts yet", "make a PIN: moccasin-mat judges new-head")
        return signing

    async def _page(self, request: Request) -> Response:
        signing = self._open_sign_in()
        if signing is None:
            return self._render_page(None, "")
        try:
            session = await signing.require_session(request)
        except RequestError:
            return await signing.form_response(request)
        shown = self.shown if has_right(session.person.role, "exhibit") else None
        return self._render_page(shown, session.person.name)

    def _render_page(self, shown: StaffView | None, name: str) -> Response:
        return self.render(
            "staff",
            shown=shown,
            idle=IDLE,
            me=name,
            notices=[self._tr.text(one) for one in READY_NOTICES],
            columns=COLUMNS,
            kinds=(
                ("mat", self._tr.text("Against the mat")),
                ("teams", self._tr.text("Two sides")),
                ("learn", self._tr.text("Show me how")),
            ),
            longest=MAX_NOTICE_CHARS,
            report=self._report is not None,
        )

    def render(self, page: str, **values: object) -> Response:
        """Return the page `page`.html with `values`, whether there is a draft of texts, and the time to sign out."""
        path = Path(__file__).with_name(f"{page}.html")
        values = {"draft": self.preview.draft, "back_s": f"{IDLE_SIGN_OUT_S:g}", "seq": self.seq} | values
        return HTMLResponse(render(path, self._tr, **values))

    async def _sign_in(self, request: Request) -> Response:
        return await self._signing_in().sign_in(request)

    async def _sign_out(self, request: Request) -> Response:
        return await self._signing_in().sign_out(request)

    async def require_staff(self, request: Request) -> Session:
        """Return the user's session. Raises `RequestError` if their role is insufficient."""
        requests.require_same_site(request)
        session = await self._signing_in().require_session(request)
        if not has_right(session.person.role, "exhibit"):
            raise RequestError("role", "this is for judges and the head judge", "ask the head judge")
        return session

    async def _take_order(self, request: Request) -> Response:
        session = await self.require_staff(request)
        order: StaffOrder = await requests.read_request(request, cast("Any", StaffOrder))
        await self.submit(order)
        log.info("%s did at the staff page: %s", session.person.name, order.__struct_config__.tag)
        return requests.json_response({"ok": True})

    async def submit(self, order: Order) -> None:
        """Let the loop execute an order. Raises `MatError` if it was refused or not executed in time."""
        await self._orders.submit(order, _SOUND_TIMEOUT_S if isinstance(order, PlaySound) else _ORDER_TIMEOUT_S)

    async def _problems_page(self, request: Request) -> Response:
        """Answer with the faults found now, and all kinds of faults, each with the next step."""
        await self.require_staff(request)
        shown = self.shown
        return self.render("problems", faults=() if shown is None else shown.faults, steps=list_steps(self._tr))

    async def _preview_page(self, request: Request) -> Response:
        await self.require_staff(request)
        stage = str(request.path_params["stage"])
        if (screen := self.preview.stages.get(stage)) is None:
            raise HTTPException(404)
        names = {
            "attract": self._tr.text("Start"),
            "about": self._tr.text("About this game"),
            "rest": self._tr.text("Closed"),
        }
        return self.render("preview", screen=screen, stage=stage, stages=names.items())

    async def _csv(self, request: Request) -> Response:
        await self.require_staff(request)
        return requests.download("" if self.shown is None else self.shown.csv, "usage.csv")

    async def _zip(self, request: Request) -> Response:
        session = await self.require_staff(request)
        if self._report is None:
            raise HTTPException(404)
        if not self._reporting.acquire(blocking=False):
            raise RequestError("busy", "a report is being made", "try again in a moment")
        try:
            content = await asyncio.to_thread(self._report, describe_installation(self.shown))
        finally:
            self._reporting.release()
        log.info("%s downloaded the report", session.person.name)
        return requests.download(content, "moccasin-mat-report.zip")


def describe_installation(shown: StaffView | None) -> str:
    """Return the faults, the machine's state and the self-test as text, for the report.

    Faults of settings are given by place only: a value may be a name or a password.
    """
    if shown is None:
        return ""
    faults = SettingsError("\n".join(one.message for one in shown.faults)).places
    machine = [f"{one.name}: {one.value}{' (wrong)' if one.wrong else ''}" for one in shown.machine]
    test = [f"self-test {shown.tested}: {shown.verdict}"] if shown.verdict else []
    return "\n".join(["What is wrong:", *faults, "", "Machine:", *machine, *test, ""])


class StaffDesk:
    """Executes the staff's orders at the installation `at` and renews its `page`; times are s since 1970.

    `key_changes` is the file that lists changes of the keys on the card.
    """

    def __init__(self, at: Installation, page: StaffPage, key_changes: Path, t: float) -> None:
        self.page = page
        self._at, self._exhibit = at, at.exhibit
        self._sound_ended: Future[None] | None = None
        self._loudspeaker: WatchFact | None = None
        self._key_changes, self._keys_seen = key_changes, at.games.folder / ".exhibit-keys"
        changes, seen = _read_lines(key_changes), set(_read_lines(self._keys_seen))
        self._keys = tuple(one for one in changes if one not in seen)
        self._exhibit.keys_changed = bool(self._keys)
        self._notice = at.state_file(".exhibit-notice")
        if notice := NOTICE if at.recoveries is not None and at.recoveries.too_many else self._kept_notice():
            self._exhibit.set_notice(t, notice)
        self._closed = at.state_file(".exhibit-closed")
        self._exhibit.closed_until = self._kept_closing()
        self._previewed: object = None
        self.read_machine()
        self.refresh(t)

    def step(self, t: float) -> None:
        """Report the test sound once it has ended."""
        if self._sound_ended is not None:
            try:
                if not self._at.sound.is_playing():
                    self._report_sound(t, "")
            except SoundError as error:
                self._report_sound(t, error.message)

    def read_machine(self) -> None:
        """Read the result of the last update."""
        self._update = last_line(PROGRAMS)

    def refresh(self, t: float, *, at_once: bool = True) -> None:
        """Renew the content of the page; unless `at_once`, no more often than each `REFRESH_S`."""
        if not at_once and t - self._refreshed < REFRESH_S:
            return
        self._refreshed = t
        at, host = self._at, self._exhibit.host
        if (previewed := (host.texts, host.draft)) != self._previewed:
            self._previewed = previewed
            self.page.preview = preview_of(self._exhibit, at.games, t)
            self.page.setup.texts = (host.draft or host).texts
        shown = build_staff_view(
            self._exhibit,
            at.settings,
            local_time,
            at.wall_time(t),
            at.usage,
            recoveries=at.recoveries,
            watch=at.watch,
            screen=at.screen,
            verdict=at.self_test.verdict,
            lights=at.lights_fault(),
            update=self._update,
            clock_jump=at.clock_jump,
            cut_off=at.cut_off,
        )
        faults = (*shown.faults, *self._card_faults())
        self.page.publish(replace(shown, faults=faults, loudspeaker=self._loudspeaker, keys=self._keys))

    def execute(self, t: float, order: Order) -> Future[None] | None:
        """Execute an order of the staff, and renew the page. A test sound answers once it has ended."""
        match order:
            case PlaySound():
                return self._play_sound(t)
            case EndSession():
                self._exhibit.end_session(t)
            case PublishTexts():
                self._exhibit.host.publish()
            case DraftTexts(texts):
                self._exhibit.host.propose(texts)
            case DropDraft():
                self._exhibit.host.discard_draft()
            case UseSettings(settings):
                self._at.apply_settings(settings)
            case ConfirmKeys():
                self._confirm_keys()
            case SetClock():
                _request_clock(order.t)
            case CloseToday():
                self._exhibit.close_today(t)
                self._keep(self._closed, f"{self._exhibit.closed_until}")
            case Reopen():
                self._exhibit.closed_until = None
                self._keep(self._closed, "")
            case WakeScreen():
                self._exhibit.wake(t)
            case ShowNotice(notice):
                self._exhibit.set_notice(t, notice)
                self._keep(self._notice, self._exhibit.notice)
        self._exhibit.tick(t)
        self.refresh(t)
        return None

    def _confirm_keys(self) -> None:
        """Save that the staff has seen the changes of the keys."""
        seen = "\n".join(_read_lines(self._key_changes))
        store_state(self._keys_seen, seen, "cannot save that the keys were confirmed")
        self._keys = ()
        self._exhibit.keys_changed = False

    def _play_sound(self, t: float) -> Future[None]:
        """Play the test sound for the staff, at the voice's volume for this hour."""
        ended = self._sound_ended = Future()
        try:
            volume = self._at.settings.voice.volume_at(self._at.local(t).time())
            self._at.sound.play(tones(*TEST_TONES), volume)
        except SoundError as error:
            self._report_sound(t, error.message)
        return ended

    def _report_sound(self, t: float, fault: str) -> None:
        ended, self._sound_ended = self._sound_ended, None
        tr = translator(self._exhibit.section.languages[0])
        self._loudspeaker = WatchFact(
            tr.text("Loudspeaker"), fault or tr.text("The test sound was played."), bool(fault)
        )
        self.refresh(t)
        if ended is not None:
            ended.set_result(None)

    def _card_faults(self) -> list[Fault]:
        """Return the faults in the files that a laptop writes on the card, without changed keys."""
        keys = _read_lines(self._key_changes)
        told = (one for one in _read_lines(CARD_FAULTS) if one not in keys)
        step = translator(self._exhibit.section.languages[0]).text(STEPS["settings"][1])
        return [Fault("settings", one, step) for one in told if one and not one.startswith(KEYS_CHANGED)]

    def _kept_notice(self) -> str:
        """Return the staff's notice saved before the last start."""
        try:
            return self._notice.read_text("utf-8")[:MAX_NOTICE_CHARS].strip() if self._notice is not None else ""
        except (OSError, UnicodeError):
            return ""

    def _kept_closing(self) -> datetime | None:
        """Return until when the staff had closed the installation before the last start."""
        try:
            if self._closed is None:
                return None
            return datetime.fromisoformat(self._closed.read_text("utf-8")).replace(tzinfo=None)
        except (OSError, ValueError):
            return None

    def _keep(self, path: Path | None, content: str) -> None:
        """Save the staff's notice or closing, so that it is shown again after a power cut; remove the file if empty."""
        if content or path is None:
            store_state(path, content, "the staff's notice or closing cannot be saved for the next start")
            return
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("the staff's notice or closing cannot be saved for the next start: %s", describe_error(error))


def _request_clock(t: float) -> None:
    """Ask the machine to set its clock to `t`; the installation follows it at its next poll. Raises `RequestError`."""
    folder = os.environ.get("RUNTIME_DIRECTORY", "")
    try:
        if not folder:
            raise FileNotFoundError("this installation is not run by a system service")
        atomic_write(Path(folder) / SET_CLOCK_REQUEST, f"{t:.0f}".encode())
    except OSError as error:
        raise RequestError("refused", "the clock cannot be set: {why}", why=describe_error(error)) from error


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file; none if it cannot be read."""
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []

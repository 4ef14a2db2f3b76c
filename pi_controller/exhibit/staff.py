"""The staff page of an installation, at `/staff`: what is wrong, what visitors see, and what the staff may do about it.

It is behind the judges' sign-in and their people (`web.sign_in`); nobody can sign in until a PIN was made in the
machine's shell, and until then nothing is opened or written. What is on it is of the installation: nothing of a hide.
What is done goes through a queue to the loop that steps the installation, and is answered when it is done.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from pi_controller.exhibit.exhibit import Exhibit, Games
from pi_controller.exhibit.host_files import HostFiles
from pi_controller.exhibit.machine_watch import Fact, MachineWatch, facts
from pi_controller.exhibit.page import drawn
from pi_controller.exhibit.screen import screen_of
from pi_controller.exhibit.stage import IDLE
from pi_controller.exhibit.usage import COLUMNS
from pi_controller.show.i18n import catalogue, mark
from pi_controller.web.request_body import RefusedError, answer, guarded_route, only, same_site, sent, text_of
from pi_controller.web.sign_in import SignIn
from pi_controller.web.signing.authenticator import Authenticator
from pi_controller.web.signing.pins import Pins
from pi_controller.web.signing.roles import may
from pi_controller.web.signing.sessions import Sessions
from pi_controller.web.signing.users import FILE, Users
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.routing import Route

    from pi_controller.exhibit.drift import Drifted
    from pi_controller.exhibit.kiosk_watch import KioskWatch
    from pi_controller.exhibit.recoveries import Recoveries
    from pi_controller.exhibit.self_test import Verdict
    from pi_controller.exhibit.stage import StageName
    from pi_controller.exhibit.usage import Usage
    from pi_controller.table.settings import Settings

log = logging.getLogger(__name__)

HOME = "/staff"
LONGEST_NOTICE = 300
BACK_S = 60.0
"""So long nobody touches the page, and it signs out and makes room for visitors."""
DAYS = 14
"""Days of use that the page shows; the CSV has all."""
_DONE_S = 3.0
_MOST = 8
_PAGE, _PREVIEW = (Path(__file__).with_name(name) for name in ("staff.html", "preview.html"))
_HEADING = mark("Staff")
READY_NOTICES = (
    mark("Closed for a moment. Please come back later."),
    mark("Closed today. Please come back another day."),
    mark("Something is being repaired. Please come back later."),
)
"""To be touched where there is no keyboard, in the installation's first language."""

Do = Literal["notice", "end", "supply", "texts"]
PREVIEWED: tuple[StageName, ...] = ("attract", "about", "rest")
"""The stages that show the host's texts."""


class Order(NamedTuple):
    """What the staff wants done; `done` is set when it is. `mark` says which texts are to be shown."""

    do: Do
    notice: str
    done: threading.Event
    mark: str = ""


class Preview(NamedTuple):
    """What visitors see, or would see, of the host's texts: each stage as HTML, and the pictures by name.

    `mark` stands for texts that wait, empty where none do.
    """

    mark: str
    stages: Mapping[str, Markup]
    pictures: Mapping[str, tuple[bytes, str]]


def preview_of(exhibit: Exhibit, games: Games, t: float) -> Preview:
    """Return a preview of the texts that wait, or else of those that visitors see, as at `t`."""
    host, waiting = exhibit.host, exhibit.host.waiting
    candidate = HostFiles(None)
    candidate.texts, candidate.pictures = (waiting or host).texts, (waiting or host).pictures
    always = exhibit.section.model_copy(update=dict.fromkeys(("opens", "closes", "season_from", "season_to"), ""))
    shown = Exhibit(always, games, Random(0), t, host=candidate)  # noqa: S311 - a picture, no game
    stages: dict[str, Markup] = {}
    for name in PREVIEWED:
        shown.stage = shown.stage.enter(name, t)
        screen = msgspec.structs.replace(screen_of(shown), until=None)
        stages[name] = drawn(screen, candidate.texts, pictures=f"{HOME}/preview/host/")
    shown.close(t)
    return Preview(waiting.mark if waiting is not None else "", stages, candidate.pictures)


class Reset(NamedTuple):
    """What is known of resets: an `order` to be signed, whether anybody may (`signed`), what came of the `last`."""

    order: str
    signed: bool
    last: str


class Shown(msgspec.Struct, frozen=True):
    """What the staff page shows of the installation."""

    stage: str
    notice: str
    faults: tuple[str, ...]
    hours: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    pictures: tuple[str, ...]
    """Names of the host's pictures that visitors see."""
    usage: tuple[tuple[str, ...], ...]
    csv: str
    machine: tuple[Fact, ...] = ()
    supply: bool = False
    """Whether the staff has under-voltage to lift."""
    drift: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...] = ()
    """By pad: the disc's noise and the strips' rests, and whether each is far from what it was."""
    verdict: str = ""
    tested: str = ""
    """When the self-test was that gave the verdict."""
    reset: Reset | None = None


class Known(NamedTuple):
    """What is known beside the `Exhibit`: `texts` are the host's, a line each; `verdict` the last self-test's."""

    usage: Usage
    recoveries: Recoveries | None = None
    texts: tuple[str, ...] = ()
    watch: MachineWatch | None = None
    drift: tuple[Drifted, ...] = ()
    verdict: Verdict | None = None
    update: str = ""
    """What came of the last update."""
    reset: Reset | None = None
    screen: KioskWatch | None = None


def shown_of(exhibit: Exhibit, settings: Settings, known: Known, local: Callable[[float], datetime]) -> Shown:
    """Return what the staff sees of `exhibit` now; `local` tells the time of day."""
    text = catalogue(exhibit.section.languages[0]).gettext
    section, voice = settings.exhibit, settings.voice
    always, never = text("always"), text("none")
    usage, watch, verdict = known.usage, known.watch, known.verdict
    machine = tuple(facts(watch, text)) if watch is not None else ()
    machine += tuple(known.screen.fact(text)) if known.screen is not None else ()
    machine += (Fact(text("Update"), known.update),) if known.update else ()
    days = sorted(usage.days.items(), reverse=True)[:DAYS]
    return Shown(
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
        known.reset,
    )


def _by_pad(drift: tuple[Drifted, ...]) -> Iterable[tuple[str, tuple[tuple[str, bool], ...]]]:
    """Yield the sensors of each pad: what each reads at rest, and in brackets what it read when calibrated."""
    for pad in sorted({one.pad for one in drift}):
        yield (
            str(pad),
            tuple(
                (f"{one.now:.0f}" if one.then is None else f"{one.now:.0f} ({one.then:.0f})", one.far)
                for one in drift
                if one.pad == pad
            ),
        )


def _faults(exhibit: Exhibit, known: Known, text: Callable[[str], str]) -> list[str]:
    """Return what is wrong, a line each; what files and boards say of it themselves is in English."""
    found: list[str] = []
    if exhibit.host.fault:
        found.append(text("The host’s texts are as they were before: {fault}").format(fault=exhibit.host.fault))
    if exhibit.fault:
        found.append(text("Games are not recorded: {fault}").format(fault=exhibit.fault))
    if exhibit.section.mat == "sensors":
        link = exhibit.board
        if link is None or not link.up:
            why = link.why if link is not None else ""
            found.append(text("The mat’s board does not answer. {why}").format(why=why).strip())
        found += [
            text("Pad {pad}: a sensor cannot be believed ({why})").format(pad=one.pad, why=one.why)
            for one in exhibit.sensor_faults
        ]
        for one in known.drift:
            if one.far and one.strip is None:
                found.append(text("Pad {pad}: the disc has become noisy").format(pad=one.pad))
            elif one.far:
                found.append(text("Pad {pad}: a touch strip has drifted: calibrate the mat").format(pad=one.pad))
    recoveries = known.recoveries
    if recoveries is not None and recoveries.count:
        found.append(
            text("Started anew by itself {n} times since the machine was switched on.").format(n=recoveries.count)
        )
    return found


class StaffPage:
    """Serves `/staff` with the people in `folder`; `orders` are for the loop. `clock` is the installation's."""

    def __init__(self, folder: Path, clock: Callable[[], float], language: str, pins: Pins | None = None) -> None:
        self.orders: queue.Queue[Order] = queue.Queue(_MOST)
        self.shown: Shown | None = None
        """What is shown, set by the loop."""
        self.preview = Preview("", {}, {})
        """What visitors would see of the host's texts, set by the loop."""
        self._path, self._clock, self._language, self._pins = folder / FILE, clock, language, pins
        self._users: Users | None = None
        self._signing: SignIn | None = None

    def routes(self) -> list[Route]:
        """Return the page's routes."""
        return [
            guarded_route(HOME, self._page),
            guarded_route(f"{HOME}/sign-in", self._sign_in, "GET", "POST"),
            guarded_route(f"{HOME}/sign-out", self._sign_out, "POST"),
            guarded_route(f"{HOME}/do", self._do, "POST"),
            guarded_route(f"{HOME}/usage.csv", self._csv),
            guarded_route(f"{HOME}/preview/{{stage}}", self._previewed),
            guarded_route(f"{HOME}/preview/host/{{name}}", self._picture),
        ]

    def close(self) -> None:
        """Close the people's file, where it was opened."""
        if self._users is not None:
            self._users.close()

    def _signed(self) -> SignIn | None:
        """Return who signs in here; None while nobody can."""
        if self._signing is None and self._path.is_file():
            self._users = Users(self._path)
            authenticator = Authenticator(self._users, Sessions(self._users), self._pins or Pins(), self._clock)
            self._signing = SignIn(authenticator, HOME, self._language, heading=_HEADING, back_s=BACK_S)
        return self._signing

    def _signing_in(self) -> SignIn:
        signing = self._signed()
        if signing is None:
            raise RefusedError("signed_out", "nobody can sign in here yet", "make a PIN: moccasin-mat judges new-head")
        return signing

    async def _page(self, request: Request) -> Response:
        signing = self._signed()
        if signing is None:
            return HTMLResponse(self._rendered(None, ""))
        try:
            session = await signing.who(request)
        except RefusedError:
            return await signing.form()
        allowed = may(session.person.role, "exhibit")
        return HTMLResponse(self._rendered(self.shown if allowed else None, session.person.name))

    def _rendered(self, shown: Shown | None, name: str) -> str:
        text = catalogue(self._language).gettext
        notices = [text(one) for one in READY_NOTICES]
        return render(
            _PAGE,
            self._language,
            shown=shown,
            idle=IDLE,
            me=name,
            notices=notices,
            columns=COLUMNS,
            longest=LONGEST_NOTICE,
            mark=self.preview.mark,
            back_s=f"{BACK_S:g}",
        )

    async def _sign_in(self, request: Request) -> Response:
        return await self._signing_in().sign_in(request)

    async def _sign_out(self, request: Request) -> Response:
        return await self._signing_in().sign_out(request)

    async def _allowed(self, request: Request) -> str:
        """Return who asks, where they may. Raises `RefusedError`."""
        same_site(request)
        session = await self._signing_in().who(request)
        if not may(session.person.role, "exhibit"):
            raise RefusedError("role", "this is for judges and the head judge", "ask the head judge")
        return session.person.name

    async def _do(self, request: Request) -> Response:
        name = await self._allowed(request)
        body = await sent(request)
        only(body, "do", "notice", "mark")
        do = text_of(body, "do", 10)
        if do == "notice":
            order = Order("notice", text_of(body, "notice", LONGEST_NOTICE, 0), threading.Event())
        elif do == "texts":
            order = Order("texts", "", threading.Event(), text_of(body, "mark", 16))
            if order.mark != self.preview.mark:
                raise RefusedError("stale", "the texts have changed since", "look at the preview again")
        elif do == "end" or do == "supply":  # noqa: PLR1714 - so that the type is narrowed
            order = Order(do, "", threading.Event())
        else:
            raise RefusedError("invalid", "do must be notice, end, supply or texts")
        try:
            self.orders.put_nowait(order)
        except queue.Full:
            raise RefusedError("busy", "the installation does not answer", "try again in a moment") from None
        if not await asyncio.to_thread(order.done.wait, _DONE_S):
            raise RefusedError("busy", "the installation does not answer", "look again in a moment")
        log.info("%s did at the staff page: %s", name, do)
        return answer({"ok": True})

    async def _previewed(self, request: Request) -> Response:
        await self._allowed(request)
        stage = str(request.path_params["stage"])
        if (screen := self.preview.stages.get(stage)) is None:
            raise HTTPException(404)
        text = catalogue(self._language).gettext
        names = {"attract": text("Beginning"), "about": text("About this game"), "rest": text("Closed")}
        return HTMLResponse(
            render(
                _PREVIEW,
                self._language,
                screen=screen,
                stage=stage,
                stages=names.items(),
                mark=self.preview.mark,
                back_s=f"{BACK_S:g}",
            )
        )

    async def _picture(self, request: Request) -> Response:
        await self._allowed(request)
        content, kind = self.preview.pictures.get(request.path_params["name"], (None, ""))
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=kind)

    async def _csv(self, request: Request) -> Response:
        await self._allowed(request)
        shown = self.shown
        return Response(
            "" if shown is None else shown.csv,
            media_type="text/csv; charset=utf-8",
            headers={"content-disposition": "attachment; filename=usage.csv"},
        )

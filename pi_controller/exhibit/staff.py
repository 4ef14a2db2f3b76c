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
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pi_controller.errors import MatError
from pi_controller.exhibit.usage import COLUMNS
from pi_controller.show.i18n import catalogue, mark
from pi_controller.web.request_body import RefusedError, answer, only, refusal, same_site, sent, text_of
from pi_controller.web.sign_in import SignIn
from pi_controller.web.signing.authenticator import Authenticator
from pi_controller.web.signing.pins import Pins
from pi_controller.web.signing.roles import may
from pi_controller.web.signing.sessions import Sessions
from pi_controller.web.signing.users import FILE, Users
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from pi_controller.exhibit.exhibit import Exhibit
    from pi_controller.exhibit.recoveries import Recoveries
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
_PAGE = Path(__file__).with_name("staff.html")
_HEADING = mark("Staff")
READY_NOTICES = (
    mark("Closed for a moment. Please come back later."),
    mark("Closed today. Please come back another day."),
    mark("Something is being repaired. Please come back later."),
)
"""To be touched where there is no keyboard, in the installation's first language."""

Do = Literal["notice", "end"]


class Order(NamedTuple):
    """What the staff wants done; `done` is set when it is."""

    do: Do
    notice: str
    done: threading.Event


class Shown(msgspec.Struct, frozen=True):
    """What the staff page shows of the installation."""

    stage: str
    notice: str
    faults: tuple[str, ...]
    hours: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    usage: tuple[tuple[str, ...], ...]
    csv: str


def shown_of(
    exhibit: Exhibit, settings: Settings, usage: Usage, recoveries: Recoveries | None, texts: tuple[str, ...]
) -> Shown:
    """Return what the staff sees of `exhibit` now; `texts` are the host's, a line each."""
    text = catalogue(exhibit.section.languages[0]).gettext
    section, voice = settings.exhibit, settings.voice
    always, never = text("always"), text("none")
    days = sorted(usage.days.items(), reverse=True)[:DAYS]
    return Shown(
        exhibit.stage.name,
        exhibit.notice,
        tuple(_faults(exhibit, recoveries, text)),
        (
            (text("Open"), f"{section.opens} – {section.closes}" if section.opens else always),
            (text("Season"), f"{section.season_from} – {section.season_to}" if section.season_from else always),
            (text("Quiet hours"), f"{voice.quiet_from} – {voice.quiet_to}" if voice.quiet_from else never),
        ),
        texts,
        tuple((day, *(str(counts[one]) for one in COLUMNS)) for day, counts in days) if section.usage else (),
        usage.csv() if section.usage else "",
    )


def _faults(exhibit: Exhibit, recoveries: Recoveries | None, text: Callable[[str], str]) -> list[str]:
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
        self._path, self._clock, self._language, self._pins = folder / FILE, clock, language, pins
        self._users: Users | None = None
        self._signing: SignIn | None = None

    def routes(self) -> list[Route]:
        """Return the page's routes."""
        return [
            self._guarded("", self._page),
            self._guarded("/sign-in", self._sign_in, "GET", "POST"),
            self._guarded("/sign-out", self._sign_out, "POST"),
            self._guarded("/do", self._do, "POST"),
            self._guarded("/usage.csv", self._csv),
        ]

    def close(self) -> None:
        """Close the people's file, where it was opened."""
        if self._users is not None:
            self._users.close()

    @staticmethod
    def _guarded(path: str, ask: Callable[[Request], Awaitable[Response]], *methods: str) -> Route:
        async def answered(request: Request) -> Response:
            try:
                return await ask(request)
            except MatError as error:
                return refusal(request, error)

        return Route(f"{HOME}{path}", answered, methods=list(methods or ("GET",)))

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
            me=name,
            notices=notices,
            columns=COLUMNS,
            longest=LONGEST_NOTICE,
            back_s=f"{BACK_S:g}",
        )

    async def _sign_in(self, request: Request) -> Response:
        signing = self._signing_in()
        return await (signing.sign_in if request.method == "POST" else signing.sign_in_page)(request)

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
        only(body, "do", "notice")
        do = text_of(body, "do", 10)
        if do == "notice":
            order = Order("notice", text_of(body, "notice", LONGEST_NOTICE, 0), threading.Event())
        elif do == "end":
            order = Order("end", "", threading.Event())
        else:
            raise RefusedError("invalid", "do must be notice or end")
        try:
            self.orders.put_nowait(order)
        except queue.Full:
            raise RefusedError("busy", "the installation does not answer", "try again in a moment") from None
        if not await asyncio.to_thread(order.done.wait, _DONE_S):
            raise RefusedError("busy", "the installation does not answer", "look again in a moment")
        log.info("%s did at the staff page: %s", name, do)
        return answer({"ok": True})

    async def _csv(self, request: Request) -> Response:
        await self._allowed(request)
        shown = self.shown
        return Response(
            "" if shown is None else shown.csv,
            media_type="text/csv; charset=utf-8",
            headers={"content-disposition": "attachment; filename=usage.csv"},
        )

"""Signing in at a console: its page, the session's cookie, people and PINs; of the judges' at a table, the director's.

Nobody has a right because of where they are; the cookie of a session is all there is.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, RedirectResponse, Response

from pi_controller.web import console_page, judge_people
from pi_controller.web.request_body import RefusedError, answer, only, same_site, sender, sent, text_of
from pi_controller.web.signing.roles import may
from pi_controller.web.signing.throttle import Rate
from pi_controller.web.timeouts import keep_connection

if TYPE_CHECKING:
    from starlette.requests import Request

    from pi_controller.web.api_types import SignedIn
    from pi_controller.web.signing.authenticator import Authenticator
    from pi_controller.web.signing.sessions import Session

log = logging.getLogger(__name__)

SESSION, DEVICE = "mat_session", "mat_device"
"""The cookies."""
_DEVICE_S = 400 * 86_400
COMMANDS_A_SECOND, BURST = 10.0, 60.0
_SESSIONS = 256


class SignIn:
    """Who is signed in at the console whose page is `home`, by the `authenticator`.

    `heading` and `back_s` are of its sign-in page (`console_page.sign_in`).
    """

    def __init__(
        self, authenticator: Authenticator, home: str, language: str = "en", *, heading: str = "", back_s: float = 0.0
    ) -> None:
        self.authenticator, self.home, self.language = authenticator, home, language
        self._heading, self._back_s = heading, back_s
        self._rates: OrderedDict[str, Rate] = OrderedDict()

    async def _sign_in_page(self, request: Request) -> Response:
        """Answer the sign-in page; who is signed in goes on to the console."""
        try:
            await self.who(request)
        except RefusedError:
            return await self.form()
        return RedirectResponse(self.home, 303)

    async def form(self) -> Response:
        """Return the sign-in page."""
        people = await asyncio.to_thread(self.authenticator.users.everybody)
        names = [one.name for one in people]
        page = console_page.sign_in(self.language, names, self.home, heading=self._heading, back_s=self._back_s)
        return HTMLResponse(page)

    async def sign_in(self, request: Request) -> Response:
        """Take a name and a PIN that were sent, give a session; who only asks gets the page."""
        if request.method != "POST":
            return await self._sign_in_page(request)
        body = await sent(request)
        only(body, "name", "pin")
        name, pin = text_of(body, "name", judge_people.LONGEST_NAME), text_of(body, "pin", judge_people.LONGEST_PIN)
        device = request.cookies.get(DEVICE)
        came = await self.authenticator.sign_in(name, pin, sender(request), device)
        if before := request.cookies.get(SESSION):
            await self.authenticator.end(before)
        signed_in: SignedIn = {"ok": True, "name": came.person.name, "role": came.person.role}
        found = answer(signed_in)
        self._give(request, found, SESSION, came.session)
        self._give(request, found, DEVICE, came.device, _DEVICE_S)
        return found

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        await sent(request)
        if token := request.cookies.get(SESSION):
            await self.authenticator.end(token)
        found = answer({"ok": True})
        self._give(request, found, SESSION, "", 0)
        return found

    async def people(self, request: Request) -> Response:
        """Answer who may sign in, or change it; for the head judge."""
        same_site(request)
        session = await self.who(request)
        if not may(session.person.role, "people"):
            raise RefusedError("role", "only the head judge sees to the people", "ask the head judge")
        if request.method != "POST":
            return answer(await judge_people.everybody(self.authenticator))
        body = await sent(request)
        done = await judge_people.change(self.authenticator, body)
        log.info("%s changed the people: %s", session.person.name, body["do"])
        return answer(done)

    async def who(self, request: Request, *, touch: bool = True) -> Session:
        """Return the session of the request; raises `RefusedError`. With `touch` it counts as something done."""
        token = request.cookies.get(SESSION, "")
        session = await self.authenticator.session(token, touch=touch) if 0 < len(token) <= 100 else None
        if session is None:
            raise RefusedError("signed_out", "you are not signed in", "sign in")
        keep_connection(request.scope)
        return session

    def rate(self, session: Session) -> float:
        """Take one command of `session`; return how long it has to wait first, s, 0 for not at all."""
        rate = self._rates.setdefault(session.id, Rate(COMMANDS_A_SECOND, BURST))
        self._rates.move_to_end(session.id)
        while len(self._rates) > _SESSIONS:
            self._rates.popitem(last=False)
        return rate.take(self.authenticator.clock())

    def _give(self, request: Request, found: Response, cookie: str, value: str, max_age: int | None = None) -> None:
        secure = request.url.scheme == "https"
        found.set_cookie(
            cookie, value, max_age=max_age, path=self.home, secure=secure, httponly=True, samesite="strict"
        )

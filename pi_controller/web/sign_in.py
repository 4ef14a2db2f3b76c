"""Sign-in at a console: its page, the session's cookie, users and PINs; for a table's judges and the hub's director.

Rights come only from the session cookie, never from the client's address.
"""

import asyncio
import logging
from collections import Counter
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from pi_controller.display.i18n import Translator
from pi_controller.web import api, console_page, http_timeouts, requests, roles
from pi_controller.web.accounts import Authenticator
from pi_controller.web.pin_hash import new_pin
from pi_controller.web.sessions import Session
from pi_controller.web.throttle import TokenBuckets

log = logging.getLogger(__name__)

SESSION, DEVICE = "mat_session", "mat_device"
"""Names of the cookies."""
_DEVICE_S = 400 * 86_400
COMMANDS_A_SECOND, BURST = 10.0, 60.0


class SignInRoutes:
    """Routes for signing in at the console with the page `home`, by the `authenticator`.

    `heading` and `back_s` configure its sign-in page (`console_page.sign_in`).
    """

    def __init__(
        self,
        authenticator: Authenticator,
        home: str,
        tr: Translator,
        *,
        heading: str = "",
        back_s: float = 0.0,
    ) -> None:
        self.authenticator, self.home, self.tr = authenticator, home, tr
        self._heading, self._back_s = heading, back_s
        self._commands = TokenBuckets(COMMANDS_A_SECOND, BURST)

    async def _sign_in_page(self, request: Request) -> Response:
        try:
            await self.require_session(request)
        except requests.RequestError:
            return await self.form_response(request)
        return RedirectResponse(self.home, 303)

    async def form_response(self, request: Request) -> Response:
        """Return the sign-in page; if the network can read the PIN, it says so."""
        people = await asyncio.to_thread(self.authenticator.users.list_users)
        names = [one.name for one in people]
        page = console_page.sign_in(
            self.tr,
            names,
            self.home,
            heading=self._heading,
            back_s=self._back_s,
            readable=not requests.is_private(request),
        )
        return HTMLResponse(page)

    async def sign_in(self, request: Request) -> Response:
        """Sign in with the name and PIN of a POST; answer a GET with the sign-in page."""
        if request.method != "POST":
            return await self._sign_in_page(request)
        sent = await requests.read_request(request, api.SignIn)
        device = request.cookies.get(DEVICE)
        came = await self.authenticator.sign_in(sent.name, sent.pin, requests.client_ip(request), device)
        if before := request.cookies.get(SESSION):
            await self.authenticator.end(before)
        signed_in: api.SignedInAnswer = {"ok": True, "name": came.person.name, "role": came.person.role}
        found = requests.json_response(signed_in)
        self._give(request, found, SESSION, came.session)
        self._give(request, found, DEVICE, came.device, _DEVICE_S)
        return found

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        await requests.read_request(request, api.SignOut)
        if token := request.cookies.get(SESSION):
            await self.authenticator.end(token)
        found = requests.json_response({"ok": True})
        self._give(request, found, SESSION, "", 0)
        return found

    async def people(self, request: Request) -> Response:
        """Answer with the users, or change them; for the head judge."""
        session = await self.require_right(request, "people", "manage the users")
        if request.method != "POST":
            return requests.json_response(await self._list_people())
        change: api.PeopleChange = await requests.read_request(request, cast("Any", api.PeopleChange))
        done = await self._change_people(change)
        log.info("%s changed the users: %s", session.person.name, change.__struct_config__.tag)
        return requests.json_response({"ok": True, **done})

    async def _list_people(self) -> api.PeopleAnswer:
        """Return all users with the number of their sessions, and the roles."""
        users = await asyncio.to_thread(self.authenticator.users.list_users)
        sessions = await asyncio.to_thread(self.authenticator.sessions.of_all, self.authenticator.clock())
        number = Counter(one.person.id for one in sessions)
        people: list[api.Person] = [
            {"id": one.id, "name": one.name, "role": one.role, "sessions": number[one.id]} for one in users
        ]
        return {"roles": roles.ROLES, "people": people}

    async def _change_people(self, change: api.PeopleChange) -> dict[str, Any]:
        """Execute `change`; return what the answer tells. A new PIN is only there. Raises `UserError`."""
        users, pin = self.authenticator.users, new_pin()
        match change:
            case api.AddPerson(name=name, role=role):
                person = await asyncio.to_thread(users.add, name, role, await self.authenticator.hash(pin))
                return {**person._asdict(), "pin": pin}
            case api.GivePin(id=person_id):
                await asyncio.to_thread(users.give_pin, person_id, await self.authenticator.hash(pin))
                return {"id": person_id, "pin": pin}
            case api.EndSessions(id=person_id):
                return {"ended": await asyncio.to_thread(self.authenticator.sessions.revoke, person_id)}
            case api.RemovePerson(id=person_id):
                await asyncio.to_thread(users.remove, person_id)
                return {}

    async def require_session(self, request: Request, *, touch: bool = True) -> Session:
        """Return the session of the request; raises `RequestError`. With `touch` it counts as activity."""
        token = request.cookies.get(SESSION, "")
        session = await self.authenticator.session(token, touch=touch) if 0 < len(token) <= 100 else None
        if session is None:
            raise requests.RequestError("signed_out", "you are not signed in", "sign in")
        http_timeouts.keep_connection(request.scope)
        return session

    async def require_right(self, request: Request, right: roles.Right, deed: str) -> Session:
        """Return the session of a head judge's request from this site; `deed` tells what others may not do.

        Raises `RequestError`.
        """
        requests.require_same_site(request)
        session = await self.require_session(request)
        if not roles.has_right(session.person.role, right):
            raise requests.RequestError("role", "only the head judge may {deed}", "ask the head judge", deed=deed)
        return session

    def charge_command(self, session: Session) -> None:
        """Count one command of `session`. Raises `RequestError` if there were too many at once."""
        if (wait := self._commands.take(session.id, self.authenticator.clock())) > 0:
            raise requests.RequestError(
                "often", "too many commands at once", "wait {wait} s", wait_s=wait, wait=f"{wait:.1f}"
            )

    def _give(self, request: Request, found: Response, cookie: str, value: str, max_age: int | None = None) -> None:
        secure = request.url.scheme == "https"
        found.set_cookie(
            cookie, value, max_age=max_age, path=self.home, secure=secure, httponly=True, samesite="strict"
        )

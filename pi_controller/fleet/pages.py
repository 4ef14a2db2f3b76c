"""The hub's web server: public boards, the director's console with its sign-in, and the stream of one table.

The stream is a server of its own with a table's usual pages, `/overlay` among them: it shows the table that the
director points at. Everything else is answered here.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from pi_controller.fleet.boards import Boards, tables_json
from pi_controller.fleet.teams_csv import MOST_BYTES, read_teams
from pi_controller.games import registry
from pi_controller.games.base import InvalidActionError
from pi_controller.show.i18n import mark
from pi_controller.tournament.decisions import Entered, Fact
from pi_controller.web.address import qr_code
from pi_controller.web.feed import Feed
from pi_controller.web.judge_command import KEY
from pi_controller.web.middleware import HEADERS, RequestFilter
from pi_controller.web.pushed_page import event_stream
from pi_controller.web.request_body import (
    RefusedError,
    answer,
    from_own_page,
    guarded_route,
    only,
    same_site,
    sent,
    text_of,
)
from pi_controller.web.server import WebServer
from pi_controller.web.sign_in import SignIn
from pi_controller.web.signing.authenticator import Authenticator
from pi_controller.web.signing.pins import Pins
from pi_controller.web.signing.roles import may
from pi_controller.web.signing.sessions import Sessions
from pi_controller.web.signing.users import FILE, Users

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from starlette.requests import Request

    from pi_controller.fleet.director import Director
    from pi_controller.fleet.enrolment import EnrolmentDesk, Opened
    from pi_controller.fleet.hub import Hub, TableShown
    from pi_controller.fleet.hub_settings import HubSettings

log = logging.getLogger(__name__)
LOOK_S = 0.25
"""How often a stream looks for news."""
MOST_WATCHERS = 128
HOME = "/director"
_HEADING = mark("Director")
_OF_THE_DIRECTOR = (
    "plan enter scratch draw appoint dismiss table assign recall confirm reject result tie clock correct withdraw "
    "reinstate absent back protest announce stream undo"
)
RIGHTS: dict[str, frozenset[str]] = {
    "scorekeeper": frozenset({"protest"}),
    "judge": frozenset({"protest"}),
    "committee": frozenset({"protest", "ruling"}),
    "head": frozenset(_OF_THE_DIRECTOR.split()),
}
"""What each role may decide, by the facts' tags. A protest is the committee's to decide (chapter 12)."""
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class HubPages:
    """Serves the pages of the hub in `folder`. `publish` may be called from any thread."""

    def __init__(
        self, settings: HubSettings, folder: Path, director: Director, clock: Callable[[], float] = time.time
    ) -> None:
        self.hub: Hub | None = None
        self.users = Users(folder / FILE)
        self._director = director
        self._clock = clock
        self.desk: EnrolmentDesk | None = None
        self._boards = Boards(director, clock, joining=lambda: self.desk.waiting if self.desk else None)
        self._bell = Feed()  # rings when the server stops
        self._version = 0
        self._rendered: dict[str, tuple[object, bytes]] = {}
        self._signing = SignIn(Authenticator(self.users, Sessions(self.users), Pins(), clock), HOME, heading=_HEADING)
        self._static = {
            path.name: (path.read_bytes(), _TYPES[ending])
            for package in ("pi_controller.web", "pi_controller.fleet")
            for path in files(package).joinpath("static").iterdir()
            if (ending := f".{path.name.rpartition('.')[2]}") in _TYPES
        }
        self._server = WebServer(self._bell, settings.page.host, settings.page.port, app=self._app)
        self._feed = Feed()
        stream = settings.page.stream
        self._stream = WebServer(self._feed, settings.page.host, stream) if stream is not None else None

    @property
    def url(self) -> str:
        """Where the boards are, for this machine."""
        return self._server.url

    @property
    def stream_url(self) -> str:
        """Where the pages of the table are that the director points at; "" where they are not served."""
        return self._stream.url if self._stream else ""

    def start(self) -> None:
        """Listen and serve. Raises `WebError`."""
        self._server.start()
        if self._stream is not None:
            self._stream.start()

    def close(self) -> None:
        """End all streams, stop listening, close what is open. Closing twice is fine."""
        if self._stream is not None:
            self._stream.stop()
        self._server.stop()
        self.users.close()

    def welcome(self, *, shows: bool) -> str:
        """Return what to print at the start: how the director signs in, where nobody can yet."""
        from pi_controller.web.judging import new_head  # noqa: PLC0415 - only the first time

        if self.users.everybody():
            return ""
        if not shows:
            return "nobody can sign in as the director yet: 'moccasin-mat hub director FOLDER' makes a PIN"
        name, pin = new_head(self.users, self._signing.authenticator.pins, "Director")
        return f"sign in at {self.url}director as {name!r} with the PIN {pin} (shown this once)"

    def publish(self, tables: tuple[TableShown, ...]) -> None:
        """Show `tables` as they are now."""
        self._boards.tables = tables
        self._boards.rival = self.hub.rival if self.hub is not None else ""
        self._version += 1
        pointed = self._director.now.stream
        view = next((one.view for one in tables if one.table == pointed), None)
        if view is not None:
            self._feed.publish(view)

    def _app(self, hosts: list[str]) -> Starlette:
        posts = [
            f"{HOME}{path}" for path in ("/sign-in", "/sign-out", "/command", "/undo", "/teams", "/people", "/join")
        ]
        self._routes = [
            Route("/", self._page("boards")),
            Route("/bracket", self._page("bracket")),
            Route("/team/{number:int}", self._team),
            Route("/events", self._events),
            Route("/results.csv", self._results_csv),
            Route("/results.json", self._results_json),
            Route("/tournament.json", self._tournament_json),
            Route("/tables.json", self._tables_json),
            Route("/openapi.json", self._openapi),
            Route("/static/{name}", self._file),
            guarded_route(HOME, self._console),
            guarded_route(f"{HOME}/sign-in", self._signing.sign_in, "GET", "POST"),
            guarded_route(f"{HOME}/sign-out", self._signing.sign_out, "POST"),
            guarded_route(f"{HOME}/events", self._console_events),
            guarded_route(f"{HOME}/command", self._command, "POST"),
            guarded_route(f"{HOME}/undo", self._undo, "POST"),
            guarded_route(f"{HOME}/teams", self._teams, "POST"),
            guarded_route(f"{HOME}/join", self._join, "POST"),
            guarded_route(f"{HOME}/people", self._signing.people, "GET", "POST"),
        ]
        return Starlette(
            routes=self._routes,
            middleware=[Middleware(RequestFilter, hosts=tuple(hosts), posts=tuple(posts))],
            exception_handlers={HTTPException: _failed, Exception: _failed},
        )

    # what everybody may see

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def page(_: Request) -> Response:
            return HTMLResponse(await asyncio.to_thread(self._boards.page, name))

        return page

    async def _team(self, request: Request) -> Response:
        found = await asyncio.to_thread(self._boards.team, min(request.path_params["number"], 10_000))
        if found is None:
            raise HTTPException(404)
        return HTMLResponse(found)

    async def _results_csv(self, _: Request) -> Response:
        content = "\ufeff" + await asyncio.to_thread(self._boards.results_csv)
        return Response(
            content,
            media_type="text/csv; charset=utf-8",
            headers={"content-disposition": "attachment; filename=results.csv"},
        )

    async def _results_json(self, _: Request) -> Response:
        return answer({"results": await asyncio.to_thread(self._boards.results)})

    async def _tournament_json(self, _: Request) -> Response:
        return answer(await asyncio.to_thread(self._boards.tournament_json))

    async def _tables_json(self, _: Request) -> Response:
        calls = {call.table: call.match for call in self._director.now.calls.values()}
        return answer({"tables": tables_json(self._boards.tables, calls)})

    async def _openapi(self, _: Request) -> Response:
        from pi_controller.fleet.hub_openapi import document  # noqa: PLC0415 - only for who asks

        return answer(document())

    async def _file(self, request: Request) -> Response:
        content, kind = self._static.get(request.path_params["name"], (None, ""))
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=kind)

    async def _events(self, request: Request) -> Response:
        page, team = request.query_params.get("page", "boards"), request.query_params.get("team", "")
        if team.isascii() and team.isdecimal() and len(team) <= 3:
            page = f"team/{int(team)}"
        elif page not in ("boards", "tables") or team:
            raise HTTPException(404)
        return await self._streamed(request, page)

    async def _streamed(self, request: Request, page: str, token: str | None = None) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        if self._bell.watchers >= MOST_WATCHERS:
            return PlainTextResponse("Too many are watching.\n", 503, {"retry-after": "10"})
        return StreamingResponse(self._follow(page, token), media_type="text/event-stream")

    async def _follow(self, page: str, token: str | None) -> AsyncIterator[bytes]:
        """Yield the parts of a page whenever they change; with a `token` until that session ends."""
        seen = b""

        async def newer() -> bytes | None:
            nonlocal seen
            if token is not None and await self._signing.authenticator.session(token, touch=False) is None:
                return None
            content = await asyncio.to_thread(self._content, page)
            if content == seen:
                return b""
            seen = content
            # clocks on the page go by the hub's time, whatever the browser's own is
            return b"event: now\ndata: %.3f\n\nevent: regions\ndata: %s\n\n" % (self._clock(), content)

        async for piece in event_stream(self._bell, newer, LOOK_S):
            yield piece

    def _content(self, page: str) -> bytes:
        """Return the parts of a page as JSON, made once for all who look."""
        joining = self.desk.waiting if self.desk else None
        stamp = (self._version, len(self._director.history.decisions), len(self._director.notes), joining)
        known = self._rendered.get(page)
        if known is None or known[0] != stamp:
            known = self._rendered[page] = stamp, msgspec.json.encode(self._boards.regions(page))
        return known[1]

    # the director's console

    async def _console(self, request: Request) -> Response:
        try:
            session = await self._signing.who(request)
        except RefusedError:
            return await self._signing.form()
        person = session.person
        page = await asyncio.to_thread(self._boards.page, "director", me=person.name, role=person.role)
        return HTMLResponse(page)

    async def _console_events(self, request: Request) -> Response:
        same_site(request)
        await self._signing.who(request, touch=False)
        return await self._streamed(request, "director", request.cookies.get("mat_session", ""))

    async def _command(self, request: Request) -> Response:
        """Decide what was sent: `{"key", "fact"}`."""
        session = await self._signing.who(request)
        body = await sent(request)
        only(body, "key", "fact")
        given = cast("dict[str, Any]", body["fact"]) if isinstance(body.get("fact"), dict) else {}
        fact = self._fact(given)
        self._allowed(session.person.role, str(given.get("do")))
        self._not_too_often(session)
        actor = session.person.name
        done = await asyncio.to_thread(self._director.decide, self._clock(), actor, fact, _key(body))
        log.info("%s (%s): %s, decision %d", actor, session.person.role, given.get("do"), done.seq)
        return answer({"ok": True, "seq": done.seq, "repeated": done.repeated})

    async def _undo(self, request: Request) -> Response:
        session = await self._signing.who(request)
        body = await sent(request)
        only(body, "key")
        self._allowed(session.person.role, "undo")
        actor = session.person.name
        done = await asyncio.to_thread(self._director.undo, self._clock(), actor, "", _key(body))
        return answer({"ok": True, "seq": done.seq, "repeated": done.repeated})

    async def _teams(self, request: Request) -> Response:
        """Enter a list of teams, which is sent as it is."""
        session = await self._signing.who(request)
        from_own_page(request)
        self._allowed(session.person.role, "enter")
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > MOST_BYTES:
                raise RefusedError("large", "this is too much at once", "send at most 1 MiB")
        teams = read_teams(bytes(data))
        if self._director.now.registration.roster.leader:
            teams = tuple(msgspec.structs.replace(team, leader=next(iter(team.players), "")) for team in teams)
        now, actor = self._clock(), session.person.name
        done = await asyncio.to_thread(self._director.decide, now, actor, Entered(teams))
        return answer({"ok": True, "seq": done.seq, "teams": len(teams)})

    async def _join(self, request: Request) -> Response:
        """Open a code by which a table joins, or take it back: `{"do", "table", "anew"}`. It is told this once."""
        session = await self._signing.who(request)
        body = await sent(request)
        only(body, "do", "table", "anew")
        if not may(session.person.role, "people"):
            raise RefusedError("role", f"a {session.person.role} lets no table join", "the director does")
        self._not_too_often(session)
        if self.desk is None:
            raise RefusedError("illegal", "this hub is for a try on one machine", "'moccasin-mat hub setup' is the way")
        table, anew = text_of(body, "table", 100), body.get("anew") is True
        if body.get("do") == "shut":
            await self.desk.ask(self.desk.shut(table))
            return answer({"ok": True})
        opened: Opened = await self.desk.ask(self.desk.open(table, anew=anew))
        log.info("%s lets %s join%s", session.person.name, table, ", with another password" if anew else "")
        code = str(qr_code(opened.command, opened.command))
        return answer(
            {"ok": True, "table": table, **opened._asdict(), "good_s": opened.ends - self._clock(), "qr": code}
        )

    def _fact(self, given: dict[str, Any]) -> Fact:
        """Return the fact that was sent, with what only the hub can add. Raises `InvalidActionError`."""
        plan = self._director.now.plan
        match given.get("do"):
            case "plan":
                given = {**given, "tournament": plan.tournament if plan else secrets.token_hex(8)}
                game = given.get("game")
                if game in registry.names() and given.get("format") == "round_robin":
                    timed = any(option.name == "minutes" for option in registry.kind(game).options)
                    given = {"clock": "round" if timed else "tables", **given}  # as the Lahal sheet has it
            case "assign":
                given = {**given, "order": secrets.token_hex(8)}
            case "undo":  # what goes with the last decision is the hub's to say
                raise InvalidActionError("an undo takes back the last decision", "send it to /director/undo")
            case _:
                pass
        try:
            return msgspec.convert(given, cast("Any", Fact))
        except msgspec.MsgspecError as error:
            raise InvalidActionError(f"this cannot be decided: {error}") from error

    def _allowed(self, role: str, tag: str) -> None:
        if tag not in RIGHTS.get(role, frozenset()):
            raise RefusedError("role", f"a {role} does not decide this: {tag}", "the director does, or the committee")

    def _not_too_often(self, session: Any) -> None:
        if (wait := self._signing.rate(session)) > 0:
            raise RefusedError("often", "too many commands at once", f"wait {wait:.1f} s")


def _key(body: dict[str, Any]) -> str:
    key = text_of(body, "key", 64, 8)
    if not re.fullmatch(KEY, key):
        raise RefusedError("invalid", "key must be 8 to 64 letters, digits, - or _", "make a new one for each command")
    return key


async def _failed(_: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return PlainTextResponse("There is nothing here.\n", error.status_code)
    headers = {name.decode(): value.decode() for name, value in HEADERS}  # this answer bypasses the guard
    return PlainTextResponse("That did not work.\n", 500, headers)

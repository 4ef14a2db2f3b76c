"""The hub's web server: public boards, the director's console with its sign-in, and the stream of one table.

The stream is a second server with a table's usual pages, including `/overlay`: it shows the table that the director has
selected.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import ssl
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from datetime import time as time_of_day
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, Union, cast, get_args

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from pi_controller.display.i18n import resolve_language, translator
from pi_controller.hub.boards import Boards
from pi_controller.hub.join import PATH
from pi_controller.hub.publish import zip_results
from pi_controller.hub.settings import store_from_settings
from pi_controller.hub.table_api import records_route
from pi_controller.rules import registry
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.table.view import View
from pi_controller.text import mark
from pi_controller.tournament import decisions as d
from pi_controller.tournament import team_list
from pi_controller.tournament.competition import LaterMatchesStartedError
from pi_controller.web import requests
from pi_controller.web.accounts import Authenticator
from pi_controller.web.address import PageSettings, qr_code
from pi_controller.web.app import MAX_WATCHERS, make_app, static_files
from pi_controller.web.connection_limits import ConnectionLimits, client_network
from pi_controller.web.event_stream import DESK_HEARTBEAT_S, HEARTBEAT_S, stream
from pi_controller.web.feed import Feed, Snapshot
from pi_controller.web.host_marks import load_host_marks
from pi_controller.web.pin_hash import PinHasher
from pi_controller.web.roles import has_right
from pi_controller.web.server import WebServer
from pi_controller.web.sessions import Sessions
from pi_controller.web.sign_in import SignInRoutes
from pi_controller.web.users import FILE, Users

if TYPE_CHECKING:
    from pi_controller.hub.director import DecisionResult, Director
    from pi_controller.hub.hub import Hub, TableStatus
    from pi_controller.hub.join_server import Joining, JoinServer
    from pi_controller.hub.settings import HubSettings
    from pi_controller.hub.tokens import Tokens

log = logging.getLogger(__name__)
ResultT = TypeVar("ResultT")
PUBLIC_S, DESK_S = 1.0, 0.25
"""Minimum interval between two updates of a public page and of the director's."""
LOOK_S = 1.0
"""How often a page is rendered without a change, since some of its texts tell how long ago something was."""
HOME = "/director"
_HEADING = mark("Director")
_DIRECTOR_ACTIONS = (
    "plan settings enter scratch draw add rename appoint dismiss table assign recall move confirm reject result tie "
    "clock correct replay forfeit withdraw reinstate absent back check_in pronounce protest announce stream break "
    "no_break undo"
)
RIGHTS: dict[str, frozenset[str]] = {
    "scorekeeper": frozenset({"protest", "check_in"}),
    "judge": frozenset({"protest"}),
    "committee": frozenset({"protest", "ruling"}),
    "head": frozenset(_DIRECTOR_ACTIONS.split()),
}
"""The decisions that each role may make, by the facts' tags. The committee decides protests (chapter 12)."""
_OWN_FIELDS = {"plan": ("tournament",), "assign": ("order",), "move": ("order", "sheet")}
"""Fields of the facts that only the hub can set."""
TableName = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]"


class BreakSent(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, tag_field="do", tag="break"):
    """Call no match until a time of day of this machine, such as "14:00"; without `from` from now on."""

    until: Annotated[str, msgspec.Meta(pattern=rf"^{_TIME}(?!\n)$")]
    begins: Annotated[str, msgspec.Meta(pattern=rf"^({_TIME})?(?!\n)$")] = msgspec.field(name="from", default="")
    why: Annotated[str, msgspec.Meta(max_length=80)] = ""


if TYPE_CHECKING:
    FactSent = d.Fact | BreakSent
else:
    _tags = {kind.__struct_config__.tag: kind for kind in get_args(d.Fact)}
    _people = sorted(frozenset().union(*RIGHTS.values()) - {"break", "undo"})
    _kinds = [BreakSent, *(requests.request_struct(_tags[tag], *_OWN_FIELDS.get(tag, ())) for tag in _people)]
    FactSent = Union[tuple(_kinds)]  # noqa: UP007 - there is no list to write down


class UndoSent(msgspec.Struct, forbid_unknown_fields=True):
    """Undo the last decision; `key` is an idempotency key."""

    key: requests.CommandKey


class DecisionSent(msgspec.Struct, forbid_unknown_fields=True):
    """Make a decision; `key` is an idempotency key."""

    key: requests.CommandKey
    fact: FactSent


class OpenCode(msgspec.Struct, forbid_unknown_fields=True, tag_field="do", tag="open"):
    """Open a join code for `table`; with `anew` its account gets a new password."""

    table: TableName
    anew: bool = False


class RemoveTable(msgspec.Struct, forbid_unknown_fields=True, tag_field="do", tag="remove"):
    """Take `table` out: its token is no longer valid. It may join again."""

    table: TableName


class RevokeCode(msgspec.Struct, forbid_unknown_fields=True, tag_field="do", tag="shut"):
    """Revoke the join code for `table`."""

    table: TableName


class _Update(NamedTuple):
    """The parts of a page as HTML by region; `seq` numbers what they show."""

    seq: int
    regions: Mapping[str, str] = {}


@lru_cache(maxsize=64)
def _encode_changes(before: Snapshot[_Update] | None, now: Snapshot[_Update]) -> bytes:
    """Encode the regions that changed since `before`."""
    update = now.content
    changed = {
        name: part
        for name, part in update.regions.items()
        if before is None or part != before.content.regions.get(name)
    }
    data = msgspec.json.encode(changed)
    return b"id: %d\nevent: regions\ndata: %s\n\n" % (update.seq, data)


class HubPages:
    """Serves the pages of the hub in `folder`; the machine's clock is `ahead` of `clock`.

    `publish` may be called from any thread.
    """

    def __init__(
        self,
        settings: HubSettings,
        folder: Path,
        director: Director,
        clock: Callable[[], float] = time.time,
        tls: ssl.SSLContext | None = None,
        *,
        tokens: Tokens,
        ahead: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.hub: Hub | None = None
        self.users = Users(folder / FILE)
        self._desk = ThreadPoolExecutor(1, "desk")
        self._where = store_from_settings(settings, folder)
        self._director = director
        self._clock, self._ahead = clock, ahead
        self.join_server: JoinServer | None = None
        self._tokens = tokens
        host = load_host_marks(settings.marks)
        self._tr = translator(resolve_language(settings.page.language))
        self._boards = Boards(director, clock, self._tr, joining=self._joining, host=host, ahead=ahead)
        self._bell = Feed[_Update]()
        self._watching = ConnectionLimits(MAX_WATCHERS)
        self._watched: dict[tuple[asyncio.AbstractEventLoop, str], Feed[_Update]] = {}
        self._rendering: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count()
        self._version = 0
        self._update: tuple[int, object] = (0, None)
        self._numbering = threading.Lock()
        self._signing = SignInRoutes(
            Authenticator(self.users, Sessions(self.users), PinHasher(), clock), HOME, self._tr, heading=_HEADING
        )
        self._static = {**static_files("hub"), **(host.static_files() if host else {})}
        page = settings.page
        self._plain_sign_in = page.plain_sign_in
        hosts = [name for name in (settings.venue.address, *page.hosts) if name]
        self._server = WebServer(self._bell, page.host, page.port, hosts=hosts, app=self._app)
        self._secure = (
            WebServer(self._bell, page.host, page.https, hosts=hosts, app=self._app, tls=tls) if tls else None
        )
        self._feed = Feed[View]()
        port = page.stream
        shown = PageSettings(host=host)
        self._stream = (
            WebServer(self._feed, page.host, port, hosts=hosts, pages=shown, tr=self._tr) if port is not None else None
        )

    def _joining(self) -> Joining | None:
        return self.join_server.joining if self.join_server else None

    @property
    def url(self) -> str:
        """The URL of the boards on this machine."""
        return self._server.url

    @property
    def secure_url(self) -> str:
        """The URL of the same pages with encryption, on this machine; "" if there is no certificate."""
        return self._secure.url if self._secure else ""

    @property
    def secure_port(self) -> int:
        """The port of the pages with encryption; 0 without."""
        return self._secure.port if self._secure else 0

    @property
    def stream_url(self) -> str:
        """The URL of the pages of the selected table; "" if they are not served."""
        return self._stream.url if self._stream else ""

    def start(self) -> None:
        """Start listening. Raises `WebError`."""
        for server in (self._server, self._secure, self._stream):
            if server is not None:
                server.start()

    def close(self) -> None:
        """End all streams, stop listening and close the user database. Closing twice is fine."""
        for server in (self._stream, self._secure, self._server):
            if server is not None:
                server.stop()
        self._desk.shutdown(wait=False)
        self.users.close()

    def welcome(self, *, shows: bool) -> str:
        """Return the start-up message about the director's first sign-in; "" if there are users already."""
        from pi_controller.web.judge_setup import new_head  # noqa: PLC0415

        if self.users.list_users():
            return ""
        if not shows:
            return "nobody can sign in as the director yet: 'moccasin-mat hub director FOLDER' makes a PIN"
        name, pin = new_head(self.users, self._signing.authenticator.pins, "Director")
        return f"sign in at {self.secure_url or self.url}director as {name!r} with the PIN {pin} (shown this once)"

    def publish(self, tables: tuple[TableStatus, ...]) -> None:
        """Show the new state of `tables`."""
        if tables != self._boards.tables:
            self._boards.tables = tables
            self._version += 1
        self._ring()
        pointed = self._director.now.stream
        view = next((one.view for one in tables if one.table == pointed), None)
        if view is not None:
            self._feed.publish(view)

    def _app(self, hosts: list[str]) -> Starlette:
        routes = [
            records_route(lambda: self.hub, lambda: self._tokens, self._clock),  # most requests are for it
            Route("/", self._page("boards")),
            Route("/bracket", self._page("bracket")),
            Route("/hall", self._page("hall")),
            Route("/announcer", self._page("announcer")),
            Route("/start-list", self._rendered_page(self._boards.start_list)),
            Route("/results", self._rendered_page(self._boards.results_page)),
            Route("/team/{number:int}", self._team),
            Route("/events", self._events),
            Route("/results.csv", self._results_csv),
            Route("/results.json", self._json(lambda: {"results": self._boards.results()})),
            Route("/tournament.json", self._json(self._boards.tournament_json)),
            Route("/tables.json", self._json(lambda: {"tables": self._boards.tables_json()})),
            requests.json_route(PATH, self._rings(self._join_table), "POST"),
            requests.json_route(HOME, self._console),
            requests.json_route(f"{HOME}/sign-in", self._sign_in, "GET", "POST"),
            requests.json_route(f"{HOME}/sign-out", self._signing.sign_out, "POST"),
            requests.json_route(f"{HOME}/events", self._console_events),
            requests.json_route(f"{HOME}/results.zip", self._results_site),
            requests.json_route(f"{HOME}/command", self._rings(self._command), "POST"),
            requests.json_route(f"{HOME}/undo", self._rings(self._undo), "POST"),
            requests.json_route(f"{HOME}/teams", self._rings(self._teams), "POST"),
            requests.json_route(f"{HOME}/join", self._rings(self._join), "POST"),
            requests.json_route(f"{HOME}/people", self._signing.people, "GET", "POST"),
        ]
        return make_app(routes, self._static, hosts, self._tr, "[page] hosts")

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        return self._rendered_page(lambda: self._boards.page(name))

    def _rendered_page(self, content: Callable[[], str]) -> Callable[[Request], Awaitable[Response]]:
        async def page(_: Request) -> Response:
            return HTMLResponse(await asyncio.to_thread(content))

        return page

    async def _team(self, request: Request) -> Response:
        found = await asyncio.to_thread(self._boards.team, min(request.path_params["number"], 10_000))
        if found is None:
            raise HTTPException(404)
        return HTMLResponse(found)

    async def _results_csv(self, _: Request) -> Response:
        return requests.download("\ufeff" + await asyncio.to_thread(self._boards.results_csv), "results.csv")

    def _json(self, content: Callable[[], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(_: Request) -> Response:
            return requests.json_response(await asyncio.to_thread(content))

        return answer

    async def _events(self, request: Request) -> Response:
        page, team = request.query_params.get("page", "boards"), request.query_params.get("team", "")
        if team.isascii() and team.isdecimal() and len(team) <= 3:
            page = f"team/{int(team)}"
        elif page not in ("boards", "hall", "tables", "announcer") or team:
            raise HTTPException(404)
        return await self._stream_response(request, page)

    async def _stream_response(self, request: Request, page: str, token: str | None = None) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        place = client_network(requests.client_ip(request))
        return StreamingResponse(self._follow(page, place, token), media_type="text/event-stream")

    async def _follow(self, page: str, place: str, token: str | None) -> AsyncIterator[bytes]:
        """Yield the parts of a page that changed; with a `token` until that session ends."""
        sent: Snapshot[_Update] | None = None

        def write(snapshot: Snapshot[_Update]) -> bytes:
            nonlocal sent
            before, sent = sent, snapshot
            return _encode_changes(before, snapshot)

        async def is_signed_in() -> bool:
            return token is None or await self._signing.authenticator.session(token, touch=False) is not None

        async for event in stream(
            self._watch(page, PUBLIC_S if token is None else DESK_S),
            write,
            None,
            next(self._numbers),
            HEARTBEAT_S if token is None else DESK_HEARTBEAT_S,
            place=place,
            shares=self._watching,
            may_go_on=is_signed_in,
        ):
            yield event

    def _watch(self, page: str, least_s: float) -> Feed[_Update]:
        """Return the updates of a page, rendered once for all its watchers in the running loop, while there are any."""
        loop = asyncio.get_running_loop()
        feed = self._watched.get((loop, page))
        if feed is None:
            feed = self._watched[loop, page] = Feed(clock=self._clock)
            task = loop.create_task(self._keep_rendering(page, feed, least_s))
            self._rendering.add(task)
            task.add_done_callback(self._rendering.discard)
        return feed

    async def _keep_rendering(self, page: str, feed: Feed[_Update], least_s: float) -> None:
        """Publish a page's parts to `feed` after each change, at least `least_s` apart, until nobody watches it."""
        loop, bell = asyncio.get_running_loop(), self._bell.subscribe()
        try:
            while feed.watchers and not bell.ended:
                due = loop.time() + least_s
                feed.publish(await asyncio.to_thread(self._render_update, page))
                await bell.next(LOOK_S)
                while not bell.ended and (left := due - loop.time()) > 0:
                    await bell.next(left)
        finally:
            bell.close()
            del self._watched[loop, page]
            feed.end_streams()

    @property
    def seq(self) -> int:
        """The number of the newest update of the pages; it rises with each change of what they show."""
        with self._numbering:
            decided = self._director.history.decisions
            stamp = (self._version, len(decided), len(self._director.notes), self._joining())
            if stamp != self._update[1]:
                self._update = (self._update[0] + 1, stamp)
            return self._update[0]

    def _render_update(self, page: str) -> _Update:
        """Return the newest parts of a page."""
        self._tokens.refresh(self._clock())
        return _Update(self.seq, self._boards.regions(page))

    def _ring(self) -> None:
        """Wake those who render the pages."""
        self._bell.publish(_Update(self.seq))

    def _rings(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Return `answer`, after which the pages show what it changed."""

        async def answer_and_ring(request: Request) -> Response:
            response = await answer(request)
            self._ring()
            return response

        return answer_and_ring

    async def _console(self, request: Request) -> Response:
        try:
            session = await self._signing.require_session(request)
        except requests.RequestError:
            return await self._sign_in_page(request)
        me = {"me": session.person.name, "role": session.person.role}
        return HTMLResponse(await asyncio.to_thread(self._boards.page, "director", beat=f"{DESK_HEARTBEAT_S:g}", **me))

    async def _sign_in(self, request: Request) -> Response:
        if request.method != "POST":
            return await self._console(request)
        if not (self._plain_sign_in or requests.is_private(request)):
            raise requests.RequestError(
                "plain", "the PIN would cross the network without encryption", "sign in at the encrypted address"
            )
        return await self._signing.sign_in(request)

    async def _sign_in_page(self, request: Request) -> Response:
        """Return the sign-in page, or where it is if it is not here."""
        if self._plain_sign_in or requests.is_private(request):
            return await self._signing.form_response(request)
        port = self.secure_port
        where = str(request.url.replace(scheme="https", port=port, query="")) if port else ""
        return HTMLResponse(await asyncio.to_thread(self._boards.encrypted_page, where))

    async def _console_events(self, request: Request) -> Response:
        requests.require_same_site(request)
        await self._signing.require_session(request, touch=False)
        return await self._stream_response(request, "director", request.cookies.get("mat_session", ""))

    async def _results_site(self, request: Request) -> Response:
        """Return the published results as a ZIP."""
        requests.require_same_site(request)
        session = await self._signing.require_session(request)
        self._signing.charge_command(session)
        return requests.download(await self._on_desk(zip_results, self._boards, self._where), "results.zip")

    async def _command(self, request: Request) -> Response:
        """Make the decision of a POST."""
        session = await self._signing.require_session(request)
        sent = await requests.read_request(request, DecisionSent, team_list.MAX_LIST_BYTES)  # a seeding names all teams
        actor, tag = session.person.name, str(sent.fact.__struct_config__.tag)
        self._require_right(session.person.role, tag)
        self._signing.charge_command(session)
        done = await self._decide(actor, self._complete(sent.fact), sent.key)
        log.info("%s (%s): %s, decision %d", actor, session.person.role, tag, done.seq)
        return requests.json_response({"ok": True, **done._asdict()})

    async def _decide(self, actor: str, fact: d.Fact, key: str) -> DecisionResult:
        """Make a decision. An error message uses the page's names of tables and choices."""

        def decide() -> DecisionResult:
            if isinstance(fact, d.Assigned):
                self._director.check_call(fact, self._boards.table_availability())
            if isinstance(fact, d.Moved):
                return self._director.move(self._clock(), actor, fact, self._boards.table_availability(), key)
            return self._director.decide(self._clock(), actor, fact, key)

        try:
            return await self._on_desk(decide)
        except LaterMatchesStartedError as error:
            raise IllegalActionError(*self._boards.explain_blocked_correction(error.matches)) from error
        except (IllegalActionError, InvalidActionError) as error:
            raise type(error)(*map(self._boards.insert_names, error.sentences)) from error

    async def _on_desk(self, do: Callable[..., ResultT], *values: Any) -> ResultT:
        """Call `do` in the director's own thread: if the store hangs, no page waits for a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._desk, partial(do, *values))

    async def _undo(self, request: Request) -> Response:
        session = await self._signing.require_session(request)
        sent = await requests.read_request(request, UndoSent)
        self._require_right(session.person.role, "undo")
        undo, actor = self._director.undo, session.person.name
        try:
            done = await self._on_desk(undo, self._clock(), actor, "", sent.key)
        except IllegalActionError as error:
            raise IllegalActionError(*map(self._boards.insert_names, error.sentences)) from error
        return requests.json_response({"ok": True, **done._asdict()})

    async def _teams(self, request: Request) -> Response:
        """Enter the list of teams in the body, as CSV; with `?preview=1` only answer with the teams in it."""
        session = await self._signing.require_session(request)
        requests.require_same_origin(request)
        self._require_right(session.person.role, "enter")
        teams = team_list.read_teams(await requests.read_body(request, team_list.MAX_LIST_BYTES))
        if self._director.now.registration.roster.leader:
            teams = tuple(msgspec.structs.replace(team, leader=next(iter(team.players), "")) for team in teams)
        if "preview" in request.query_params:
            return requests.json_response({"ok": True, "teams": teams})
        done = await self._on_desk(self._director.decide, self._clock(), session.person.name, d.Entered(teams))
        return requests.json_response({"ok": True, "seq": done.seq, "teams": len(teams)})

    async def _join(self, request: Request) -> Response:
        """Open or revoke a join code, or take a table out. The code is only in this answer."""
        session = await self._signing.require_session(request)
        sent = await requests.read_request(request, cast("Any", OpenCode | RevokeCode | RemoveTable))
        self._require_director(session.person.role, "let tables join")
        self._signing.charge_command(session)
        if self.join_server is None:
            raise requests.RequestError("busy", "the hub is starting", "try again in a moment")
        table = sent.table
        if isinstance(sent, RemoveTable):
            await self.join_server.remove_table(table)
            log.info("%s has taken %s out", session.person.name, table)
            return requests.json_response({"ok": True})
        if isinstance(sent, RevokeCode):
            await self.join_server.revoke_code(table)
            return requests.json_response({"ok": True})
        opened = await self.join_server.open(table, anew=sent.anew)
        log.info("%s lets %s join%s", session.person.name, table, ", with another password" if sent.anew else "")
        code = str(qr_code(opened.command, opened.command))
        return requests.json_response(
            {
                "ok": True,
                "table": table,
                **opened._asdict(),
                "good_s": opened.ends - self._clock(),
                "qr": code,
                "seq": self.seq,
            }
        )

    async def _join_table(self, request: Request) -> Response:
        """Answer a table that joins by a code, which may not cross the network in the clear."""
        if request.url.scheme != "https" or self.join_server is None:
            raise HTTPException(404)
        answer = await self.join_server.answer(await requests.read_body(request), requests.client_ip(request))
        return requests.json_response(answer)

    def _complete(self, sent: msgspec.Struct) -> d.Fact:
        """Return the fact that was sent, with the fields that only the hub can set. Raises `RequestError`."""
        given: dict[str, Any] = msgspec.to_builtins(sent)
        more: dict[str, Any] = {}
        match sent.__struct_config__.tag:
            case "plan":
                plan = self._director.now.plan
                more = {"rest_s": d.DEFAULT_REST_S, "grace_s": d.DEFAULT_GRACE_S, **given}
                more["tournament"] = plan.tournament if plan else secrets.token_hex(8)
                game = given.get("game")
                if game in registry.names() and given.get("format") == "round_robin":
                    timed = any(option.name == "minutes" for option in registry.game_class(game).options)
                    more.setdefault("clock", "round" if timed else "tables")  # as on the Lahal score sheet
            case "assign" | "move":
                more = {"order": secrets.token_hex(8)}
            case _ if isinstance(sent, BreakSent):
                begins, ends = break_times(sent, self._clock() + self._ahead())
                return d.BreakPlanned(begins - self._ahead(), ends - self._ahead(), sent.why)
            case _:
                pass
        return requests.complete(given, d.Fact, **more)

    def _require_right(self, role: str, tag: str) -> None:
        if tag not in RIGHTS.get(role, frozenset()):
            raise requests.RequestError(
                "role", "a {role} may not decide this: {tag}", "ask the director or the committee", role=role, tag=tag
            )

    def _require_director(self, role: str, deed: str) -> None:
        if not has_right(role, "people"):
            raise requests.RequestError("role", "a {role} may not {deed}", "ask the director", role=role, deed=deed)


def break_times(sent: BreakSent, t: float) -> tuple[float, float]:
    """Return the begin and the end (s since 1970) of a break: the end is the next time of day after `t`."""
    now = datetime.fromtimestamp(t).astimezone()

    def on_day(text: str, day: datetime) -> datetime:
        return datetime.combine(day.date(), time_of_day.fromisoformat(text)).astimezone()

    ends = on_day(sent.until, now)
    if ends <= now:
        ends = on_day(sent.until, now + timedelta(days=1))
    if not sent.begins:
        return t, ends.timestamp()
    begins = on_day(sent.begins, ends)
    if begins >= ends:
        begins = on_day(sent.begins, ends - timedelta(days=1))
    return begins.timestamp(), ends.timestamp()

"""HTTP API of the judge's console: state, event stream and commands, by the role of the signed-in user.

All routes are under `/judge`. Rights come only from the session cookie, never from the client's address.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.errors import MatError
from pi_controller.recording.hits import hits_path
from pi_controller.referee.judge import JudgeNewGame, JudgeRuling
from pi_controller.rules.base import Json
from pi_controller.table.table_queue import Picture, TableQueue
from pi_controller.table.view import View
from pi_controller.text import mark
from pi_controller.web import (
    api,
    connection_limits,
    console_page,
    entry_forms,
    event_log,
    game_page,
    requests,
    roles,
)
from pi_controller.web.accounts import Authenticator
from pi_controller.web.consequences import list_consequences
from pi_controller.web.event_stream import DESK_HEARTBEAT_S, encode_event, retry_ms
from pi_controller.web.feed import Feed
from pi_controller.web.judge_hits import draw_hit, list_hits
from pi_controller.web.sessions import Session
from pi_controller.web.sign_in import SignInRoutes

log = logging.getLogger(__name__)


class JudgeSnapshot(NamedTuple):
    """The table's state with the end of its journal, its legal actions, fouls, consequences, and the page's content.

    It is computed once for each change, for all judges.
    """

    picture: Picture
    minutes: event_log.EventLog
    legal: tuple[dict[str, Json], ...]
    regions: dict[str, str]
    fouls: tuple[entry_forms.FoulsOf, ...]
    effects: Mapping[str, str]
    desks: dict[str, tuple[console_page.Console, dict[str, str]]]
    """By role the console's content and the regions of its sections."""


MAX_STREAMS, MAX_STREAMS_PER_SESSION = 64, 4
"""Maximum event streams in total, and of one session; beyond, the oldest is closed."""
SESSION_CHECK_S = 2.0
"""How often a stream checks that its session is still valid, s."""
PICTURE_POLL_S = 0.1
"""How soon a stream checks again if a published view is not in the command queue yet, s."""


class JudgeApi(SignInRoutes):
    """Routes of the console: commands through `command_queue`, updates from `feed`, users of the `authenticator`.

    The table's journal is at `journal`. With `singer` the judge is reminded before a game to ask for each team's
    singer.
    """

    def __init__(
        self,
        command_queue: TableQueue,
        feed: Feed[View],
        authenticator: Authenticator,
        journal: Path,
        tr: Translator,
        heartbeat_s: float = DESK_HEARTBEAT_S,
        settle_s: float = console_page.SETTLE_S,
        *,
        singer: bool = False,
    ) -> None:
        super().__init__(authenticator, "/judge", tr)
        self.command_queue, self.feed = command_queue, feed
        self._journal, self._hits = journal, hits_path(journal)
        self._heartbeat_s, self._settle_s = heartbeat_s, settle_s
        self._singer = singer
        self.has_settings = False
        """True if the settings page is served, too."""
        self.has_start = False
        """True if the page of a card's choice is served, too."""
        self._latest: JudgeSnapshot | None = None
        self._one = asyncio.Lock()
        self._streams = connection_limits.ConnectionLimits(MAX_STREAMS, MAX_STREAMS_PER_SESSION)

    async def page(self, request: Request) -> Response:
        """Answer with the console, or with the sign-in page if the user is not signed in."""
        try:
            session = await self.require_session(request)
            snapshot = await self.snapshot()
        except MatError as error:
            if error.code != "signed_out":
                raise
            return await self.form_response(request)
        page = console_page.page(
            self._desk(snapshot, session.person.role)[1],
            self.tr,
            as_of=f"{datetime.now().astimezone():%H:%M:%S}",
            me=session.person.name,
            settings=self.has_settings and roles.has_right(session.person.role, "settings"),
            start=self.has_start and roles.has_right(session.person.role, "settings"),
            beat_s=self._heartbeat_s,
            settle_s=self._settle_s,
        )
        return HTMLResponse(page)

    async def state(self, request: Request) -> Response:
        """Answer with the whole state."""
        requests.require_same_site(request)
        session = await self.require_session(request, touch=False)
        return Response(self._content(await self.snapshot(), session), media_type="application/json")

    async def events(self, request: Request) -> Response:
        """Stream the state whenever it changes, until the session ends."""
        requests.require_same_site(request)
        session = await self.require_session(request, touch=False)
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        return StreamingResponse(
            self._follow(request, session), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
        )

    async def command(self, request: Request) -> Response:
        """Execute a judge's command."""
        session = await self.require_session(request)
        command = await requests.read_request(request, api.CommandSent)
        person, tag = session.person, str(command.call.__struct_config__.tag)
        call = api.to_judge_command(command)
        if not roles.has_right(person.role, tag) and not (
            tag == "undo" and roles.may_reopen(person.role, (await self.snapshot()).picture.view)
        ):
            may = [role for role in roles.ROLES if roles.has_right(role, tag)]
            hint = mark("ask the {roles}") if may else mark("it is not done from this page")
            raise requests.RequestError(
                "role", "a {role} may not do this: {tag}", hint, role=person.role, tag=tag, roles=" or ".join(may)
            )
        if isinstance(call, JudgeRuling | JudgeNewGame):
            possible = (await self.snapshot()).picture.rulings
            if isinstance(call, JudgeNewGame):
                if not roles.can_begin_game(person.role, possible):
                    raise requests.RequestError(
                        "role", "only the head judge may start another game", "call the head judge"
                    )
            elif possible and not roles.allowed_rulings(person.role, possible):
                raise requests.RequestError(
                    "role", "at a tournament the committee decides a protest", "call a member of the committee"
                )
        self.charge_command(session)
        done = await self.command_queue.submit_call(call, person.name, person.role, command.key, command.expect)
        log.info("%s (%s): %s, record %d", person.name, person.role, tag, done.seq)
        return requests.json_response({"ok": True, **done._asdict()})

    async def hits(self, request: Request) -> Response:
        """Answer with the list of recorded hits."""
        requests.require_same_site(request)
        session = await self.require_session(request)
        view = (await self.snapshot()).picture.view
        found: api.KeptHits = {"hits": await asyncio.to_thread(list_hits, self._hits, view, session.person.role)}
        return requests.json_response(found)

    async def hit(self, request: Request) -> Response:
        """Answer with the plot of one hit."""
        requests.require_same_site(request)
        session = await self.require_session(request)
        view = (await self.snapshot()).picture.view
        number = min(request.path_params["n"], 2**53)
        drawn = await asyncio.to_thread(draw_hit, self._hits, number, view, session.person.role)
        return Response(drawn, media_type="image/svg+xml")

    async def snapshot(self) -> JudgeSnapshot:
        """Return the newest state of the table. Raises `RequestError` while there is none."""
        async with self._one:
            picture = self.command_queue.picture
            if picture is None:
                raise requests.RequestError("waiting", "the table is not ready yet", "try again in a moment")
            if self._latest is None or self._latest.picture is not picture:
                legal = await asyncio.to_thread(picture.game.legal_actions, picture.state)
                fouls = game_page.page_of(picture.view, self.tr).fouls(picture.view, picture.game, picture.state)
                regions = console_page.console_regions(
                    picture.view, self.tr, picture.game.hiders_before(picture.state), singer=self._singer
                )
                effects = await asyncio.to_thread(self._list_effects, picture, legal)
                log_end = await self._read_event_log(picture)
                self._latest = JudgeSnapshot(picture, log_end, legal, regions, fouls, effects, {})
            return self._latest

    def _list_effects(self, picture: Picture, legal: Sequence[dict[str, Json]]) -> dict[str, str]:
        """Return the consequence of each action that can be entered now."""
        view, game = picture.view, picture.game
        form = game_page.page_of(view, self.tr).entry_form(view, legal, game.settings)
        asked = console_page.FOUND_ANSWERS.values() if view.question is not None else ()
        return list_consequences(form, view, game, picture.state, self.tr, [*asked])

    async def _read_event_log(self, picture: Picture) -> event_log.EventLog:
        view, undoable = picture.view, picture.last_undoable
        try:
            return await asyncio.to_thread(
                event_log.read_event_log, self._journal, view.game, view.teams, self.tr, undoable, view.seq
            )
        except MatError as error:  # the table itself reports when it cannot write
            log.warning("the end of the journal cannot be read: %s", error.message)
            return self._latest.minutes if self._latest else event_log.EventLog()

    def _desk(self, snapshot: JudgeSnapshot, role: str) -> tuple[console_page.Console, dict[str, str]]:
        """Return the console's content and all regions for `role`."""
        if role not in snapshot.desks:
            snapshot.desks[role] = self._make_desk(snapshot, role)
        return snapshot.desks[role]

    def _make_desk(self, snapshot: JudgeSnapshot, role: str) -> tuple[console_page.Console, dict[str, str]]:
        picture = snapshot.picture
        desk = console_page.console(
            picture.view,
            snapshot.legal,
            self.tr,
            undo=snapshot.minutes.undo,
            last=snapshot.minutes.action,
            options=picture.game.settings,
            sets=roles.has_right(role, "set"),
            begins=roles.can_begin_game(role, picture.rulings) and not picture.protest,
            names=roles.has_right(role, "teams") and picture.nameable,
            effects=snapshot.effects,
        )
        sections = console_page.desk_regions(
            picture.view,
            desk,
            self.tr,
            fouls=snapshot.fouls,
            protest=picture.protest,
            rulings=roles.allowed_rulings(role, picture.rulings),
            log=snapshot.minutes.lines,
        )
        return desk, snapshot.regions | sections

    def _content(self, snapshot: JudgeSnapshot, session: Session) -> bytes:
        picture, view, role = snapshot.picture, snapshot.picture.view, session.person.role
        desk, regions = self._desk(snapshot, role)
        content: api.StateContent = {
            "view": view,
            "regions": regions,
            "console": desk,
            "me": {"name": session.person.name, "role": role},
            "legal": snapshot.legal,
            "fouls": snapshot.fouls,
            "protest": picture.protest,
            "rulings": roles.allowed_rulings(role, picture.rulings),
            "log": snapshot.minutes.lines,
            "health": {
                "link": view.link,
                "note": Phrases(self.tr).notice(view),
                "faults": view.faults,
                "sensors": view.sensors,
                "board": picture.board,
            },
            "now": round(self.authenticator.clock(), 3),
        }
        return msgspec.json.encode(content, enc_hook=str)

    async def _follow(self, request: Request, session: Session) -> AsyncIterator[bytes]:
        watcher = self.feed.subscribe()
        share = self._streams.take(session.id, watcher.end)
        quiet, looks = 0.0, min(SESSION_CHECK_S, self._heartbeat_s)
        shown: Picture | None = None
        behind = False
        try:
            yield b"retry: %d\n\n" % retry_ms(len(self._streams))
            while not watcher.ended:
                waited = min(PICTURE_POLL_S, looks) if behind else looks
                snapshot = await watcher.next(waited)
                try:
                    session = await self.require_session(request, touch=False)
                    current = await self.snapshot()
                except MatError:
                    return
                if current.picture is not shown:
                    quiet, shown = 0.0, current.picture
                    yield encode_event(shown.view.seq, "judge", self._content(current, session))
                elif snapshot is None and not watcher.ended and (quiet := quiet + waited) >= self._heartbeat_s:
                    quiet = 0.0
                    yield b": heartbeat\nevent: beat\ndata: -\n\n"
                # the table publishes the view shortly before it updates the command queue
                behind = (latest := self.feed.latest) is not None and latest.content != current.picture.view
        finally:
            watcher.close()
            self._streams.release(share)


def judge_routes(judge: JudgeApi) -> list[Route]:
    """Return the console's routes; a `MatError` becomes a JSON answer with a status."""
    return [
        requests.json_route("/judge", judge.page),
        requests.json_route("/judge/sign-in", judge.sign_in, "GET", "POST"),
        requests.json_route("/judge/sign-out", judge.sign_out, "POST"),
        requests.json_route("/judge/state.json", judge.state),
        requests.json_route("/judge/events", judge.events),
        requests.json_route("/judge/command", judge.command, "POST"),
        requests.json_route("/judge/hits.json", judge.hits),
        requests.json_route("/judge/hit/{n:int}.svg", judge.hit),
        requests.json_route("/judge/people", judge.people, "GET", "POST"),
    ]

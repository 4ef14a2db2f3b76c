"""HTTP API of the judge's console: state, event stream and commands, by the role of who is signed in.

Everything under `/judge`. Nobody has a right because of where they are; the cookie of a session is all there is.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response, StreamingResponse

from pi_controller.errors import MatError
from pi_controller.referee.judge import JudgeNewGame, JudgeRuling
from pi_controller.table.review import beside
from pi_controller.web import console_page, judge_hits
from pi_controller.web.judge_command import understood
from pi_controller.web.judge_state import JudgeState, as_json
from pi_controller.web.request_body import RefusedError, answer, guarded_route, same_site, sent
from pi_controller.web.shares import Shares
from pi_controller.web.sign_in import SignIn
from pi_controller.web.signing.roles import begins_games, may, rulings
from pi_controller.web.sse import BLOCK, HEARTBEAT_S, retry_ms

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.requests import Request
    from starlette.routing import Route

    from pi_controller.table.command_queue import CommandQueue, Picture
    from pi_controller.web.api_types import CommandDone, KeptHits, Me
    from pi_controller.web.feed import Feed
    from pi_controller.web.judge_state import Snapshot
    from pi_controller.web.signing.authenticator import Authenticator
    from pi_controller.web.signing.sessions import Session

log = logging.getLogger(__name__)

MOST_STREAMS, EACH = 64, 4
"""Event streams of all judges, and of one session; beyond, the oldest ends."""
LOOK_S = 2.0
"""How soon a stream sees that its session has ended, s."""
SOON_S = 0.1
"""How soon it looks again where a picture was published that is not on the desk yet, s."""


class JudgeApi(SignIn):
    """The console's answers: commands over `command_queue`, changes by `feed`, people by the `authenticator`."""

    def __init__(
        self,
        command_queue: CommandQueue,
        feed: Feed,
        authenticator: Authenticator,
        journal: Path,
        language: str = "en",
        heartbeat_s: float = HEARTBEAT_S,
        settle_s: float = console_page.SETTLE_S,
    ) -> None:
        super().__init__(authenticator, "/judge", language)
        self.command_queue, self.feed = command_queue, feed
        self._hits = beside(journal)
        self._heartbeat_s = heartbeat_s
        self._settle_s = settle_s
        self._state = JudgeState(command_queue, journal, language)
        self._streams = Shares(MOST_STREAMS, EACH)

    async def page(self, request: Request) -> Response:
        """Answer the console, or the sign-in page to who is not signed in."""
        try:
            session = await self.who(request)
            snapshot = await self.snapshot()
        except MatError as error:
            if error.code != "signed_out":
                raise
            return await self.form()
        view, content = snapshot.picture.view, self._state.page(snapshot, session.person.role)
        as_of, beat_s = f"{datetime.now().astimezone():%H:%M:%S}", self._heartbeat_s
        page = console_page.page(
            view,
            content,
            self.language,
            as_of=as_of,
            me=session.person.name,
            beat_s=beat_s,
            settle_s=self._settle_s,
        )
        return HTMLResponse(page)

    async def state(self, request: Request) -> Response:
        """Answer the whole state."""
        same_site(request)
        session = await self.who(request, touch=False)
        return Response(self._content(await self.snapshot(), session), media_type="application/json")

    async def events(self, request: Request) -> Response:
        """Answer the state whenever it changes, until the session ends."""
        same_site(request)
        session = await self.who(request, touch=False)
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        return StreamingResponse(
            self._follow(request, session), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
        )

    async def command(self, request: Request) -> Response:
        """Say something to the table."""
        session = await self.who(request)
        command = understood(await sent(request))
        person = session.person
        if not may(person.role, command.tag):
            raise RefusedError("role", f"a {person.role} cannot say this: {command.tag}", "call a judge")
        if isinstance(command.call, JudgeRuling):
            possible = (await self.snapshot()).picture.rulings
            if possible and not rulings(person.role, possible):
                raise RefusedError(
                    "role", "at a tournament the committee decides a protest", "call somebody of the committee"
                )
        if isinstance(command.call, JudgeNewGame):
            possible = (await self.snapshot()).picture.rulings
            if not begins_games(person.role, possible):
                raise RefusedError("role", "another game is the head judge's to begin", "call the head judge")
        if (wait := self.rate(session)) > 0:
            raise RefusedError("often", "too many commands at once", f"wait {wait:.1f} s")
        done = await self.command_queue.ask(command.call, person.name, person.role, command.key, command.expect)
        log.info("%s (%s): %s, record %d", person.name, person.role, command.tag, done.seq)
        stands: CommandDone = {"ok": True, "seq": done.seq, "repeated": done.repeated, "revision": done.revision}
        return answer(stands)

    async def hits(self, request: Request) -> Response:
        """Answer which hits can be looked at."""
        same_site(request)
        session = await self.who(request)
        view = (await self.snapshot()).picture.view
        found: KeptHits = {"hits": await asyncio.to_thread(judge_hits.listed, self._hits, view, session.person.role)}
        return answer(found)

    async def hit(self, request: Request) -> Response:
        """Answer the picture of one hit."""
        same_site(request)
        session = await self.who(request)
        view = (await self.snapshot()).picture.view
        number = min(request.path_params["n"], 2**53)
        drawn = await asyncio.to_thread(judge_hits.drawn, self._hits, number, view, session.person.role)
        return Response(drawn, media_type="image/svg+xml")

    async def snapshot(self) -> Snapshot:
        """Return the table as it was shown last. Raises `RefusedError` while there is none."""
        snapshot = await self._state.snapshot()
        if snapshot is None:
            raise RefusedError("waiting", "the table is not there yet", "try again in a moment")
        return snapshot

    def _content(self, snapshot: Snapshot, session: Session) -> bytes:
        me: Me = {"name": session.person.name, "role": session.person.role}
        return as_json(self._state.content(snapshot, me, self.authenticator.clock()))

    async def _follow(self, request: Request, session: Session) -> AsyncIterator[bytes]:
        watcher = self.feed.subscribe()
        share = self._streams.take(session.id, watcher.end)
        quiet, looks = 0.0, min(LOOK_S, self._heartbeat_s)
        shown: Picture | None = None
        behind = False
        try:
            yield b"retry: %d\n\n" % retry_ms(len(self._streams))
            while not watcher.ended:
                waited = min(SOON_S, looks) if behind else looks
                snapshot = await watcher.next(waited)
                try:
                    session = await self.who(request, touch=False)
                    current = await self.snapshot()
                except MatError:
                    return
                if current.picture is not shown:
                    quiet, shown = 0.0, current.picture
                    yield _event(shown.view.seq, self._content(current, session))
                elif snapshot is None and not watcher.ended and (quiet := quiet + waited) >= self._heartbeat_s:
                    quiet = 0.0
                    yield b": heartbeat\nevent: beat\ndata: -\n\n"
                # the table publishes a moment before it lays the picture out
                behind = (latest := self.feed.latest) is not None and latest.view != current.picture.view
        finally:
            watcher.close()
            self._streams.leave(share)


def _event(seq: int, content: bytes) -> bytes:
    """Return the state as one event, padded to whole kilobytes as the live page's."""
    body = b"id: %d\nevent: judge\ndata: %s\n" % (seq, content)
    return body + b":" + b" " * (-(len(body) + 3) % BLOCK) + b"\n\n"


def judge_routes(api: JudgeApi) -> list[Route]:
    """Return the console's routes; whatever they raise on purpose is answered as JSON with a status."""
    return [
        guarded_route("/judge", api.page),
        guarded_route("/judge/sign-in", api.sign_in, "GET", "POST"),
        guarded_route("/judge/sign-out", api.sign_out, "POST"),
        guarded_route("/judge/state.json", api.state),
        guarded_route("/judge/events", api.events),
        guarded_route("/judge/command", api.command, "POST"),
        guarded_route("/judge/hits.json", api.hits),
        guarded_route("/judge/hit/{n:int}.svg", api.hit),
        guarded_route("/judge/people", api.people, "GET", "POST"),
    ]

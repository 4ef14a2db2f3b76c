"""The web application: the live page, its event stream, the view as JSON, a health answer and three static files."""

from __future__ import annotations

import itertools
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from pi_controller.show.i18n import catalogue
from pi_controller.web.board import board
from pi_controller.web.guard import HEADERS, Guard
from pi_controller.web.page import page, template
from pi_controller.web.sse import HEARTBEAT_S, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.requests import Request

    from pi_controller.web.feed import Feed

_STATIC = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
MAX_WATCHERS = 256
"""Streams at once; more are told to come back later."""


def _now() -> datetime:
    return datetime.now().astimezone()


def create_app(
    feed: Feed,
    *,
    hosts: Iterable[str] = (),
    language: str = "en",
    heartbeat_s: float = HEARTBEAT_S,
    max_watchers: int = MAX_WATCHERS,
    now: Callable[[], datetime] = _now,
) -> Starlette:
    """Return the application over `feed`. `hosts` are names it answers to besides `localhost` and addresses.

    `language` is a code for the sentences, `now` the wall clock for "as of". Raises `SettingsError` for a language
    code that is none.
    """
    catalogue(language)
    files = {path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in _STATIC.iterdir() if path.suffix in _TYPES}
    numbers = itertools.count()

    async def live(_: Request) -> Response:
        latest = feed.latest
        if latest is None:
            return HTMLResponse(template("waiting"), 503, {"retry-after": "2"})
        return HTMLResponse(
            page(board(latest.view, language, latest.chances), language=language, as_of=f"{now():%H:%M:%S}")
        )

    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        if feed.watchers >= max_watchers:
            return PlainTextResponse("Too many are watching.\n", 503, {"retry-after": "10"})
        last_id = request.headers.get("last-event-id")
        body = stream(feed, language, last_id, next(numbers), heartbeat_s)
        return StreamingResponse(body, media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    async def view_json(_: Request) -> Response:
        latest = feed.latest
        if latest is None:
            return Response(b'{"error":"no view yet"}', 503, {"retry-after": "2"}, "application/json")
        return Response(msgspec.json.encode(latest.view), media_type="application/json")

    async def healthz(_: Request) -> Response:
        latest = feed.latest
        well = latest is not None and latest.view.phase != "halted"
        state = {
            "ok": well,
            "seq": latest.view.seq if latest else None,
            "phase": latest.view.phase if latest else None,
            "link": latest.view.link if latest else None,
            "watchers": feed.watchers,
        }
        return Response(msgspec.json.encode(state), 200 if well else 503, media_type="application/json")

    async def static(request: Request) -> Response:
        content, media_type = files.get(request.path_params["name"], (None, ""))
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=media_type)

    async def failed(_: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return PlainTextResponse("There is nothing here.\n", error.status_code)
        headers = {name.decode(): value.decode() for name, value in HEADERS}  # this answer bypasses the guard
        return PlainTextResponse("That did not work.\n", 500, headers)

    app = Starlette(
        routes=[
            Route("/", live),
            Route("/events", events),
            Route("/view.json", view_json),
            Route("/healthz", healthz),
            Route("/static/{name}", static),
        ],
        middleware=[Middleware(Guard, hosts=tuple(hosts))],
        exception_handlers={HTTPException: failed, Exception: failed},
    )
    app.router.redirect_slashes = False
    return app

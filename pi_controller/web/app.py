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
from pi_controller.web.middleware import HEADERS, RequestFilter
from pi_controller.web.page import page, waiting
from pi_controller.web.page_content import board
from pi_controller.web.public_pages import public_routes
from pi_controller.web.request_body import sender
from pi_controller.web.shares import Shares, place_of
from pi_controller.web.sse import HEARTBEAT_S, SHAPES, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from starlette.requests import Request

    from pi_controller.web.address import Pages
    from pi_controller.web.feed import Feed

_STATIC = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
MAX_WATCHERS = 1024
"""Streams at once; beyond, the oldest of the place that has most ends."""


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
    more: Sequence[Route] = (),
    pages: Pages | None = None,
) -> Starlette:
    """Return the application over `feed`. `hosts` are names it answers to besides `localhost` and addresses.

    `language` is a code for the sentences, `now` the wall clock for "as of", `more` other pages; of these alone some
    may take a POST. `pages` is what the organiser says of the public ones. Raises `SettingsError` for a language code
    that is none.
    """
    catalogue(language)
    files = {path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in _STATIC.iterdir() if path.suffix in _TYPES}
    numbers = itertools.count()
    watching = Shares(max_watchers)

    async def live(_: Request) -> Response:
        latest = feed.latest
        if latest is None:
            return HTMLResponse(waiting(language), 503, {"retry-after": "2"})
        content = board(latest.view, language, latest.chances)
        return HTMLResponse(page(content, language=language, as_of=f"{now():%H:%M:%S}", t=feed.clock()))

    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        shape = request.query_params.get("page", "")
        if shape not in SHAPES:
            raise HTTPException(404)
        # a page that opens a new stream cannot set the header: it names the last id in the address
        last_id = request.headers.get("last-event-id") or request.query_params.get("last")
        place = place_of(sender(request))
        body = stream(feed, language, last_id, next(numbers), heartbeat_s, shape, place=place, shares=watching)
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
            return PlainTextResponse("There is nothing here.\n", error.status_code, error.headers)
        headers = {name.decode(): value.decode() for name, value in HEADERS}  # this answer bypasses the guard
        return PlainTextResponse("That did not work.\n", 500, headers)

    app = Starlette(
        routes=[
            Route("/", live),
            Route("/events", events),
            Route("/view.json", view_json),
            Route("/healthz", healthz),
            Route("/static/{name}", static),
            *public_routes(
                feed, language=language, now=now, pages=pages, judged=any(route.path == "/judge" for route in more)
            ),
            *more,
        ],
        middleware=[
            Middleware(
                RequestFilter, hosts=tuple(hosts), posts=tuple(r.path for r in more if "POST" in (r.methods or ()))
            )
        ],
        exception_handlers={HTTPException: failed, Exception: failed},
    )
    app.router.redirect_slashes = False
    return app

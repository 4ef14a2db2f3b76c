"""Serves the calibration walk as a web page: the steps, words and bars of the terminal, for a phone at the mat.

Nothing can be sent from the page: the walk goes on by what the mat feels.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from pi_controller.calibration.terminal import BAR_MARKS, MARKS, SAID
from pi_controller.web.feed import Feed
from pi_controller.web.middleware import HEADERS, RequestFilter
from pi_controller.web.server import WebServer
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from pi_controller.calibration.view import WalkView

LOOK_S = 0.1
"""How often a watcher looks for a newer picture."""
BEAT_S = 10.0
MAX_WATCHERS = 16
_STATIC = {
    "style.css": ("pi_controller.web", "text/css"),
    "icon.svg": ("pi_controller.web", "image/svg+xml"),
    "calibrate.css": ("pi_controller.calibration", "text/css"),
    "calibrate.js": ("pi_controller.calibration", "text/javascript"),
}
_PAGE, _WALK = (Path(__file__).with_name(name) for name in ("page.html", "walk.html"))


class WalkPage:
    """Serves the newest view at `host`:`port`. `publish` may be called from any thread."""

    def __init__(self, host: str, port: int) -> None:
        self._bell = Feed()  # rings when the server stops
        self._latest: tuple[int, WalkView | None] = (0, None)
        self._server = WebServer(self._bell, host, port, app=self._app)

    @property
    def url(self) -> str:
        """Where the page is, for this machine."""
        return self._server.url

    def start(self) -> None:
        """Listen and serve; raises `WebError`."""
        self._server.start()

    def stop(self) -> None:
        """End all streams and stop listening. Stopping twice is fine."""
        self._server.stop()

    def publish(self, view: WalkView) -> None:
        """Make `view` the newest."""
        number, latest = self._latest
        if view != latest:
            self._latest = (number + 1, view)

    def _app(self, hosts: list[str]) -> Starlette:
        static = {
            name: (files(package).joinpath("static", name).read_bytes(), kind)
            for name, (package, kind) in _STATIC.items()
        }

        async def page(_: Request) -> Response:
            view = self._latest[1]
            walk, ask = ("", "") if view is None else (markup(view), view.ask)
            return HTMLResponse(render(_PAGE, walk=walk, ask=ask))

        async def events(request: Request) -> Response:
            if request.method == "HEAD":
                return Response(media_type="text/event-stream")
            if self._bell.watchers >= MAX_WATCHERS:
                return PlainTextResponse("Too many are watching.\n", 503, {"retry-after": "10"})
            return StreamingResponse(self._stream(), media_type="text/event-stream")

        async def file(request: Request) -> Response:
            content, kind = static.get(request.path_params["name"], (None, ""))
            if content is None:
                raise HTTPException(404)
            return Response(content, media_type=kind)

        async def failed(_: Request, error: Exception) -> Response:
            if isinstance(error, HTTPException):
                return PlainTextResponse("There is nothing here.\n", error.status_code)
            headers = {name.decode(): value.decode() for name, value in HEADERS}  # this answer bypasses the guard
            return PlainTextResponse("That did not work.\n", 500, headers)

        return Starlette(
            routes=[Route("/", page), Route("/events", events), Route("/static/{name}", file)],
            middleware=[Middleware(RequestFilter, hosts=tuple(hosts))],
            exception_handlers={HTTPException: failed, Exception: failed},
        )

    async def _stream(self) -> AsyncIterator[bytes]:
        """Yield each newer picture until the server stops; a beat when nothing is new for a while."""
        watcher = self._bell.subscribe()
        seen, idle = 0, 0.0
        try:
            yield b"retry: 1000\n\n"
            while not watcher.ended:
                number, view = self._latest
                if view is not None and number != seen:
                    seen, idle = number, 0.0
                    content = msgspec.json.encode({"html": str(markup(view)), "said": view.ask, "over": view.over})
                    yield b"event: walk\ndata: " + content + b"\n\n"
                elif (idle := idle + LOOK_S) >= BEAT_S:
                    idle = 0.0
                    yield b"event: beat\ndata: -\n\n"
                await watcher.next(LOOK_S)
        finally:
            watcher.close()


def markup(view: WalkView) -> Markup:
    """Return a view as HTML: what to do now, the bars, the steps."""
    return Markup(render(_WALK, view=view, marks=MARKS, outcomes=SAID, bar_marks=BAR_MARKS))  # noqa: S704 - escaped by it

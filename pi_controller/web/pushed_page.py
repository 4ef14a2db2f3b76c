"""One page that is sent anew with each picture of what it shows: the calibration's walk, the tables at the hub.

Nothing can be sent from such a page, unless it says so itself (`more_routes`): the exhibit's takes touches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.resources import files
from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from pi_controller.web.feed import Feed
from pi_controller.web.middleware import HEADERS, RequestFilter
from pi_controller.web.server import WebServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.requests import Request

LOOK_S = 0.1
"""How often a watcher looks for a newer picture."""
BEAT_S = 10.0
STATIC = {
    "style.css": ("pi_controller.web", "text/css"),
    "icon.svg": ("pi_controller.web", "image/svg+xml"),
}
"""Files that every such page has: the package in whose `static/` they lie, and what they are."""

Picture = TypeVar("Picture")


async def event_stream(
    bell: Feed, newer: Callable[[], Awaitable[bytes | None]], look_s: float = LOOK_S
) -> AsyncIterator[bytes]:
    """Yield what `newer` returns, whole events, and a beat where it has had none (b"") for a while.

    It is asked every `look_s`, until it returns None or the server of `bell` stops.
    """
    watcher, idle = bell.subscribe(), 0.0
    try:
        yield b"retry: 1000\n\n"
        while not watcher.ended and (event := await newer()) is not None:
            if event:
                idle = 0.0
                yield event
            elif (idle := idle + look_s) >= BEAT_S:
                idle = 0.0
                yield b"event: beat\ndata: -\n\n"
            await watcher.next(look_s)
    finally:
        watcher.close()


class PushedPage(ABC, Generic[Picture]):
    """Serves the newest picture at `host`:`port`, to `most` watchers. `publish` may be called from any thread.

    `static` are the page's files besides `STATIC`. A subclass says how a picture is shown.
    """

    def __init__(self, host: str, port: int, static: Mapping[str, tuple[str, str]], most: int = 16) -> None:
        self._bell = Feed()  # rings when the server stops
        self._latest: tuple[int, Picture | None] = (0, None)
        self._static = {
            name: (files(package).joinpath("static", name).read_bytes(), kind)
            for name, (package, kind) in {**STATIC, **static}.items()
        }
        self._most = most
        self._server = WebServer(self._bell, host, port, app=self._app)

    @abstractmethod
    def page(self, picture: Picture | None) -> str:
        """Return the whole page; None before the first picture."""

    @abstractmethod
    def event(self, picture: Picture) -> tuple[str, bytes]:
        """Return the name and the data, JSON on one line, of the event that brings `picture`."""

    def more_routes(self) -> list[Route]:
        """Return the routes of a subclass; of these alone some may take a POST."""
        return []

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

    def publish(self, picture: Picture) -> None:
        """Make `picture` the newest."""
        number, latest = self._latest
        if picture != latest:
            self._latest = (number + 1, picture)

    def _app(self, hosts: list[str]) -> Starlette:
        async def page(_: Request) -> Response:
            return HTMLResponse(self.page(self._latest[1]))

        async def events(request: Request) -> Response:
            if request.method == "HEAD":
                return Response(media_type="text/event-stream")
            if self._bell.watchers >= self._most:
                return PlainTextResponse("Too many are watching.\n", 503, {"retry-after": "10"})
            return StreamingResponse(self._stream(), media_type="text/event-stream")

        async def file(request: Request) -> Response:
            content, kind = self._static.get(request.path_params["name"], (None, ""))
            if content is None:
                raise HTTPException(404)
            return Response(content, media_type=kind)

        async def failed(_: Request, error: Exception) -> Response:
            if isinstance(error, HTTPException):
                return PlainTextResponse("There is nothing here.\n", error.status_code)
            headers = {name.decode(): value.decode() for name, value in HEADERS}  # this answer bypasses the guard
            return PlainTextResponse("That did not work.\n", 500, headers)

        more = self.more_routes()
        posts = tuple(route.path for route in more if "POST" in (route.methods or ()))
        return Starlette(
            routes=[Route("/", page), Route("/events", events), Route("/static/{name}", file), *more],
            middleware=[Middleware(RequestFilter, hosts=tuple(hosts), posts=posts)],
            exception_handlers={HTTPException: failed, Exception: failed},
        )

    async def _stream(self) -> AsyncIterator[bytes]:
        """Yield each newer picture until the server stops."""
        seen = 0

        async def newer() -> bytes:
            nonlocal seen
            number, picture = self._latest
            if picture is None or number == seen:
                return b""
            seen = number
            name, data = self.event(picture)
            return b"event: %s\ndata: %s\n\n" % (name.encode(), data)

        async for piece in event_stream(self._bell, newer):
            yield piece

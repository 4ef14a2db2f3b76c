"""A page that is pushed again for each new picture: the calibration walk, the hub's tables, the exhibit.

It accepts no input unless a subclass adds routes (`extra_routes`), as the exhibit does for touches.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Generic, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from pi_controller.display.i18n import Translator
from pi_controller.web.app import make_app
from pi_controller.web.event_stream import HEARTBEAT_S
from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

POLL_S = 0.1
"""How often a watcher checks for a newer picture."""
COMMON_FILES = {
    "tokens.css": ("pi_controller.web", "text/css"),
    "style.css": ("pi_controller.web", "text/css"),
    "icon.svg": ("pi_controller.web", "image/svg+xml"),
    "stick.svg": ("pi_controller.web", "image/svg+xml"),
    "plain.css": ("pi_controller.web", "text/css"),
    "help.css": ("pi_controller.web", "text/css"),
    **dict.fromkeys(("drawn.js", "request.js", "stream.js"), ("pi_controller.web", "text/javascript")),
    **{
        path.name: ("pi_controller.web", "font/woff2")
        for path in files("pi_controller.web").joinpath("static").iterdir()
        if path.name.endswith(".woff2")
    },
}
"""Files of every such page: the package with the `static/` folder, and the media type."""

Picture = TypeVar("Picture")


async def event_stream(
    bell: Feed,
    newer: Callable[[], Awaitable[bytes | None]],
    look_s: float = POLL_S,
    beat_s: float = HEARTBEAT_S,
) -> AsyncIterator[bytes]:
    """Yield the events that `newer` returns, and a heartbeat after `beat_s` without one (b"").

    `newer` is called every `look_s`, until it returns None or the server of `bell` stops.
    """
    watcher, idle = bell.subscribe(), 0.0
    try:
        yield b"retry: 1000\n\n"
        while not watcher.ended and (event := await newer()) is not None:
            if event:
                idle = 0.0
                yield event
            elif (idle := idle + look_s) >= beat_s:
                idle = 0.0
                yield b"event: beat\ndata: -\n\n"
            await watcher.next(look_s)
    finally:
        watcher.close()


class PushedPage(ABC, Generic[Picture]):
    """Serves the newest picture at `host`:`port` to at most `most` watchers. `publish` may be called from any thread.

    `tr` is the language of refusals, `static` are the page's files besides `COMMON_FILES`. A subclass renders the
    picture (`page`, `event`).
    """

    def __init__(
        self, host: str, port: int, tr: Translator, static: Mapping[str, tuple[str, str]], most: int = 16
    ) -> None:
        self._bell = Feed()  # ends the streams when the server stops
        self._latest: tuple[int, Picture | None] = (0, None)
        self._static = {
            name: (files(package).joinpath("static", name).read_bytes(), kind)
            for name, (package, kind) in {**COMMON_FILES, **static}.items()
        }
        self._most, self._tr = most, tr
        self._server = WebServer(self._bell, host, port, app=self._app)

    @abstractmethod
    def page(self, picture: Picture | None) -> str:
        """Return the whole page; `picture` is None before the first one."""

    @abstractmethod
    def event(self, picture: Picture) -> tuple[str, bytes]:
        """Return the name and the data, JSON on one line, of the event for `picture`."""

    def extra_routes(self) -> list[Route]:
        """Return the routes of a subclass; only these may accept a POST."""
        return []

    @property
    def app(self) -> ASGIApp:
        """The page's application, without its server."""
        return self._server.app

    @property
    def url(self) -> str:
        """The URL of the page on this machine."""
        return self._server.url

    @property
    def seq(self) -> int:
        """The number of the newest picture, from 1; 0 before the first."""
        return self._latest[0]

    def start(self) -> None:
        """Start listening. Raises `WebError`."""
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
                return PlainTextResponse(self._tr.text("Too many are watching.") + "\n", 503, {"retry-after": "10"})
            return StreamingResponse(self._stream(), media_type="text/event-stream")

        routes = [Route("/", page), Route("/events", events)]
        return make_app(routes, self.extra_routes(), self._static, hosts, self._tr)

    async def _stream(self) -> AsyncIterator[bytes]:
        seen = 0

        async def newer() -> bytes:
            nonlocal seen
            number, picture = self._latest
            if picture is None or number == seen:
                return b""
            seen = number
            name, data = self.event(picture)
            return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, name.encode(), data)

        async for piece in event_stream(self._bell, newer):
            yield piece

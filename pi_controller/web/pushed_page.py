"""A page that is pushed again for each new picture: the calibration walk, the hub's tables, the exhibit.

It accepts no input unless a subclass adds routes (`extra_routes`), as the exhibit does for touches.
"""

import itertools
from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from pi_controller.display.i18n import Translator
from pi_controller.web.app import make_app, static_files
from pi_controller.web.connection_limits import ConnectionLimits, client_network
from pi_controller.web.event_stream import stream
from pi_controller.web.feed import Feed, Snapshot
from pi_controller.web.requests import client_ip
from pi_controller.web.server import WebServer

Picture = TypeVar("Picture")


class _Numbered(NamedTuple, Generic[Picture]):
    """A picture and its number, from 1."""

    seq: int
    picture: Picture


class PushedPage(ABC, Generic[Picture]):
    """Serves the newest picture at `host`:`port` to at most `most` watchers. `publish` may be called from any thread.

    `tr` is the language of refusals, `package` the one with the page's files. A subclass renders the picture (`page`,
    `event`).
    """

    def __init__(self, host: str, port: int, tr: Translator, package: str, most: int = 16) -> None:
        self._feed = Feed[_Numbered[Picture]]()
        self._package = package
        self._watching, self._tr = ConnectionLimits(most), tr
        self._server = WebServer(self._feed, host, port, app=self._app)

    @abstractmethod
    def page(self, picture: Picture | None) -> str:
        """Return the whole page; `picture` is None before the first one."""

    @abstractmethod
    def event(self, picture: Picture) -> tuple[str, bytes]:
        """Return the name and the data, JSON on one line, of the event for `picture`."""

    def extra_routes(self) -> list[Route]:
        """Return the routes of a subclass."""
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
        latest = self._feed.latest
        return latest.content.seq if latest else 0

    @property
    def picture(self) -> Picture | None:
        """The newest picture."""
        latest = self._feed.latest
        return latest.content.picture if latest else None

    def start(self) -> None:
        """Start listening. Raises `WebError`."""
        self._server.start()

    def stop(self) -> None:
        """End all streams and stop listening. Stopping twice is fine."""
        self._server.stop()

    def publish(self, picture: Picture) -> None:
        """Make `picture` the newest."""
        if picture != self.picture:
            self._feed.publish(_Numbered(self.seq + 1, picture))

    def _app(self, hosts: list[str]) -> Starlette:
        numbers = itertools.count()

        async def page(_: Request) -> Response:
            return HTMLResponse(self.page(self.picture))

        def write(snapshot: Snapshot[_Numbered[Picture]]) -> bytes:
            name, data = self.event(snapshot.content.picture)
            return b"id: %d\nevent: %s\ndata: %s\n\n" % (snapshot.content.seq, name.encode(), data)

        async def events(request: Request) -> Response:
            if request.method == "HEAD":
                return Response(media_type="text/event-stream")
            place = client_network(client_ip(request))
            body = stream(self._feed, write, None, next(numbers), place=place, shares=self._watching)
            return StreamingResponse(body, media_type="text/event-stream")

        routes = [Route("/", page), Route("/events", events), *self.extra_routes()]
        return make_app(routes, static_files(self._package), hosts, self._tr)

"""Runs uvicorn in a thread of its own: it listens when `start` returns, and has ended when `stop` does."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn

from pi_controller.errors import MatError
from pi_controller.web.address import Pages
from pi_controller.web.app import create_app
from pi_controller.web.timeouts import MAX_HEADER_BYTES, Gate, Lines, TimedProtocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from starlette.routing import Route
    from starlette.types import ASGIApp

    from pi_controller.web.feed import Feed

_SEND_BUFFER = 64 * 1024  # bytes the kernel may hold for a watcher that does not read
_DEAD_AFTER_MS = 30_000  # a watcher that acknowledges nothing for so long has gone
_LET_IN = 32
"""Connections let in between two looks at all others: who opens and closes them in a rush leaves others their turn."""
_START_S, _STOP_S = 10.0, 5.0
_READ_S, _ANSWER_S = 0.5, 2.2
"""When the server stops: so long a watcher may take to read the end of its stream, and a judge's last request to be
answered, for which the table has two seconds."""


class WebError(MatError, OSError):
    """The pages cannot be served."""

    code = "web"


class _Server(uvicorn.Server):
    """Says when it listens, ends when it is told to, and ends the watchers' streams then."""

    def __init__(self, config: uvicorn.Config, feed: Feed) -> None:
        super().__init__(config)
        self.server_state = Lines(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        self.listening = threading.Event()
        self._feed = feed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Stop, from any thread."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._ending.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.listening.set()

    async def main_loop(self) -> None:
        """Wake once a second for the date in the headers. Uvicorn's own looks ten times whether it is to end."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), 1.0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._feed.hang_up()
        loop = asyncio.get_running_loop()
        timers = [loop.call_later(_READ_S, self._abort, False), loop.call_later(_ANSWER_S, self._abort)]
        await super().shutdown(sockets)
        for timer in timers:
            timer.cancel()
        self._abort()
        await asyncio.sleep(0)  # a transport gives its socket back a turn later

    def _abort(self, everybody: bool = True) -> None:
        """Hang up on who does not read, or on `everybody`: a socket that the loop leaves behind nobody closes."""
        for connection in list(self.server_state.connections):
            if everybody or connection.transport.get_write_buffer_size():
                connection.transport.abort()


class WebServer:
    """Serves `feed` at `host`:`port`; port 0 takes a free one, and `port` tells which after `start`.

    It answers to this machine's name, also with `.local`, to `localhost`, to addresses and to the names in `hosts`.
    What `proxy`, an address, says of who asks and by which scheme is believed, and nobody else who says it. `language`,
    `more` and `pages` as for `create_app`; `app` makes another application, which answers to the hosts it
    is given and ends its streams when the feed hangs up.
    """

    def __init__(
        self,
        feed: Feed,
        host: str = "127.0.0.1",
        port: int = 8080,
        *,
        hosts: Iterable[str] = (),
        proxy: str = "",
        language: str = "en",
        app: Callable[[list[str]], ASGIApp] | None = None,
        more: Sequence[Route] = (),
        pages: Pages | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self.pages = pages or Pages()
        self._feed = feed
        self._proxy = proxy
        name = socket.gethostname()
        known = [name, f"{name}.local", *hosts, *self.pages.hosts]
        self._app: ASGIApp = (
            app(known) if app else create_app(feed, hosts=known, language=language, more=more, pages=self.pages)
        )
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<WebServer {self.url} {'serving' if self._thread else 'stopped'}>"

    @property
    def url(self) -> str:
        """Where the page is, for this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - only read here
        return f"http://[{host}]:{self.port}/" if ":" in host else f"http://{host}:{self.port}/"

    def start(self) -> None:
        """Listen and serve. Raises `WebError` when the port is taken or the address is none of this machine's."""
        listener = self._listen()
        self._feed.reopen()
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._app,
            loop="asyncio",
            http=TimedProtocol,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(self._proxy),
            forwarded_allow_ips=[self._proxy, f"::ffff:{self._proxy}"],  # as IPv4 calls at an IPv6 socket
            timeout_graceful_shutdown=3,
            backlog=_LET_IN,
        )
        self._server = _Server(config, self._feed)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="web", daemon=True)
        self._thread.start()
        if not self._server.listening.wait(_START_S):
            self.stop()
            raise WebError(f"the pages at {self.url} did not come up", "look at the log, then start again")

    def stop(self) -> None:
        """End all streams and stop listening. Stopping twice is fine."""
        server, thread = self._server, self._thread
        self._server = self._thread = None
        if server is not None and thread is not None:
            server.end()
            thread.join(_STOP_S)

    def _listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listener = Gate(family)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DEAD_AFTER_MS)
            listener.bind((self.host, self.port))
            listener.listen()
            listener.setblocking(False)
        except (OSError, OverflowError) as error:
            listener.close()
            raise WebError(
                f"cannot serve pages at {self.host} port {self.port}: {error}",
                "choose another web port in the settings, or stop what holds this one",
            ) from error
        return listener

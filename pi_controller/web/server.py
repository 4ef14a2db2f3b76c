"""Run uvicorn in its own thread: it listens when `start` returns, and has ended when `stop` returns."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.routing import Route
from starlette.types import ASGIApp

from pi_controller.display.i18n import ENGLISH, Translator
from pi_controller.errors import MatError, describe_error
from pi_controller.host.platform import max_open_files
from pi_controller.web.address import PageSettings
from pi_controller.web.app import create_app
from pi_controller.web.feed import Feed
from pi_controller.web.http_timeouts import (
    MAX_HEADER_BYTES,
    LimitedListener,
    LimitedServerState,
    TimedProtocol,
    TlsProtocol,
)

_SEND_BUFFER = 64 * 1024  # bytes that the kernel buffers for a watcher that does not read
_DEAD_AFTER_MS = 30_000  # a watcher without a TCP acknowledgement for this long is gone
_LET_IN = 32
"""Connections accepted before existing ones are served again, so that a rush of new ones does not starve them."""
_START_S, _STOP_S = 10.0, 5.0
_READ_S, _ANSWER_S = 0.5, 2.2
"""When the server stops: how long watchers may take to read the end of their streams, and how long a judge's last
request may take; the table needs up to two seconds."""


class WebError(MatError, OSError):
    """The pages cannot be served."""

    code = "web"


class _Server(uvicorn.Server):
    """Signals when it listens, stops on request, and then ends the watchers' streams."""

    def __init__(self, config: uvicorn.Config, feed: Feed[Any]) -> None:
        super().__init__(config)
        self.server_state = LimitedServerState(max_open_files())
        self.listening = threading.Event()
        self._feed = feed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Stop the server; thread-safe."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._ending.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.listening.set()

    async def main_loop(self) -> None:
        """Wake once a second to update the Date header. Uvicorn's own loop polls ten times a second."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), 1.0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._feed.end_streams()
        loop = asyncio.get_running_loop()
        timers = [loop.call_later(_READ_S, self._abort, False), loop.call_later(_ANSWER_S, self._abort)]
        await super().shutdown(sockets)
        for timer in timers:
            timer.cancel()
        self._abort()
        await asyncio.sleep(0)  # a transport closes its socket one turn later

    def _abort(self, everybody: bool = True) -> None:
        """Abort connections with unread data, or those of `everybody`: uvicorn would leave their sockets open."""
        for connection in list(self.server_state.connections):
            if everybody or connection.transport.get_write_buffer_size():
                connection.transport.abort()


class WebServer:
    """Serves `feed` at `host`:`port`; port 0 chooses a free one, and `port` has its number after `start`.

    It accepts this machine's own names (`limits.own_names`), `localhost`, addresses and the names in `hosts`.
    Forwarding headers are trusted only from `proxy`, an address. `tr`, `more` and `pages` as for `create_app`;
    `app` creates another application, which gets the accepted hosts and must end its streams when the feed hangs up.
    With `tls` all connections are encrypted.
    """

    def __init__(
        self,
        feed: Feed[Any],
        host: str = "127.0.0.1",
        port: int = 8080,
        *,
        hosts: Iterable[str] = (),
        proxy: str = "",
        tr: Translator = ENGLISH,
        app: Callable[[list[str]], ASGIApp] | None = None,
        more: Sequence[Route] = (),
        pages: PageSettings | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self.pages = pages or PageSettings()
        self._feed = feed
        self._proxy = proxy
        self._tls = tls
        known = [*hosts, *self.pages.hosts]
        self.app: ASGIApp = app(known) if app else create_app(feed, hosts=known, tr=tr, more=more, pages=self.pages)
        self.http: _Server | None = None
        self.thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<WebServer {self.url} {'serving' if self.thread else 'stopped'}>"

    @property
    def url(self) -> str:
        """The URL of the page on this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - only read here
        return f"http{'s' * bool(self._tls)}://{f'[{host}]' if ':' in host else host}:{self.port}/"

    def start(self) -> None:
        """Start listening. Raises `WebError` if the port is in use or the address is not one of this machine's."""
        listener = self._listen()
        self._feed.reopen()
        self.port = listener.getsockname()[1]
        self.http = _Server(self.make_config(), self._feed)
        self.thread = threading.Thread(target=self.http.run, args=([listener],), name="web", daemon=True)
        self.thread.start()
        if not self.http.listening.wait(_START_S):
            self.stop()
            raise WebError("the web server at {url} did not start", "check the log, then start again", url=self.url)

    def make_config(self) -> uvicorn.Config:
        """Return uvicorn's configuration: the protocol with our limits, and whose forwarding headers are trusted."""
        return uvicorn.Config(
            self.app,
            loop="asyncio",
            http=TimedProtocol if self._tls is None else cast("Any", partial(TlsProtocol, self._tls)),
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(self._proxy),
            # the second is the address of an IPv4 client at an IPv6 socket
            forwarded_allow_ips=[self._proxy, f"::ffff:{self._proxy}"],
            timeout_graceful_shutdown=3,
            backlog=_LET_IN,
        )

    def stop(self) -> None:
        """End all streams and stop listening. Stopping twice is fine."""
        server, thread = self.http, self.thread
        self.http = self.thread = None
        if server is not None and thread is not None:
            server.end()
            thread.join(_STOP_S)

    def _listen(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listener = LimitedListener(family)
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
                "cannot serve pages at {host} port {port}: {why}",
                "choose another web port in the settings, or stop the program that uses this one",
                host=self.host,
                port=self.port,
                why=describe_error(error),
            ) from error
        return listener

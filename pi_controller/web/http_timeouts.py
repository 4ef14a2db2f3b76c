"""HTTP timeouts and connection limits: close connections with slow request headers and excess connections.

uvicorn has no timeout for request headers, so a few hundred slow connections would block all others.
`requests.read_body` limits the time for a body, and the kernel that of a stream that is not read.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import h11
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.server import ServerState

from pi_controller.web.throttle import TokenBuckets

if TYPE_CHECKING:
    import asyncio
from pi_controller.web.connection_limits import ClientSemaphore, ConnectionLimits, ConnectionSlot, client_network
from pi_controller.web.limits import HEADERS

HEADER_TIMEOUT_S = 10.0
"""Timeout for receiving a request's headers, s."""
MAX_HEADER_BYTES = 16 * 1024
MAX_CONNECTIONS = 1200
"""Maximum open connections; beyond, the oldest one of the client with the most is closed."""
MAX_KEPT_CONNECTIONS = 160
"""Further connections for signed-in users and for the tables of a hub, which are not closed for others."""
HANDSHAKES, CLIENT_HANDSHAKES = 64, 8
"""TLS handshakes under way at once, and of one network; others wait, so that memory has a limit."""
QUEUE = 256
"""Connections that may wait to be accepted."""
CONNECTIONS_A_SECOND, CONNECTION_BURST = 64.0, 128.0
"""New connections of one network; a hall that reconnects at once behind one router is spread over some seconds."""
TURNED_AWAY = 64
"""After this many dropped connections in a row, existing connections are served."""
SPARE = 160
"""File descriptors reserved for everything else: journal, backups, board, and accepted connections not yet counted."""
_KEEP = "keep_connection"


class LimitedListener(socket.socket):
    """The listening socket. It drops connections of a network that opens too many by `clock`, s.

    Dropping costs a tenth of accepting, so others are not delayed.
    """

    def __init__(self, family: int, clock: Callable[[], float] = time.monotonic) -> None:
        # without the protocol asyncio does not recognise TCP and leaves Nagle's delay of 40 ms on
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._buckets, self._clock = TokenBuckets(CONNECTIONS_A_SECOND, CONNECTION_BURST), clock

    def listen(self, backlog: int = QUEUE) -> None:
        """Listen. The `backlog` that asyncio passes is its limit of connections accepted in a row."""
        super().listen(max(backlog, QUEUE))

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next admitted connection and its address."""
        for _ in range(TURNED_AWAY):
            line, address = super().accept()
            if not self._buckets.take(client_network(address[0]), self._clock()):
                return line, address
            line.close()
        raise BlockingIOError  # let the loop serve existing connections


class LimitedServerState(ServerState):
    """Uvicorn's server state, with a limit on its connections in `shares`.

    `descriptors` is the process's limit of open files.
    """

    def __init__(self, descriptors: int) -> None:
        super().__init__()
        self.shares = ConnectionLimits(
            max(MAX_KEPT_CONNECTIONS, min(MAX_CONNECTIONS, descriptors - SPARE - MAX_KEPT_CONNECTIONS)),
            keeps=MAX_KEPT_CONNECTIONS,
        )
        self.handshakes = ClientSemaphore(HANDSHAKES, CLIENT_HANDSHAKES)


def keep_connection(scope: Scope) -> None:
    """Mark the connection of a signed-in user, so that it is not closed for others."""
    if keep := scope.get("state", {}).get(_KEEP):
        keep()


class TimedProtocol(H11Protocol):
    """uvicorn's protocol with a deadline for the headers, from their first byte or a new connection's start."""

    _deadline: asyncio.TimerHandle | None = None
    _share: ConnectionSlot | None = None
    _line: asyncio.Transport | None = None
    _network = ""

    @property
    def _limits(self) -> LimitedServerState:
        return cast("LimitedServerState", self.server_state)

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Start the deadline for the first request."""
        super().connection_made(transport)
        self._count(transport)

    def _count(self, line: asyncio.Transport) -> None:
        """Take a slot for a new connection, and start its deadline."""
        self._line, client = line, get_remote_addr(line)
        self._network = client_network(client[0] if client else "")
        self._share = self._limits.shares.take(self._network, line.abort)
        self.app_state = {**self.app_state, _KEEP: self._keep}
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Process received bytes; cancel the deadline when the headers are complete."""
        super().data_received(data)
        if self._is_answering():
            self._stop()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline and release the connection's slot."""
        self._leave()
        super().connection_lost(exc)

    def _leave(self) -> None:
        self._stop()
        if self._share is not None:
            self._limits.shares.release(self._share)

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with the usual headers; in the middle of another response only close the connection."""
        if self.conn.our_state is h11.IDLE:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *HEADERS]
            parts = (h11.Response(status_code=400, headers=headers), h11.Data(data=msg.encode()), h11.EndOfMessage())
            for part in parts:
                self.transport.write(self.conn.send(part) or b"")
        self.transport.close()

    def _keep(self) -> None:
        if self._share is not None:
            self._limits.shares.protect(self._share)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_TIMEOUT_S, self._hang_up)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _hang_up(self) -> None:
        self._deadline = None
        if not self._is_answering() and self._line is not None:
            self._line.abort()


class TlsProtocol(TimedProtocol):
    """The same over TLS by `context`. A connection is counted, and has its deadline, before its handshake.

    asyncio's own TLS server would tell of a connection only after the handshake.
    """

    _shaking: asyncio.Task[None] | None = None

    def __init__(self, context: ssl.SSLContext, **uvicorns: Any) -> None:
        super().__init__(**uvicorns)
        self._context = context
        self._early = b""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Count the connection and start its handshake."""
        cast("asyncio.ReadTransport", transport).pause_reading()  # what it sends is of TLS, which begins at its turn
        self._count(transport)
        self._shaking = self.loop.create_task(self._shake_hands(transport))

    async def _shake_hands(self, line: asyncio.Transport) -> None:
        try:
            async with self._limits.handshakes.take(self._network):
                if line.is_closing():  # its time ended before its turn came
                    return
                encrypted = await self.loop.start_tls(line, self, self._context, server_side=True)
        except BaseException as error:
            self._leave()
            line.abort()
            if not isinstance(error, OSError):  # the client's faults and timeouts are
                raise
            return
        if encrypted is None or line.is_closing():  # an aborted handshake ends without an error
            self._leave()
            return
        H11Protocol.connection_made(self, encrypted)
        if self._early:
            self.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        """Process decrypted bytes; those that come with the end of the handshake wait until it is known here."""
        if self.transport is None:
            self._early += data
        else:
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection's slot, also if it is lost at the end of its handshake."""
        if self.transport is None:
            self._leave()
        else:
            super().connection_lost(exc)

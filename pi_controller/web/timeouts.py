"""HTTP timeouts and connection limits: slow request headers and excess connections are cut off.

uvicorn waits for ever for a head that comes byte by byte, or not at all; a few hundred such lines would leave none for
the hall. How long a body may take is `posting`'s affair, and a stream that nobody reads is the kernel's.
"""

from __future__ import annotations

import socket
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from pi_controller.web.middleware import HEADERS
from pi_controller.web.shares import Share, Shares, place_of

if TYPE_CHECKING:
    import asyncio

    from starlette.types import Scope

HEAD_S = 10.0
"""How long a request's head may take to come, s."""
MAX_HEADER_BYTES = 16 * 1024
MOST = 1200
"""Connections at once; beyond, the oldest of the place that has most is hung up on."""
KEPT = 32
"""More, of who is signed in: nobody else's are theirs to lose them for."""
QUEUE = 256
"""Connections that may wait at the gate."""
RECENT, RECENT_EACH = 1024, 128
"""Of so many that came without a pause, one place has at most so many let in. A hall that comes back all at once, by a
router of its own, is spread over seconds."""
TURNED_AWAY = 64
"""So many in a row, then whoever is in has a turn."""
SPARE = 160
"""Descriptors for everything else: the journal and its copies, the board, those who were let in and not seen yet."""
_KEEP = "keep_connection"


class Gate(socket.socket):
    """The listening socket. When more wait than can be accepted, the client with the most is dropped.

    That costs a tenth of what letting in does: nobody else waits for it.
    """

    def __init__(self, family: int) -> None:
        # the protocol is named, or asyncio does not know its lines for TCP and leaves Nagle's delay of 40 ms on
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._last = deque[str]()
        self._of = Counter[str]()

    def listen(self, backlog: int = QUEUE) -> None:
        """Listen; asyncio says as `backlog` how many it lets in between two looks at all others."""
        super().listen(max(backlog, QUEUE))

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection to let in, and where it comes from."""
        for _ in range(TURNED_AWAY):
            try:
                line, address = super().accept()
            except BlockingIOError:  # nobody waits
                self._last.clear()
                self._of.clear()
                raise
            if self._lets_in(place_of(address[0])):
                return line, address
            line.close()
        raise BlockingIOError  # the others have a turn

    def _lets_in(self, place: str) -> bool:
        self._last.append(place)
        self._of[place] += 1
        if len(self._last) > RECENT:
            gone = self._last.popleft()
            self._of[gone] -= 1
            if not self._of[gone]:
                del self._of[gone]
        return self._of[place] <= RECENT_EACH


class Lines(ServerState):
    """Uvicorn's set of connections, with their owners in `shares`.

    `descriptors` is how many this process may have open.
    """

    def __init__(self, descriptors: int) -> None:
        super().__init__()
        self.shares = Shares(max(KEPT, min(MOST, descriptors - SPARE - KEPT)), keeps=KEPT)


def keep_connection(scope: Scope) -> None:
    """Mark the connection of a signed-in user: it is kept when others are dropped."""
    if keep := scope.get("state", {}).get(_KEEP):
        keep()


class TimedProtocol(H11Protocol):
    """uvicorn's protocol with a deadline for the head: from its first byte, of a new connection from the start."""

    _deadline: asyncio.TimerHandle | None = None
    _share: Share | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        state = self.server_state
        if isinstance(state, Lines):
            self._share = state.shares.take(place_of(self.client[0] if self.client else ""), transport.abort)
            self.app_state = {**self.app_state, _KEEP: self._keep}
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take bytes in; the deadline stands until a request is whole enough to be answered."""
        super().data_received(data)
        if self._asked():
            self._stop()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more is waited for."""
        self._stop()
        if self._share is not None and isinstance(self.server_state, Lines):
            self.server_state.shares.leave(self._share)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP with the headers of every answer; in the middle of another answer only hang up."""
        if self.conn.our_state is h11.IDLE:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *HEADERS]
            parts = (h11.Response(status_code=400, headers=headers), h11.Data(data=msg.encode()), h11.EndOfMessage())
            for part in parts:
                self.transport.write(self.conn.send(part) or b"")
        self.transport.close()

    def _keep(self) -> None:
        if self._share is not None and isinstance(self.server_state, Lines):
            self.server_state.shares.keep(self._share)

    def _asked(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_S, self._hang_up)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _hang_up(self) -> None:
        self._deadline = None
        if not self._asked() and self.transport is not None:
            self.transport.abort()

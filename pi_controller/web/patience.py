"""HTTP connections with an end to patience: who takes too long over a request's head is hung up on.

uvicorn waits for ever for a head that comes byte by byte, or not at all; a few hundred such lines would leave none for
the hall. How long a body may take is `posting`'s affair, and a stream that nobody reads is the kernel's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pi_controller.web.guard import HEADERS

if TYPE_CHECKING:
    import asyncio

HEAD_S = 10.0
"""How long a request's head may take to come, s."""
MAX_HEADER_BYTES = 16 * 1024
MAX_CONNECTIONS = 600
"""At once; beyond, the newest are hung up on."""
MAX_EACH = 300
"""Of one address: more than may watch, and few enough that no one takes all, so that a judge always finds a line."""


class Patience(H11Protocol):
    """uvicorn's protocol with a deadline for the head: from its first byte, of a new connection from the start."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request, or refuse the connection."""
        super().connection_made(transport)
        mine = self.client[0] if self.client else ""
        same = sum(1 for one in self.connections if isinstance(one, Patience) and one.client and one.client[0] == mine)
        if len(self.connections) > MAX_CONNECTIONS or same > MAX_EACH:
            transport.abort()
            return
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
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP with the headers of every answer; in the middle of another answer only hang up."""
        if self.conn.our_state is h11.IDLE:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *HEADERS]
            parts = (h11.Response(status_code=400, headers=headers), h11.Data(data=msg.encode()), h11.EndOfMessage())
            for part in parts:
                self.transport.write(self.conn.send(part) or b"")
        self.transport.close()

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

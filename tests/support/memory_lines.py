"""Lines in memory to the product's HTTP protocol and its limits: a client sends bytes, and no socket is open."""

import asyncio
import re

from visit import await_condition

from pi_controller.web.http_timeouts import LimitedServerState

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class MemoryLine(asyncio.Transport):
    """A client's line to the server's `protocol`: `heard` is what came back, `closed` says that the server hung up."""

    def __init__(self, loop, protocol, peer):
        super().__init__({"peername": (peer, 50_000), "sockname": ("127.0.0.1", 8080)})
        self.heard, self.closed = b"", False
        self._loop, self._protocol = loop, protocol
        self._unread, self._paused = b"", False
        protocol.connection_made(self)

    def send(self, data):
        """Send bytes as the client."""
        self._unread += data
        self._read()

    def settle(self):
        """Let the server do what it can without time."""
        self._loop.settle()

    def _read(self):
        if self._unread and not self._paused and not self.closed:
            data, self._unread = self._unread, b""
            self._protocol.data_received(data)

    def write(self, data):
        if not self.closed:
            self.heard = (self.heard + data).removeprefix(CONTINUE)

    def close(self):
        if not self.closed:
            self.closed = True
            self._loop.call_soon(self._protocol.connection_lost, None)

    abort = close

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        self._paused = True

    def resume_reading(self):
        self._paused = False
        self._read()


class MemoryServer:
    """Serves the application of `server`, a `WebServer` that is not started, on `loop`; `step` is as for `visitor`.

    `app` is the application as uvicorn calls it, `state` knows the open lines.
    """

    def __init__(self, server, loop, step):
        self._config = server.make_config()
        self._config.load()
        self._loop, self._step = loop, step
        self.app, self.state = self._config.loaded_app, LimitedServerState(20_000)

    def open(self, data=b"", peer="127.0.0.1"):
        """Open a line from `peer`, and send bytes."""
        protocol = self._config.http_protocol_class(self._config, self.state, {}, self._loop)
        line = MemoryLine(self._loop, protocol, peer)
        line.send(data)
        return line

    def ask(self, data, peer="127.0.0.1"):
        """Send bytes, whatever they are, on a new line; return the answer: nothing if the line is cut.

        Of an answer without a length only the beginning is returned.
        """
        line = self.open(data, peer)
        await_condition(self._loop, self._step, lambda: line.closed or _is_whole(line.heard, data))
        line.close()
        self._loop.settle()
        return line.heard


def _is_whole(heard, asked):
    head, end, body = heard.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    return bool(end) and (length is None or asked.startswith(b"HEAD") or len(body) >= int(length[1]))

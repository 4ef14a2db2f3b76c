"""Visit a web application without a server, a socket or a wait: a transport of httpx on a loop that travels."""

import asyncio
from collections import deque

import httpx

MAX_LEAPS = 100_000
STEP_S = 0.05


def await_condition(loop, step, holds):
    """Run `loop` as far as `holds()`: first what can run now, then `step`, then time.

    Without a `step` time leaps from timer to timer.
    """
    for _ in range(MAX_LEAPS):
        loop.settle()
        if holds():
            return
        if step is None:
            loop.leap()
            continue
        step()
        loop.settle()
        if holds():
            return
        loop.advance(STEP_S)
    raise AssertionError("nothing came of many timers")


class AppTransport(httpx.BaseTransport):
    """Asks `app`, an ASGI application, on `loop`, a `TravelLoop`; bodies that stream are read as they come.

    While an answer waits, `step` is called every `STEP_S`: it does what the other threads would, such as the table's
    step. Without one time leaps from timer to timer. `peer` is the visitor's address.
    """

    def __init__(self, app, loop, step=None, peer="127.0.0.1"):
        self.app, self.loop, self.step, self.peer = app, loop, step, peer

    def handle_request(self, request):
        return _Exchange(self, request).answer()


class _Exchange(httpx.SyncByteStream):
    """One request and its answer; it is the answer's body, too."""

    def __init__(self, transport, request):
        self._transport, self._loop = transport, transport.loop
        self.status, self.headers, self.failed = None, [], None
        self._pieces, self._whole = deque(), False
        self._sent, self._hung_up = False, asyncio.Event()
        self._content, self._bodiless = request.read(), request.method == "HEAD"
        self._task = self._loop.create_task(transport.app(_scope(request, transport.peer), self._receive, self._send))
        self._task.add_done_callback(self._note)

    def answer(self):
        """Return the answer once its head has come."""
        self.wait(lambda: self.status is not None)
        if self.status is None:
            raise httpx.RemoteProtocolError("the application gave no answer")
        return httpx.Response(self.status, headers=self.headers, stream=self)

    def wait(self, holds):
        """Wait for `holds()` or the end of the answer."""
        await_condition(self._loop, self._transport.step, lambda: holds() or self._task.done())
        if self.failed is not None:
            raise self.failed

    def __iter__(self):
        while True:
            self.wait(lambda: self._pieces or self._whole)
            while self._pieces:
                yield self._pieces.popleft()
            if self._whole or self._task.done():
                return

    def close(self):
        self._hung_up.set()
        self._loop.settle()

    def _note(self, task):
        if not task.cancelled():
            self.failed = task.exception()

    async def _receive(self):
        if not self._sent:
            self._sent = True
            return {"type": "http.request", "body": self._content, "more_body": False}
        await self._hung_up.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], message.get("headers", [])
        elif not self._hung_up.is_set():
            if (piece := message.get("body", b"")) and not self._bodiless:
                self._pieces.append(piece)
            self._whole = not message.get("more_body", False)


def _scope(request, peer):
    path, _, query = request.url.raw_path.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": (peer, 50_000),
        "server": (request.url.host, request.url.port or 80),
    }


def visitor(app, loop, step=None, *, url="http://localhost:8080", peer="127.0.0.1", **how):
    """Return an `httpx.Client` that visits `app` at `url`; `how` is as for httpx."""
    transport = AppTransport(app, loop, step, peer)
    return httpx.Client(transport=transport, base_url=url, trust_env=False, **how)


def together(*asked):
    """Send requests at the same moment, each a client and a request that it built; return the answers, whole."""
    exchanges = [_Exchange(client._transport, request) for client, request in asked]
    answers = [exchange.answer() for exchange in exchanges]
    for answer in answers:
        answer.read()
    return answers

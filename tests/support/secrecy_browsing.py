"""The web application as all see it, without sockets, on the virtual clock: open streams, and every page."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from secrecy_channels import COMMANDS, PUBLIC, ROLES, SIGNED_IN, STREAMS
from secrecy_venue import VirtualLoop

from pi_controller.web.sign_in import SESSION

if TYPE_CHECKING:
    from secrecy_outside import Outside

PAGES_S = 3.0
"""So often every page is looked at, besides whenever the picture changes."""


class Browsing:
    """Everybody who looks at `app`: nobody in particular, and one of each role."""

    def __init__(self, outside: Outside, app: Any):
        self._outside, self._app = outside, app
        self.paths = {route.path for route in app.routes}
        self._loop = VirtualLoop(lambda: outside.t)
        self._seen: object = None
        self._pages_at = float("-inf")
        for path in STREAMS:
            for role in self._who(path):
                self._begin(path, role)

    def look(self) -> None:
        """Let the streams go on; look at all pages when it is time, or the picture is another."""
        self.spin()
        t, view = self._outside.world.t, self._outside.daemon.table.view
        if view is self._seen and t < self._pages_at:
            return
        self._seen, self._pages_at = view, t + PAGES_S
        for path in (*PUBLIC, *SIGNED_IN):
            for role in self._who(path):
                self._outside.say("page", path, role, *self.get(path, role))

    def get(self, path: str, role: str = "") -> list[bytes]:
        """Return the answer to a GET: status and headers, then the body."""
        whole: list[bytes] = []
        self._loop.run_until_complete(self._asked("GET", path, self._outside.cookies.get(role, ""), whole.append))
        return whole

    def post(self, path: str, body: bytes, cookie: str) -> None:
        """Send a command; its answer comes in its own time."""
        assert path in COMMANDS
        headers = [(b"content-type", b"application/json"), (b"origin", b"http://localhost")]
        self._ask("POST", path, cookie, lambda said: self._outside.say("answer", said), body, headers)

    def close(self) -> None:
        """All watchers go away."""
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self.spin()
        self._loop.close()

    def spin(self) -> None:
        """Let the application do all it can do now."""
        self._loop.turn(12)

    @staticmethod
    def _who(path: str) -> tuple[str, ...]:
        return ("", *ROLES) if path.startswith("/judge") else ("",)

    def _begin(self, path: str, role: str) -> None:
        cookie = self._outside.cookies.get(role, "")
        self._ask("GET", path, cookie, lambda said: self._outside.say("stream", path, role, said))

    def _ask(self, *args: Any) -> None:
        self._loop.create_task(self._asked(*args))

    async def _asked(self, method, path, cookie, said, body=b"", headers=()):
        path, _, query = path.partition("?")
        scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": method,
            "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(b"host", b"localhost"), (b"cookie", f"{SESSION}={cookie}".encode()), *headers],
            "client": ("127.0.0.1", 5), "server": ("127.0.0.1", 8080),
        }  # fmt: skip
        first = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            return first.pop() if first else await asyncio.Event().wait()

        async def send(message):
            said(b"%d %r" % (message["status"], message["headers"]) if "status" in message else message["body"])

        await self._app(scope, receive, send)

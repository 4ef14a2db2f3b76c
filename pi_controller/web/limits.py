"""ASGI middleware: check Host, path and method, and set the security headers of every response."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

from starlette.responses import PlainTextResponse
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Headers of every response that does not set them itself."""

MAX_PATH_CHARS = 256
"""Maximum characters of a path; no route is longer."""

_LOCAL_DOMAINS = r"local|lan|home|home\.arpa|internal"
"""Domains that exist in local networks alone (RFC 6762, RFC 8375, ICANN 2024; .lan and .home are never delegated)."""
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:]+))(?::[0-9]{1,5})?")


def parse_host(header: str) -> str:
    """Return the host in a Host header without its port, in lower case; "" if it is invalid."""
    found = _HOST.fullmatch(header.strip().lower())
    return (found[1] or found[2]).removesuffix(".") if found else ""


def own_names(name: str) -> re.Pattern[str]:
    """Return a pattern of the names that a local network gives the machine `name`; nobody can register those.

    >>> pattern = own_names("mat-hub")
    >>> [bool(pattern.fullmatch(name)) for name in ("mat-hub", "mat-hub-2.local", "mat-hub.lan", "mat-hub.example")]
    [True, True, True, False]
    """
    return re.compile(rf"{re.escape(name.partition('.')[0].lower())}(-[0-9]{{1,3}})?(\.({_LOCAL_DOMAINS}))?")


class RequestFilter:
    """ASGI middleware. It refuses other host names, which stops DNS rebinding.

    Allowed are `localhost`, addresses, `hosts`, and the machine's own names in a local network; a refusal names the
    `setting` that allows another. `posts` are the paths of the routes that accept a POST.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str] = (),
        posts: Iterable[str] = (),
        setting: str = "[web] hosts",
    ) -> None:
        self._app = app
        self._posts = [compile_path(path)[0] for path in posts]
        name = socket.gethostname()
        self._names = {"localhost", *(host.lower().removesuffix(".") for host in (name, *hosts))}
        self._own = own_names(name)
        self._refusal = (
            "This name is not served here. Use the machine's address in numbers, "
            f"or add the name to {setting} in its settings.\n"
        )

    def _is_allowed_host(self, header: str) -> bool:
        host = parse_host(header)
        if host in self._names or self._own.fullmatch(host):
            return True
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400, 404 or 405, or pass the request on; add the headers to the response."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                named = {name.lower() for name, _ in own}
                message = {**message, "headers": [*own, *(one for one in HEADERS if one[0] not in named)]}
            await send(message)

        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        path = scope["path"]
        methods = "GET, HEAD, POST" if any(post.match(path) for post in self._posts) else "GET, HEAD"
        if len(hosts) != 1 or not self._is_allowed_host(hosts[0]):
            answer: ASGIApp = PlainTextResponse(self._refusal, 400)
        elif len(path) > MAX_PATH_CHARS or not path.isprintable():
            # the router would take a line break for the path's end
            answer = PlainTextResponse("Page not found.\n", 404)
        elif scope["method"] not in methods.split(", "):
            answer = PlainTextResponse(f"Only {methods}.\n", 405, {"allow": methods})
        else:
            answer = self._app
        return await answer(scope, receive, send_with_headers)

"""Reads and validates JSON request bodies: same origin, size, time limit; anything else is refused.

A browser tells where a request comes from (`Origin`, `Sec-Fetch-Site`); a form of another site cannot send JSON, and
gets no cookie along (`SameSite=Strict`). Each of the four alone would do.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from pi_controller.errors import MatError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from pi_controller.web.api_types import Fault, Refusal

log = logging.getLogger(__name__)

MOST_BYTES = 16 * 1024
BODY_S = 10.0
"""How long a body may take to come, s."""
_STATUS = {
    "invalid": 400, "pin": 401, "signed_out": 401, "role": 403, "origin": 403, "missing": 404, "slow": 408,
    "illegal": 409, "key": 409, "stale": 409, "people": 409, "large": 413, "type": 415, "often": 429,
    "journal": 503, "busy": 503, "waiting": 503, "store": 503, "review": 503,
}  # fmt: skip


class RefusedError(MatError, RuntimeError):
    """The request is refused; `code` says why, and gives the status."""

    def __init__(self, code: str, what: str, todo: str = "") -> None:
        super().__init__(what, todo)
        self.code = code


def answer(content: Any, status: int = 200) -> Response:
    """Return `content` as JSON."""
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def refusal(request: Request, error: MatError, status: int | None = None) -> Response:
    """Return the answer that says why not, and log it: no PIN, no cookie and nothing that was sent."""
    found = status or _STATUS.get(error.code, 400)
    log.warning("%s %s from %s refused: %d %s", request.method, request.url.path, sender(request), found, error.code)
    content: Fault = {"code": error.code, "what": error.what, "todo": error.todo}
    wait_s = getattr(error, "wait_s", None)
    if wait_s is not None:
        content["wait_s"] = wait_s
    whole: Refusal = {"error": content}
    refused = answer(whole, found)
    if wait_s:
        refused.headers["retry-after"] = str(wait_s)
    return refused


def guarded_route(path: str, ask: Callable[[Request], Awaitable[Response]], *methods: str) -> Route:
    """Return a route, GET if no `methods` are named, that answers what `ask` raises on purpose by `refusal`."""

    async def answered(request: Request) -> Response:
        try:
            return await ask(request)
        except MatError as error:
            return refusal(request, error)

    return Route(path, answered, methods=list(methods or ("GET",)))


def sender(request: Request) -> str:
    """Return the address that the connection comes from; what a header says of it is not believed."""
    return request.client.host if request.client else "nowhere"


def same_site(request: Request) -> None:
    """Raise `RefusedError` where a browser says that another site's page asks."""
    if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        raise RefusedError("origin", "another site's page asks for this", "open the console itself")


def from_own_page(request: Request) -> None:
    """Raise `RefusedError` where a request that changes something does not come from the console's own page."""
    same_site(request)
    origin = request.headers.get("origin", "")
    scheme, _, host = origin.partition("://")
    if scheme not in {"http", "https"} or host.lower() != request.headers.get("host", "").lower():
        raise RefusedError("origin", "this was not sent by the console's own page", "open the console itself")


async def sent(request: Request) -> dict[str, Any]:
    """Return the JSON object that was sent. Raises `RefusedError`."""
    from_own_page(request)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise RefusedError("type", "only JSON is taken here", "send it as application/json")
    try:
        async with asyncio.timeout(BODY_S):
            body = await _body(request)
    except TimeoutError:
        raise RefusedError("slow", "what was sent did not come to its end", "send it again") from None
    except ClientDisconnect:
        raise RefusedError("slow", "whoever sent this has gone") from None
    try:
        content: object = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise RefusedError("invalid", "this is no JSON", "send an object") from None
    if not isinstance(content, dict):
        raise RefusedError("invalid", "this is no JSON object", "send an object")
    return cast("dict[str, Any]", content)


async def _body(request: Request) -> bytes:
    length = request.headers.get("content-length", "0")
    body = bytearray()
    if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BYTES:
        raise _too_large()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise _too_large()
    return bytes(body)


def _too_large() -> RefusedError:
    return RefusedError("large", "this is too much at once", f"send at most {MOST_BYTES // 1024} KiB")


def text_of(body: dict[str, Any], key: str, most: int, least: int = 1) -> str:
    """Return the text under `key`, of `least` to `most` characters. Raises `RefusedError`."""
    text = body.get(key)
    if not isinstance(text, str) or not least <= len(text) <= most:
        raise RefusedError("invalid", f"{key} must be a text of {least} to {most} characters")
    return text


def only(body: dict[str, Any], *keys: str) -> None:
    """Raise `RefusedError` where there are other keys than `keys`."""
    if set(body) - set(keys):
        raise RefusedError("invalid", f"only these are taken: {', '.join(keys)}")

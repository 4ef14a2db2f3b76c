"""Read and validate JSON request bodies: same origin, size, time limit; any other request is refused.

Four checks, each sufficient alone: a browser sends `Origin` and `Sec-Fetch-Site`, a form of another site cannot send
JSON, and the cookie is not sent with its requests (`SameSite=Strict`).
"""

from __future__ import annotations

import asyncio
import gzip
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from math import ceil
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pi_controller.display.i18n import Translator
from pi_controller.errors import MatError
from pi_controller.json_decoders import json_decoder
from pi_controller.web.connection_limits import is_loopback
from pi_controller.web.templates import render
from pi_controller.web.throttle import TokenBuckets

log = logging.getLogger(__name__)
RequestT = TypeVar("RequestT")

MAX_BODY_BYTES = 16 * 1024
LOG_LINES_A_SECOND, LOG_BURST = 1 / 60, 10.0
BODY_S = 10.0
"""Timeout for receiving a body, s."""
_STATUS = {
    "invalid": 400, "pin": 401, "signed_out": 401, "role": 403, "origin": 403, "plain": 403, "missing": 404,
    "slow": 408, "illegal": 409, "playing": 409, "key": 409, "stale": 409, "people": 409, "settings": 409,
    "large": 413, "type": 415, "often": 429, "journal": 503, "busy": 503, "waiting": 503, "store": 503,
    "recording": 503,
}  # fmt: skip


class RequestError(MatError, RuntimeError):
    """The request is refused; `code` is the reason, and determines the status. `wait_s` is when to try again, s."""

    def __init__(self, code: str, what: str, hint: str = "", /, wait_s: float = 0.0, **values: object) -> None:
        super().__init__(what, hint, **values)
        self.code, self.wait_s = code, wait_s


_MEDIA = {"csv": "text/csv; charset=utf-8", "sqlite": "application/vnd.sqlite3", "zip": "application/zip"}


@lru_cache(64)
def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def compress(request: Request, content: bytes, media_type: str) -> Response:
    """Return `content`, compressed if the browser takes that: never what depends on a hidden bead, by its size."""
    headers = {"vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["content-encoding"] = _gzip(content), "gzip"
    return Response(content, media_type=media_type, headers=headers)


def json_response(content: Any, status: int = 200) -> Response:
    """Return `content` as a JSON response."""
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def download(content: bytes | str, name: str) -> Response:
    """Return `content` as a file that a browser saves as `name`."""
    headers = {"content-disposition": f"attachment; filename={name}"}
    return Response(content, media_type=_MEDIA[name.rpartition(".")[2]], headers=headers)


class ErrorBody(msgspec.Struct, omit_defaults=True):
    """Why a request was refused: `code` for programs, `message` and `hint` for people.

    `wait_s` is how long to wait before the next try, s, if waiting helps; `issues` are the faults by setting.
    """

    code: str
    message: str
    hint: str
    wait_s: float = 0.0
    issues: dict[str, str] = {}


class ErrorResponse(msgspec.Struct):
    """The answer to a request that was refused and had no effect."""

    error: ErrorBody


def parse_error(body: bytes) -> ErrorBody | None:
    """Return the error in the `body` of a refusal, None if it has none."""
    try:
        return json_decoder(ErrorResponse).decode(body).error
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def error_response(request: Request, error: MatError) -> Response:
    """Return the response of the error in the page's language: a page for a browser that opens one, else JSON."""
    tr: Translator = request.app.state.tr
    (message, hint), wait_s = map(tr.text, error.sentences), getattr(error, "wait_s", 0.0)
    issues = {key: tr.text(issue) for key, issue in getattr(error, "issues", {}).items()}
    status, content = _STATUS.get(error.code, 400), ErrorBody(error.code, message, hint, wait_s, issues)
    refused = refusal_page(request, status, message, hint) or json_response(ErrorResponse(content), status)
    if wait_s:
        refused.headers["retry-after"] = str(ceil(wait_s))
    return refused


def refusal_page(
    request: Request, status: int, message: str, hint: str = "", headers: Mapping[str, str] | None = None
) -> Response | None:
    """Return a refusal as a page if a browser opens one, else None: a script asks for anything, not for HTML."""
    if "text/html" not in request.headers.get("accept", ""):
        return None
    told = {name: f"{part[:1].upper()}{part[1:]}" for name, part in (("message", message), ("hint", hint))}
    return HTMLResponse(render("refused.html", request.app.state.tr, **told), status, headers)


def json_route(path: str, ask: Callable[[Request], Awaitable[Response]], *methods: str) -> Route:
    """Return a route (GET by default) that calls `ask` and turns a `MatError` into a JSON response.

    The log gets `LOG_BURST` refusals of a client and kind, then `LOG_LINES_A_SECOND`: no PIN, no cookie and no part of
    the body.
    """
    lines = TokenBuckets(LOG_LINES_A_SECOND, LOG_BURST)

    async def respond(request: Request) -> Response:
        try:
            return await ask(request)
        except MatError as error:
            refused, client, path = error_response(request, error), client_ip(request), request.url.path
            if not lines.take((client, error.code), asyncio.get_running_loop().time()):
                log.warning(
                    "%s %s from %s refused: %d %s", request.method, path, client, refused.status_code, error.code
                )
            return refused

    return Route(path, respond, methods=list(methods or ("GET",)))


def client_ip(request: Request) -> str:
    """Return the client's IP address; headers about it are not trusted."""
    return request.client.host if request.client else "nowhere"


def is_private(request: Request) -> bool:
    """Return whether nobody in the network can read the request: encrypted, or from this machine."""
    return request.url.scheme == "https" or is_loopback(client_ip(request))


def require_same_site(request: Request) -> None:
    """Raise `RequestError` if a browser reports that another site's page sent the request."""
    if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        raise RequestError("origin", "another site's page sent this request", "open the console itself")


def require_same_origin(request: Request) -> None:
    """Raise `RequestError` if a request that changes something was not sent by the console's own page."""
    require_same_site(request)
    origin = request.headers.get("origin", "")
    scheme, _, host = origin.partition("://")
    if scheme not in {"http", "https"} or host.lower() != request.headers.get("host", "").lower():
        raise RequestError("origin", "this was not sent by the console's own page", "open the console itself")


async def read_request(request: Request, kind: type[RequestT], max_bytes: int = MAX_BODY_BYTES) -> RequestT:
    """Check the origin and return the JSON body of a request as `kind`, a Struct or a union. Raises `RequestError`."""
    require_same_origin(request)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise RequestError("type", "only JSON is accepted", "send it as application/json")
    return decode(await read_body(request, max_bytes), kind)


def decode(body: bytes, kind: type[RequestT]) -> RequestT:
    """Decode the JSON `body` as `kind`. Raises `RequestError`, whose hint names the field.

    >>> decode(b'{"error": {"code": 7}}', ErrorResponse)
    Traceback (most recent call last):
    pi_controller.web.requests.RequestError: Expected `str`, got `int`
    correct error.code
    """
    try:
        return json_decoder(kind).decode(body)
    except msgspec.ValidationError as error:
        raise _refuse(error) from None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise RequestError("invalid", "the body is not valid JSON", "send an object") from None


async def read_body(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Return the body of a request, of at most `max_bytes`. Raises `RequestError`."""
    try:
        async with asyncio.timeout(BODY_S):
            return await _body(request, max_bytes)
    except TimeoutError:
        raise RequestError("slow", "the request did not arrive completely", "send it again") from None
    except ClientDisconnect:
        raise RequestError("slow", "the client has disconnected") from None


async def _body(request: Request, max_bytes: int) -> bytes:
    length = request.headers.get("content-length", "0")
    body = bytearray()
    if not length.isdecimal() or len(length) > 9 or int(length) > max_bytes:
        raise _too_large(max_bytes)
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(body)


def _too_large(max_bytes: int) -> RequestError:
    return RequestError(
        "large", "the request is too large", "send at most {max_bytes} KiB", max_bytes=max_bytes // 1024
    )


def _refuse(error: msgspec.ValidationError) -> RequestError:
    what, _, path = str(error).partition(" - at `$")
    named = re.search("field `(.+)`", what)
    field = ".".join(filter(None, (path.strip(".`"), named[1] if named else "")))
    return RequestError("invalid", "{problem}", "correct {field}", problem=what, field=field or "the body")


MAX_TEXT_CHARS = 1000
"""Maximum characters of a reason, a protest, or any text in an action."""
MAX_NUMBER = 2**53
MAX_DEPTH = 3
"""Maximum nesting of the values in an action or a score sheet: the journal, which stores them, is never deleted."""
CommandKey = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{8,64}(?!\n)$")]  # `$` alone accepts a line end
"""An idempotency key: a new one for each command."""
Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARS)]
_number = Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)
_scalar: Any = Text | Annotated[int, _number] | Annotated[float, _number] | bool
_value: Any = _scalar | None
for _ in range(MAX_DEPTH):
    _value = _scalar | list[_value] | dict[Text, _value] | None
_BOUNDED = {str: Text, dict[str, Any]: dict[Text, _value]}


def request_struct(kind: type[msgspec.Struct], *without: str) -> type[msgspec.Struct]:
    """Return the Struct of requests for a `kind`: no other keys, bounded texts and values, defaults left out.

    The fields `without` are those that the server sets (`complete`).
    """
    fields: list[Any] = []
    for one in msgspec.structs.fields(kind):
        taken = _BOUNDED.get(one.type, one.type)
        if one.name not in without:
            fields.append((one.name, taken) if one.required else (one.name, taken | msgspec.UnsetType, msgspec.UNSET))
    config, about = kind.__struct_config__, {"__doc__": kind.__doc__}
    names = {"tag": config.tag, "tag_field": config.tag_field}
    return msgspec.defstruct(kind.__name__, fields, namespace=about, kw_only=True, forbid_unknown_fields=True, **names)


def complete(sent: dict[str, Any], kind: Any, **more: Any) -> Any:
    """Return the `kind` with the fields that were `sent` and those that the server sets. Raises `RequestError`."""
    try:
        return msgspec.convert({**sent, **more}, kind)
    except msgspec.ValidationError as error:
        raise _refuse(error) from None

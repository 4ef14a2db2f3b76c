"""Read and validate JSON request bodies: same origin, size, time limit; any other request is refused.

Four checks, each sufficient alone: a browser sends `Origin` and `Sec-Fetch-Site`, a form of another site cannot send
JSON, and the cookie is not sent with its requests (`SameSite=Strict`).
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict, cast, get_args

import msgspec
from msgspec import Meta
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from pi_controller.errors import MatError
from pi_controller.referee.judge import JudgeCommand
from pi_controller.sensing.events import SensorFault
from pi_controller.table.view import View
from pi_controller.text import MAX_NAME_CHARS, NAME_LENGTH, is_name_length, normalize_name, strip_controls_deep
from pi_controller.web import accounts, console_page, event_log, game_page
from pi_controller.web.roles import ROLES, Role

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 16 * 1024
BODY_S = 10.0
"""Timeout for receiving a body, s."""
_STATUS = {
    "invalid": 400, "pin": 401, "signed_out": 401, "role": 403, "origin": 403, "plain": 403, "missing": 404,
    "slow": 408, "illegal": 409, "playing": 409, "key": 409, "stale": 409, "people": 409, "large": 413, "type": 415,
    "often": 429, "journal": 503, "busy": 503, "waiting": 503, "store": 503, "recording": 503,
}  # fmt: skip


class RequestError(MatError, RuntimeError):
    """The request is refused; `code` is the reason, and determines the status."""

    def __init__(self, code: str, what: str, todo: str = "") -> None:
        super().__init__(what, todo)
        self.code = code


def json_response(content: Any, status: int = 200) -> Response:
    """Return `content` as a JSON response."""
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def error_response(request: Request, error: MatError, status: int | None = None) -> Response:
    """Log the error and return its JSON response. The log has no PIN, no cookie and no part of the body."""
    found = status or _STATUS.get(error.code, 400)
    log.warning("%s %s from %s refused: %d %s", request.method, request.url.path, client_ip(request), found, error.code)
    content: ErrorBody = {"code": error.code, "what": error.message, "todo": error.hint}
    wait_s = getattr(error, "wait_s", None)
    if wait_s is not None:
        content["wait_s"] = wait_s
    whole: ErrorResponse = {"error": content}
    refused = json_response(whole, found)
    if wait_s:
        refused.headers["retry-after"] = str(wait_s)
    return refused


def json_route(path: str, ask: Callable[[Request], Awaitable[Response]], *methods: str) -> Route:
    """Return a route (GET by default) that calls `ask` and turns a `MatError` into a JSON response."""

    async def respond(request: Request) -> Response:
        try:
            return await ask(request)
        except MatError as error:
            return error_response(request, error)

    return Route(path, respond, methods=list(methods or ("GET",)))


def client_ip(request: Request) -> str:
    """Return the client's IP address; headers about it are not trusted."""
    return request.client.host if request.client else "nowhere"


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


async def read_json_body(request: Request, max_bytes: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """Check the origin and return the request's JSON object. Raises `RequestError`."""
    require_same_origin(request)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise RequestError("type", "only JSON is accepted", "send it as application/json")
    body = await read_body(request, max_bytes)
    try:
        content: object = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise RequestError("invalid", "the body is not valid JSON", "send an object") from None
    if not isinstance(content, dict):
        raise RequestError("invalid", "the body is not a JSON object", "send an object")
    return cast("dict[str, Any]", content)


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
    return RequestError("large", "the request is too large", f"send at most {max_bytes // 1024} KiB")


def require_text(body: dict[str, Any], key: str, most: int, least: int = 1) -> str:
    """Return the text under `key`, of `least` to `most` characters. Raises `RequestError`."""
    text = body.get(key)
    if not isinstance(text, str) or not least <= len(text) <= most:
        raise RequestError("invalid", f"{key} must be a text of {least} to {most} characters")
    return text


def require_name(body: dict[str, Any]) -> str:
    """Return the text under `name`, normalised. Raises `RequestError` if its length is not that of a name."""
    name = body.get("name")
    if not isinstance(name, str) or not is_name_length(name):
        raise RequestError("invalid", f"name must be a text of {NAME_LENGTH}")
    return normalize_name(name)


def reject_unknown_keys(body: dict[str, Any], *keys: str) -> None:
    """Raise `RequestError` if `body` has other keys than `keys`."""
    if set(body) - set(keys):
        raise RequestError("invalid", f"unknown keys; allowed are: {', '.join(keys)}")


# Parse and validate a command of the console: its key, the revision it was given for, and the judge's call.

KEY = r"[A-Za-z0-9_-]{8,64}"
"""The pattern of a command's idempotency key."""
_KEY = re.compile(KEY)
_FIELDS = {
    str(kind.__struct_config__.tag): {"judge", *kind.__struct_fields__} - {"t"} for kind in get_args(JudgeCommand)
}
MAX_TEXT_CHARS = 1000
"""Maximum characters of a reason, a protest, or any text in an action."""
MAX_NUMBER = 2**53
_DEPTH = 6


class ParsedCommand(NamedTuple):
    """A command without its time; `tag` is the call's."""

    key: str
    expect: int | None
    tag: str
    call: JudgeCommand


def parse_command(body: dict[str, Any]) -> ParsedCommand:
    """Parse a judge's command. Raises `RequestError` if it is malformed."""
    reject_unknown_keys(body, "key", "expect", "call")
    key, expect, call = body.get("key"), body.get("expect"), body.get("call")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise RequestError("invalid", "key must be 8 to 64 letters, digits, - or _", "make a new one for each command")
    if expect is not None and (type(expect) is not int or abs(expect) > MAX_NUMBER):
        raise RequestError("invalid", "expect must be the revision of a view, or null")
    tag = cast("dict[str, Any]", call).get("judge") if isinstance(call, dict) else None
    if not isinstance(tag, str) or tag not in _FIELDS:
        raise RequestError("invalid", "this is not a judge's call", f"the calls are: {', '.join(_FIELDS)}")
    fields = cast("dict[str, Any]", call)
    reject_unknown_keys(fields, *sorted(_FIELDS[tag]))
    if not _is_storable((fields,), _DEPTH):
        raise RequestError("invalid", "a text is too long, a number too large, or it is nested too deep")
    try:
        made = msgspec.convert({**strip_controls_deep(fields), "t": 0.0}, cast("Any", JudgeCommand))
    except msgspec.MsgspecError as error:
        raise RequestError("invalid", f"{tag}: {error}", "check the fields of this call") from error
    return ParsedCommand(key, expect, tag, made)


def _is_storable(values: Iterable[Any], depth: int) -> bool:
    """Return whether all values are small enough for the journal, which is never deleted."""
    for value in values:
        match value:
            case str():
                fine = len(value) <= MAX_TEXT_CHARS
            case bool() | None:
                fine = True
            case int() | float():
                fine = math.isfinite(value) and abs(value) <= MAX_NUMBER
            case dict():
                whole = cast("dict[str, Any]", value)
                fine = depth > 0 and _is_storable((*whole, *whole.values()), depth - 1)
            case list():
                fine = depth > 0 and _is_storable(cast("list[Any]", value), depth - 1)
            case _:
                fine = False
        if not fine:
            return False
    return True


# User management for the head judge: users and roles, new PINs (shown once), ending sessions.

MAX_PIN_CHARS = 64
"""Maximum characters."""


async def list_people(authenticator: accounts.Authenticator) -> People:
    """Return all users with their sessions (times on the table's clock, s), and the roles."""
    users = await asyncio.to_thread(authenticator.users.list_users)
    sessions = await asyncio.to_thread(authenticator.sessions.of_all, authenticator.clock())
    return {
        "roles": ROLES,
        "people": [
            {
                "id": one.id,
                "name": one.name,
                "role": one.role,
                "sessions": [{"id": s.id, "began": s.began, "seen": s.seen} for s in sessions if s.person.id == one.id],
            }
            for one in users
        ],
    }


async def change(authenticator: accounts.Authenticator, body: dict[str, Any]) -> PeopleChanged:
    """Execute `body`: `{"do": "add", "name", "role"}`, or `"new_pin"`, `"revoke"`, `"remove"` with an `"id"`.

    A new PIN is only in the answer. Raises `RequestError` or `UserError`.
    """
    match body.get("do"):
        case "add":
            reject_unknown_keys(body, "do", "name", "role")
            name, role = require_name(body), require_text(body, "role", 20)
            pin = accounts.new_pin()
            person = await asyncio.to_thread(authenticator.users.add, name, role, await authenticator.hash(pin))
            return {"ok": True, "id": person.id, "name": person.name, "role": person.role, "pin": pin}
        case "new_pin":
            person_id, pin = await _require_person(authenticator, body), accounts.new_pin()
            await asyncio.to_thread(authenticator.users.give_pin, person_id, await authenticator.hash(pin))
            return {"ok": True, "id": person_id, "pin": pin}
        case "revoke":
            ended = await asyncio.to_thread(authenticator.sessions.revoke, await _require_person(authenticator, body))
            return {"ok": True, "ended": ended}
        case "remove":
            await asyncio.to_thread(authenticator.users.remove, await _require_person(authenticator, body))
            return {"ok": True}
        case _:
            raise RequestError("invalid", "do must be add, new_pin, revoke or remove")


async def _require_person(authenticator: accounts.Authenticator, body: dict[str, Any]) -> int:
    reject_unknown_keys(body, "do", "id")
    users = await asyncio.to_thread(authenticator.users.list_users)
    found = next((one.id for one in users if type(body.get("id")) is int and one.id == body["id"]), None)
    if found is None:
        raise RequestError("missing", "there is no such person", "look at the list again")
    return found


# Types of the JSON that the server sends and accepts; `openapi` describes them.
#
# They are dictionaries, so each answer is written in the code as it is sent.

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS)]


class BoardContent(TypedDict):
    """What a page shows of a view, by the keys of its elements.

    `texts` are in the table's language, `marks` set the style, `counts` are of sticks (lit, of how many); `table` is
    escaped HTML.
    """

    texts: dict[str, str]
    marks: dict[str, str]
    counts: dict[str, tuple[int, int]]
    layout: str
    table: str


class EventContent(BoardContent):
    """The data of an event `view`: the public view, and the page's content."""

    view: View


class Health(TypedDict):
    """Whether the table works: `ok` is false before its first view, and while its journal cannot be written."""

    ok: bool
    seq: int | None
    phase: str | None
    link: bool | None
    watchers: int


class NoView(TypedDict):
    """The table has not published a view yet."""

    error: str


class ErrorBody(TypedDict):
    """Why a request was refused: `code` for programs, `what` is wrong and `todo` is the hint for people.

    `wait_s` is how long to wait before the next try, s, if waiting helps.
    """

    code: str
    what: str
    todo: str
    wait_s: NotRequired[float]


class ErrorResponse(TypedDict):
    """The answer to a request that was refused and had no effect."""

    error: ErrorBody


class SignIn(TypedDict):
    """A user's name and PIN."""

    name: Name
    pin: Annotated[str, Meta(min_length=1, max_length=MAX_PIN_CHARS)]


class Me(TypedDict):
    """The signed-in user."""

    name: str
    role: str


class SignedIn(Me):
    """The signed-in user; the session's cookie is sent with it."""

    ok: Literal[True]


class Done(TypedDict):
    """The request succeeded."""

    ok: Literal[True]


class CommandSent(TypedDict):
    """A call to the table.

    `key` is an idempotency key: repeated requests count once. `expect` is the `revision` of the view for which the call
    was made: if the table has changed since, the call is refused as stale.
    """

    key: Annotated[str, Meta(pattern=f"^{KEY}$")]
    expect: NotRequired[Annotated[int, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)] | None]
    call: JudgeCommand


class CommandDone(TypedDict):
    """The journal's record `seq` that holds the call, and the table's `revision` after it.

    `repeated` is true if the call had been made before.
    """

    ok: Literal[True]
    seq: int
    repeated: bool
    revision: int


class ProtestContent(TypedDict):
    """An undecided protest; with `play_on` play continues before the decision."""

    by: str
    text: str
    play_on: bool


class Side(TypedDict):
    """A team or a player, with its name."""

    value: str
    label: str


class HealthContent(TypedDict):
    """The state of mat and board: `note` and `board` as text, `faults` are the unreliable sensors."""

    link: bool
    note: str
    faults: tuple[SensorFault, ...]
    sensors: bool
    board: str


class StateContent(TypedDict):
    """All content of the console: the view, the page's texts, possible actions and fouls, and the latest log lines.

    `log` has the newest line last; `now` is the table's clock, s.
    """

    view: View
    board: BoardContent
    console: console_page.Console
    me: Me
    legal: tuple[dict[str, Any], ...]
    fouls: tuple[game_page.FoulsOf, ...]
    protest: ProtestContent | None
    rulings: tuple[str, ...]
    sides: list[Side]
    log: tuple[event_log.Line, ...]
    health: HealthContent
    now: float


class KeptHit(TypedDict):
    """A hit that was recorded: its number `n`, hide, time (`t`, s) and possible pads.

    `margin_db` is how far the loudest pad was above the next, dB.
    """

    n: int
    hide: int
    t: float
    pads: tuple[int, ...]
    margin_db: float | None
    sure: bool


class KeptHits(TypedDict):
    """The recorded hits that this user may see, the newest last."""

    hits: list[KeptHit]


class SessionContent(TypedDict):
    """A signed-in device; `began` and `seen` are its start and last use, s on the table's clock."""

    id: str
    began: float
    seen: float


class Person(TypedDict):
    """A user who may sign in."""

    id: int
    name: str
    role: str
    sessions: list[SessionContent]


class People(TypedDict):
    """The users who may sign in, and the roles."""

    roles: tuple[Role, ...]
    people: list[Person]


class AddPerson(TypedDict):
    """Add a user."""

    do: Literal["add"]
    name: Name
    role: Role


class ChangePerson(TypedDict):
    """Give a user a new PIN, end all their sessions, or remove them."""

    do: Literal["new_pin", "revoke", "remove"]
    id: int


class PeopleChanged(TypedDict):
    """The change was made. A new `pin` is only in this answer; `ended` is the number of ended sessions."""

    ok: Literal[True]
    id: NotRequired[int]
    name: NotRequired[str]
    role: NotRequired[str]
    pin: NotRequired[str]
    ended: NotRequired[int]

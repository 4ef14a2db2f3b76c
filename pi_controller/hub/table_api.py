"""Where tables post their reports (`messages`), each with the token that it got when it joined."""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pi_controller.hub import messages
from pi_controller.hub.hub import Hub
from pi_controller.hub.messages import encode
from pi_controller.hub.tokens import Tokens
from pi_controller.web import http_timeouts, requests
from pi_controller.web.throttle import TokenBuckets

REPORTS_A_SECOND, BURST = 50.0, 400.0
"""Reports of one table; a table that catches up sends its whole journal."""
MAX_TOKEN_CHARS = 100


def records_route(hub: Callable[[], Hub | None], tokens: Callable[[], Tokens], clock: Callable[[], float]) -> Route:
    """Return the route of the tables' reports; `hub` returns None before the hub runs."""
    buckets = TokenBuckets(REPORTS_A_SECOND, BURST)

    async def take(request: Request) -> Response:
        table, receiver = request.path_params["table"], hub()
        await _require_token(request, table, tokens(), clock())
        http_timeouts.keep_connection(request.scope)
        if (wait_s := buckets.take(table, clock())) > 0:
            raise requests.RequestError(
                "often", "this table sends too much", "wait {wait} s", wait_s=wait_s, wait=f"{wait_s:.1f}"
            )
        if receiver is None:
            raise requests.RequestError("busy", "the hub is starting", "send it again")
        body = await requests.read_body(request, messages.MAX_MESSAGE_BYTES)
        try:
            report = messages.decode(body, messages.TableReport)
        except messages.MessageError as error:
            receiver.note_unreadable(table, error)
            raise
        answer = await receiver.report_from_thread(table, report)
        return Response(encode(answer), media_type="application/json")

    return requests.json_route(messages.RECORDS_PATH, take, "POST")


async def _require_token(request: Request, table: str, tokens: Tokens, now: float) -> None:
    """Raise `RequestError` unless the request is encrypted and has the token of `table`."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    sent = scheme.lower() == "bearer" and 0 < len(token) <= MAX_TOKEN_CHARS
    if request.scope["scheme"] != "https":
        raise requests.RequestError(
            "missing", "tables report over HTTPS alone", "use the address the table joined with"
        )
    if tokens.is_due(now):
        await asyncio.to_thread(tokens.refresh, now)
    if not (sent and tokens.is_valid(table, token)):
        raise requests.RequestError(
            "signed_out",
            "the hub does not know the token of {table}",
            "ask the director for a new code, and join again",
            table=table,
        )

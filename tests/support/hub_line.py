"""The network between a hub and its tables on one event loop: real requests and answers, no socket; it can be cut."""

import httpx
from starlette.applications import Starlette

from pi_controller.display.i18n import ENGLISH
from pi_controller.hub.table_api import records_route

HUB = "https://hub.example"


class HubLine:
    """What `tokens` were issued for; `hub` is who answers, None for nobody.

    Each report goes to `sent(table, body)` and each answer to `answered(table, body)`, too.
    """

    def __init__(self, clock, tokens=None, sent=lambda *_: None, answered=lambda *_: None):
        self.hub, self.tokens, self.sent, self.answered = None, tokens, sent, answered
        self.cut, self.lost_answers = set(), set()
        self.app = Starlette(routes=[records_route(lambda: self.hub, lambda: self.tokens, clock)])
        self.app.state.tr = ENGLISH

    def client(self, table, token=None):
        """Return the client of `table`, which has joined."""
        token = token or self.tokens.issue(table)
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        return httpx.AsyncClient(transport=_Transport(self, table), base_url=HUB, headers=headers)


class _Transport(httpx.AsyncBaseTransport):
    def __init__(self, line, table):
        self._line, self._table = line, table

    async def handle_async_request(self, request):
        self._require_line()
        self._line.sent(self._table, request.content)
        answer = await httpx.ASGITransport(self._line.app).handle_async_request(request)
        content = await answer.aread()
        self._require_line()
        if self._table in self._line.lost_answers:
            raise httpx.ReadTimeout("no answer")
        self._line.answered(self._table, content)
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)

    def _require_line(self):
        if self._line.hub is None or self._line.cut & {self._table, "all"}:
            raise httpx.ConnectError("the line is cut")

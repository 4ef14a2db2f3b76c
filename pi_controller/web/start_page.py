"""The page of a card where the head judge chooses what it is for, and its network; at the first start and later.

Bad input is told with what to do, and changes nothing. Otherwise the table or the whole machine starts again.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Protocol

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pi_controller.config.machine_settings import HTTPS_PORT, HUB_PORT, START_PAGE
from pi_controller.config.own_network import wifi_code
from pi_controller.display.i18n import ENGLISH
from pi_controller.table.table_queue import TableQueue
from pi_controller.web import requests
from pi_controller.web.sign_in import SignInRoutes
from pi_controller.web.templates import render

log = logging.getLogger(__name__)

Use = Literal["table", "gathering", "hub", "both"]
NetworkKind = Literal["own", "join", "cable"]
NOT_PLAYING = {"toss", "over", "halted"}
"""Phases before, after and between games."""


class StartChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was chosen: the card's use, and its network with the country.

    `code` is what the hub's console shows for a table of a gathering; `name` and `password` are those of a Wi-Fi to
    join. `playing` confirms that a game in progress is interrupted.
    """

    use: Use
    network: NetworkKind
    country: Annotated[str, Meta(max_length=2)] = ""
    code: Annotated[str, Meta(max_length=200)] = ""
    name: Annotated[str, Meta(max_length=64)] = ""
    password: Annotated[str, Meta(max_length=64)] = ""
    playing: bool = False

    def __repr__(self) -> str:
        """Return it without code and password, for messages and tracebacks."""
        return f"StartChoice(use={self.use!r}, network={self.network!r})"


class CardState(msgspec.Struct, frozen=True, kw_only=True):
    """What the card is: its use ("" before it was `chosen`) and its network; `password` of its own network only.

    `wifi` is whether the machine has a Wi-Fi device, `at_hub` the table's place at a hub or "". `hub` is whether one
    runs here, and `fingerprint` the SHA-256 of its certificate.
    """

    use: str
    chosen: bool
    network: str
    name: str
    password: str
    country: str
    wifi: bool
    countries: Mapping[str, str]
    at_hub: str = ""
    hub: bool = False
    fingerprint: str = ""

    def __repr__(self) -> str:
        """Return it without the password, for messages and tracebacks."""
        return f"CardState(use={self.use!r}, network={self.network!r})"


class StartResult(msgspec.Struct, frozen=True):
    """What starts again. With `code_later` the code of the hub is asked afterwards.

    `network` and `password` are those of the machine's own network from then on, "" for none.
    """

    restarts: Literal["machine", "table"]
    code_later: bool = False
    network: str = ""
    password: str = ""


class Desk(Protocol):
    """Knows what the card is, and makes it another."""

    def describe(self) -> CardState:
        """Return what the card is now."""
        ...

    def apply(self, choice: StartChoice) -> StartResult:
        """Make the card what was chosen. Raises `MatError`, and then has changed nothing."""
        ...


class StartPage:
    """The routes of the page. `restart` starts the table again; `command_queue` has the table's state."""

    def __init__(
        self, signed: SignInRoutes, command_queue: TableQueue, desk: Desk, restart: Callable[[], None]
    ) -> None:
        self._signed, self._command_queue, self._desk, self._restart = signed, command_queue, desk, restart
        self._one = asyncio.Lock()

    async def page(self, request: Request) -> Response:
        """Answer with the page; without a sign-in with the sign-in page, which leads back here."""
        try:
            await self._require_head(request)
        except requests.RequestError as error:
            if error.code != "signed_out":
                raise
            return await self._signed.form_response(request)
        card = await asyncio.to_thread(self._desk.describe)
        code = wifi_code(card.name, card.password) if card.password and card.wifi else ""
        host = request.url.hostname or ""
        boards, director = f"http://{host}:{HUB_PORT}/", f"https://{host}:{HTTPS_PORT}/director"
        return HTMLResponse(render("start.html", ENGLISH, card=card, wifi_code=code, boards=boards, director=director))

    async def choose(self, request: Request) -> Response:
        """Make the card what a POST says."""
        session = await self._require_head(request)
        choice = await requests.read_request(request, StartChoice)
        picture = self._command_queue.picture
        if picture is not None and picture.view.phase not in NOT_PLAYING and not choice.playing:
            raise requests.RequestError("playing", "a game is in progress", "it continues afterwards: save once more")
        self._signed.charge_command(session)
        async with self._one:
            done = await asyncio.to_thread(self._desk.apply, choice)
        log.info("%s made this card: %s, network: %s", session.person.name, choice.use, choice.network)
        if done.restarts == "table":
            self._restart()
        return requests.json_response({"ok": True, **msgspec.to_builtins(done)})

    async def _require_head(self, request: Request) -> Any:
        return await self._signed.require_right(request, "settings", "choose what this card is for")


def start_routes(page: StartPage) -> list[Route]:
    """Return the routes of the page; a `MatError` becomes a JSON answer with a status."""
    return [
        requests.json_route(START_PAGE, page.page),
        requests.json_route(f"{START_PAGE}/choose", page.choose, "POST"),
    ]

"""The page of a card where the head judge chooses what it is for, and its network; at the first start and later.

Bad input is told with what to do, and changes nothing. Otherwise the table or the whole machine starts again.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, get_args

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pi_controller.config.machine_settings import HTTPS_PORT, HUB_PORT, START_PAGE
from pi_controller.config.own_network import wifi_code
from pi_controller.table.table_queue import TableQueue
from pi_controller.web import requests
from pi_controller.web.sign_in import SignInRoutes
from pi_controller.web.templates import render

log = logging.getLogger(__name__)

Use = Literal["table", "gathering", "hub", "both"]
NetworkKind = Literal["own", "join", "cable"]
NOT_PLAYING = {"toss", "over", "halted"}
"""Phases before, after and between games."""
MAX_CHARS = {"code": 200, "name": 64, "password": 64, "country": 2}


class StartChoice(msgspec.Struct, frozen=True):
    """What was chosen: the card's use, and its network with the country.

    `code` is what the hub's console shows for a table of a gathering; `name` and `password` are those of a Wi-Fi to
    join.
    """

    use: Use
    network: NetworkKind
    country: str = ""
    code: str = ""
    name: str = ""
    password: str = ""

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
            return await self._signed.form_response()
        card = await asyncio.to_thread(self._desk.describe)
        code = wifi_code(card.name, card.password) if card.password and card.wifi else ""
        host = request.url.hostname or ""
        boards, director = f"http://{host}:{HUB_PORT}/", f"https://{host}:{HTTPS_PORT}/director"
        return HTMLResponse(render("start.html", card=card, wifi_code=code, boards=boards, director=director))

    async def choose(self, request: Request) -> Response:
        """Make the card what a POST says: `{"use": "both", "network": "own", "country": "US"}`."""
        session = await self._require_head(request)
        choice, playing = parse_choice(await requests.read_json_body(request))
        picture = self._command_queue.picture
        if picture is not None and picture.view.phase not in NOT_PLAYING and not playing:
            raise requests.RequestError("playing", "a game is in progress", "it continues afterwards: save once more")
        if (wait := self._signed.charge_command(session)) > 0:
            raise requests.RequestError("often", "too many requests at once", f"wait {wait:.1f} s")
        async with self._one:
            done = await asyncio.to_thread(self._desk.apply, choice)
        log.info("%s made this card: %s, network: %s", session.person.name, choice.use, choice.network)
        if done.restarts == "table":
            self._restart()
        return requests.json_response({"ok": True, **msgspec.to_builtins(done)})

    async def _require_head(self, request: Request) -> Any:
        return await self._signed.require_right(request, "settings", "choose what this card is for")


def parse_choice(body: dict[str, Any]) -> tuple[StartChoice, bool]:
    """Parse the body of a choice; return it, and whether a game in progress may be interrupted.

    Raises `RequestError` if it is malformed.
    """
    requests.reject_unknown_keys(body, "use", "network", "playing", *MAX_CHARS)
    if body.get("use") not in get_args(Use):
        raise requests.RequestError("invalid", "it is not said what this card is for", "choose one of the four")
    if body.get("network") not in get_args(NetworkKind):
        raise requests.RequestError("invalid", "the network is missing", "choose one of the three")
    texts: dict[str, str] = {}
    for key, most in MAX_CHARS.items():
        value = body.get(key, "")
        if not isinstance(value, str) or len(value) > most:
            raise requests.RequestError("invalid", f"{key} must be a text of up to {most} letters", "correct it")
        texts[key] = value if key == "password" else value.strip()
    return StartChoice(body["use"], body["network"], **texts), body.get("playing") is True


def start_routes(page: StartPage) -> list[Route]:
    """Return the routes of the page; a `MatError` becomes a JSON answer with a status."""
    return [
        requests.json_route(START_PAGE, page.page),
        requests.json_route(f"{START_PAGE}/choose", page.choose, "POST"),
    ]

"""Takes tables in: the codes that the director has opened, and the port where a table shows one and gets its account.

The port listens only while a code is open, with a certificate of that time (`joining` says what it is good for). A code
is for one table, good for some minutes and for one use. Wrong ones are throttled as wrong PINs are.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pi_controller.errors import MatError
from pi_controller.fleet.accounts import JOINED, TABLES, account_for, has_joined, reload_broker, write_private
from pi_controller.fleet.home_assistant import ACCOUNT as HOME
from pi_controller.fleet.hub_settings import ACCOUNT
from pi_controller.fleet.joining import (
    MOST_BYTES,
    PORT,
    VERSION,
    JoinCode,
    JoinRefused,
    JoinRequest,
    line_of,
    new_code,
)
from pi_controller.fleet.mqtt import Broker, signs_in
from pi_controller.table.settings_fields import is_topic_name
from pi_controller.web.signing.throttle import Rate, Throttle, keys

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine
    from typing import Any

    from pi_controller.fleet.hub_settings import HubSettings
    from pi_controller.fleet.joining import Account

log = logging.getLogger(__name__)
CODE_S = 600.0
"""For so long a code is good."""
LINE_S = 10.0
"""How long a table may take to say what it has."""
MOST_AT_ONCE = 8
MOST_OPEN = 64
TRIES_A_SECOND, BURST = 2.0, 20.0
"""Codes that are looked at, whoever sends them."""
BROKER_S = 10.0
"""How long the broker may take to know a new account."""


class EnrolmentError(MatError, RuntimeError):
    """A table is not taken in, or not so."""

    code = "illegal"


class Opened(NamedTuple):
    """What the director is told once: the code, the command that has it, and until when it is good (s since 1970)."""

    code: str
    command: str
    ends: float


class Waiting(NamedTuple):
    """A table that may join until `ends` (s since 1970); what everybody who is signed in may know."""

    table: str
    ends: float


class _Open(NamedTuple):
    table: str
    anew: bool
    code: JoinCode
    ends: float


class Codes:
    """The codes that are open, one for each table at most. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._past: dict[str, str] = {}
        """Why a code of before is not good."""
        self._throttle = Throttle()
        self._rate = Rate(TRIES_A_SECOND, BURST)

    def open(self, table: str, code: JoinCode, t: float, *, anew: bool) -> None:
        """Have `code` be good for `table` from now on, in place of the one before. Raises `EnrolmentError`."""
        self.close(table)
        if len(self.waiting(t)) >= MOST_OPEN:
            raise EnrolmentError(f"{MOST_OPEN} codes are open", "take some back first")
        self._open[table] = _Open(table, anew, code, t + CODE_S)

    def close(self, table: str) -> None:
        """Have no code be good for `table`."""
        if (found := self._open.pop(table, None)) is not None:
            self._note(found, "this code was taken back")

    def waiting(self, t: float) -> list[_Open]:
        """Return what is open."""
        for one in [one for one in self._open.values() if one.ends <= t]:
            del self._open[one.table]
            self._note(one, "this code has run out")
        return list(self._open.values())

    def take(self, once: str, address: str, t: float) -> _Open:
        """Return what the code is for that somebody at `address` has shown; it is used then.

        Raises `EnrolmentError` where it is not good, or for a while where wrong ones came from there.
        """
        under = keys("join", address)
        if (wait := max(self._throttle.wait(under, t), self._rate.take(t))) > 0:
            raise EnrolmentError("too many codes were tried", f"wait {int(wait) + 1} s, then try again")
        self._throttle.charge(under, t)
        found = next((one for one in self.waiting(t) if one.code.once == once), None)
        if found is None:
            why = self._past.get(once, "the hub does not know this code")
            raise EnrolmentError(why, "have the director open a new one")
        self._throttle.right(under)
        del self._open[found.table]
        self._note(found, "this code was used")
        return found

    def restore(self, taken: _Open) -> None:
        """Have the code be good again that was taken for nothing."""
        self._past.pop(taken.code.once, None)
        self._open.setdefault(taken.table, taken)

    def _note(self, one: _Open, why: str) -> None:
        self._past[one.code.once] = why
        while len(self._past) > 4 * MOST_OPEN:
            del self._past[next(iter(self._past))]


class EnrolmentDesk:
    """Takes tables in at the hub of `folder`. `known` are the tables that the hub has heard of.

    It runs in the loop that makes it; `ask` is for other threads.
    """

    def __init__(
        self,
        folder: Path,
        settings: HubSettings,
        broker: Broker,
        known: Callable[[], Collection[str]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._broker = broker
        self._known = known
        self._clock = clock
        self._codes = Codes()
        self._loop = asyncio.get_running_loop()
        self._making = asyncio.Lock()
        self._calls = 0
        self._server: asyncio.Server | None = None
        self._certificate = b""
        self.port = 0
        self.waiting: tuple[Waiting, ...] = ()
        """What is open; may be read from any thread."""

    async def ask(self, what: Coroutine[Any, Any, Any]) -> Any:
        """Return what `what`, a call of this desk, returns; for the loop of another thread."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(what, self._loop))

    async def open(self, table: str, *, anew: bool = False) -> Opened:
        """Have a table join under this name; with `anew` its account gets another password then.

        Raises `EnrolmentError`.
        """
        if not is_topic_name(table) or table in (ACCOUNT, HOME):
            what = f"no table can have the account {table!r}"
            raise EnrolmentError(what, 'up to 31 small letters, digits, - and _, as in "t09"')
        self._not_taken(table, anew=anew)
        if self._server is None:
            await self._listen()
        code, now = new_code(self._certificate), self._clock()
        self._codes.open(table, code, now, anew=anew)
        self._tidy()
        self._loop.call_later(CODE_S + 1.0, self._tidy)
        address = self._settings.broker.address
        at = f"[{address}]" if ":" in address else address
        at = at if self.port == PORT else f"{at}:{self.port}"
        return Opened(str(code), f"moccasin-mat hub join {at} {code}", now + CODE_S)

    async def shut(self, table: str) -> None:
        """Take the code back that is open for `table`."""
        self._codes.close(table)
        self._tidy()

    def close(self) -> None:
        """Take all codes back, and stop listening."""
        for one in self._codes.waiting(self._clock()):
            self._codes.close(one.table)
        self._tidy()

    def _not_taken(self, table: str, *, anew: bool) -> None:
        if not anew and (has_joined(self._folder, table) or table in self._known()):
            raise EnrolmentError(
                f"there is a table {table} already",
                "choose another name; or where this is its new card, say so: the old one is then shut out",
            )

    async def _listen(self) -> None:
        try:
            from pi_controller.fleet.certificates import for_joining  # noqa: PLC0415 - one of the packages of a hub
        except ImportError as error:
            raise EnrolmentError("this needs more packages", "pip install '.[hub]' in the clone") from error
        made = for_joining(datetime.fromtimestamp(self._clock(), UTC))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        with tempfile.TemporaryDirectory(dir=self._folder) as place:  # ssl reads files only
            for name, content in (("crt", made.pem), ("key", made.key)):
                write_private(Path(place) / name, content)
            context.load_cert_chain(Path(place) / "crt", Path(place) / "key")
        wanted = self._settings.enrolment
        try:
            self._server = await asyncio.start_server(
                self._called, wanted.host, wanted.port, ssl=context, limit=MOST_BYTES, ssl_handshake_timeout=LINE_S
            )
        except OSError as error:
            raise EnrolmentError(
                f"tables cannot be heard at port {wanted.port}: {error.strerror or error}",
                "choose another port in [enrolment] of hub.toml",
            ) from error
        self._certificate = made.der
        self.port = self._server.sockets[0].getsockname()[1]

    def _tidy(self) -> None:
        """Note what is open, and listen no longer than that."""
        self.waiting = tuple(Waiting(one.table, one.ends) for one in self._codes.waiting(self._clock()))
        if not self.waiting and not self._calls and self._server is not None:
            self._server.close()
            self._server = None

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._calls >= MOST_AT_ONCE:
            writer.close()
            return
        self._calls += 1
        address = str(writer.get_extra_info("peername")[0])
        try:
            async with asyncio.timeout(LINE_S):
                line = await reader.readline()
            writer.write(line_of(await self._answer(line, address)))
            async with asyncio.timeout(LINE_S):
                await writer.drain()
        except (OSError, ValueError, TimeoutError) as error:
            log.warning("somebody at %s wanted to join and was not understood: %s", address, type(error).__name__)
        finally:
            self._calls -= 1
            self._tidy()
            writer.close()
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(LINE_S):
                    await writer.wait_closed()

    async def _answer(self, line: bytes, address: str) -> Account | JoinRefused:
        try:
            request = msgspec.json.decode(line, type=JoinRequest)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return JoinRefused("the hub does not understand this", "see that table and hub have the same version")
        if request.version != VERSION:
            return JoinRefused(
                f"the hub takes tables in by version {VERSION}, and this is {request.version}",
                "bring both to the same version",
            )
        try:
            taken = self._codes.take(request.once, address, self._clock())
        except EnrolmentError as error:
            log.warning("a table at %s is not taken in: %s", address, error.what)
            return JoinRefused(error.what, error.todo)
        try:
            async with self._making:
                self._not_taken(taken.table, anew=taken.anew)
                account = await self._made(taken)
        except (MatError, OSError) as error:
            self._codes.restore(taken)
            what = (
                error if isinstance(error, MatError) else MatError(f"the account cannot be written: {error.strerror}")
            )
            log.warning("%s at %s is not taken in: %s", taken.table, address, what.what)
            return JoinRefused(what.what, what.todo)
        log.info("%s has joined from %s", taken.table, address)
        return account

    async def _made(self, taken: _Open) -> Account:
        """Return the account that the broker knows from now on. Raises `MatError`, `OSError`."""
        broker, venue = self._settings.broker, self._settings.venue.name
        account = await asyncio.to_thread(
            account_for, self._folder, broker.address, broker.port, venue, taken.table, anew=taken.anew
        )
        there = Broker(broker.address, broker.port, account.table, account.password, self._broker.ca)
        try:
            async with asyncio.timeout(BROKER_S):
                while not await signs_in(there):
                    reload_broker(self._folder)
                    await asyncio.sleep(0.2)
        except TimeoutError:
            raise EnrolmentError(
                "the broker does not take the new account", "see that it runs, then try once more with the same code"
            ) from None
        now = datetime.fromtimestamp(self._clock(), UTC)
        write_private(self._folder / TABLES / account.table / JOINED, f"{now:%Y-%m-%d %H:%M:%S} UTC\n".encode())
        return account

"""Register tables at the hub: one-time join codes, and the answer to a table that sends one over HTTPS (see `join`).

A code is for one table, can be used once and expires after some minutes. Wrong codes are throttled in the same way as
wrong PINs.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pi_controller import __version__
from pi_controller.config.fields import is_short_name
from pi_controller.errors import MatError, describe_error
from pi_controller.hub import join
from pi_controller.hub.settings import HTTPS_PORT, HubSettings
from pi_controller.hub.setup import CA
from pi_controller.hub.tokens import Tokens
from pi_controller.web.connection_limits import client_network, is_loopback
from pi_controller.web.throttle import Throttle

log = logging.getLogger(__name__)
CODE_LIFETIME_S = 600.0
"""How long a code is valid."""
MAX_OPEN_CODES = 64
MAX_VERSION_CHARS = 80


class JoinServerError(MatError, RuntimeError):
    """A join code cannot be opened, or a table cannot join."""

    code = "illegal"


class IssuedCode(NamedTuple):
    """A new code, shown to the director only once: the code, the command with it, and its end (s since 1970)."""

    code: str
    command: str
    ends: float


class JoinableTable(NamedTuple):
    """A table that may join until `ends` (s since 1970); may be shown to all signed-in users."""

    table: str
    ends: float


class Joining(NamedTuple):
    """The tables that may join now, and those that have; may be shown to all signed-in users."""

    waiting: tuple[JoinableTable, ...] = ()
    joined: frozenset[str] = frozenset()


class _Open(NamedTuple):
    table: str
    anew: bool
    code: join.JoinCode
    ends: float


class JoinCodes:
    """The open join codes, at most one for each table. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._past: dict[str, str] = {}
        """Why an earlier code is not valid."""
        self._throttle = Throttle()

    def open(self, table: str, code: join.JoinCode, t: float, *, anew: bool) -> None:
        """Make `code` valid for `table` from now on; it replaces an earlier one. Raises `JoinServerError`."""
        self.close(table)
        if len(self.waiting(t)) >= MAX_OPEN_CODES:
            raise JoinServerError("{max_open_codes} codes are open", "revoke some first", max_open_codes=MAX_OPEN_CODES)
        self._open[table] = _Open(table, anew, code, t + CODE_LIFETIME_S)

    def close(self, table: str) -> None:
        """Revoke the code for `table`, if there is one."""
        if (found := self._open.pop(table, None)) is not None:
            self._note(found, "this code was revoked")

    def waiting(self, t: float) -> list[_Open]:
        """Drop expired codes and return the open ones."""
        for one in [one for one in self._open.values() if one.ends <= t]:
            del self._open[one.table]
            self._note(one, "this code has run out")
        return list(self._open.values())

    def redeem(self, once: str, address: str, t: float) -> _Open:
        """Redeem a code sent from `address`: return its entry and close it.

        Raises `JoinServerError` if the code is not valid, or if too many wrong codes came from this address.
        """
        if (wait := self._throttle.admit("join", client_network(address), t)) > 0:
            raise JoinServerError("too many codes were tried", "wait {wait} s, then try again", wait=int(wait) + 1)
        found = next((one for one in self.waiting(t) if one.code.secret == once), None)
        if found is None:
            why = self._past.get(once, "the hub does not know this code")
            raise JoinServerError(why, "ask the director for a new one")
        self._throttle.record_success("join")
        del self._open[found.table]
        self._note(found, "this code was used")
        return found

    def restore(self, taken: _Open) -> None:
        """Make a redeemed code valid again, because joining failed."""
        self._past.pop(taken.code.secret, None)
        self._open.setdefault(taken.table, taken)

    def _note(self, one: _Open, why: str) -> None:
        self._past[one.code.secret] = why
        while len(self._past) > 4 * MAX_OPEN_CODES:
            del self._past[next(iter(self._past))]


class JoinServer:
    """Registers tables at the hub of `folder`, which answers them at the HTTPS port `port` with `certificate` (DER).

    A table that joins gets a token of `tokens`. `known` returns the tables from which the hub has received anything.
    `compare_version` is called with each table that has joined and the version of its program. Runs in the event loop
    that creates it; use `run_from_thread` from other threads.
    """

    def __init__(
        self,
        folder: Path,
        settings: HubSettings,
        tokens: Tokens,
        known: Callable[[], Collection[str]],
        compare_version: Callable[[str, str], None],
        port: int,
        certificate: bytes,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._tokens = tokens
        self._known = known
        self._compare_version = compare_version
        self._codes = JoinCodes()
        self._loop = asyncio.get_running_loop()
        self._port, self._certificate, self._clock = port, certificate, clock
        self._waiting: tuple[JoinableTable, ...] = ()

    @property
    def joining(self) -> Joining:
        """The tables that may join, and those that have; from any thread."""
        return Joining(self._waiting, self._tokens.tables)

    async def run_from_thread(self, what: Coroutine[Any, Any, Any]) -> Any:
        """Run `what`, a coroutine of this object, in its own loop and return its result; for other threads."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(what, self._loop))

    async def open(self, table: str, *, anew: bool = False) -> IssuedCode:
        """Open a code for `table`; with `anew` it gets a new token when it joins.

        Raises `JoinServerError`.
        """
        if not is_short_name(table):
            what = f"no table can have the name {table!r}"
            raise JoinServerError(what, 'use up to 31 lower case letters, digits, - and _, as in "t09"')
        await self._reject_known_table(table, anew=anew)
        self._reject_unreachable()
        code, now = join.new_code(self._certificate), self._clock()
        self._codes.open(table, code, now, anew=anew)
        self._update_waiting()
        self._loop.call_later(CODE_LIFETIME_S + 1.0, self._update_waiting)
        address = self._settings.venue.address
        at = f"[{address}]" if ":" in address else address
        at = at if self._port == HTTPS_PORT else f"{at}:{self._port}"
        return IssuedCode(str(code), f"moccasin-mat hub join {at} {code}", now + CODE_LIFETIME_S)

    async def revoke_code(self, table: str) -> None:
        """Revoke the code for `table`."""
        self._codes.close(table)
        self._update_waiting()

    async def remove_table(self, table: str) -> None:
        """Take `table` out: its token and its code are no longer valid. Raises `StoreError`."""
        await self.revoke_code(table)
        await asyncio.to_thread(self._tokens.revoke, table)

    async def _reject_known_table(self, table: str, *, anew: bool) -> None:
        await asyncio.to_thread(self._tokens.refresh, self._clock())
        if not anew and (table in self._tokens.tables or table in self._known()):
            raise JoinServerError(
                "there is a table {table} already",
                "choose another name, or choose the option for a new card: the old card then loses access",
                table=table,
            )

    def _reject_unreachable(self) -> None:
        """Raise `JoinServerError` if tables cannot reach this hub, or cannot recognise it."""
        host, address = self._settings.page.host, self._settings.venue.address
        if is_loopback(host) and not is_loopback(address):
            raise JoinServerError(
                "only this machine reaches the hub's pages, and tables join there",
                'set [page] host = "0.0.0.0" in hub.toml, and start the hub again',
            )
        if not self._certificate:
            raise JoinServerError(
                "the hub has no certificate by which tables recognise it", "run 'moccasin-mat hub setup' again"
            )

    def _update_waiting(self) -> None:
        self._waiting = tuple(JoinableTable(one.table, one.ends) for one in self._codes.waiting(self._clock()))

    async def answer(self, body: bytes, address: str) -> join.Account | join.JoinRefused:
        """Answer the request in the `body` that a table at `address` sent."""
        try:
            request = msgspec.json.decode(body, type=join.JoinRequest)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return join.JoinRefused(
                "the hub cannot read this request", "check that table and hub have the same version"
            )
        if request.version != join.VERSION:
            return join.JoinRefused(
                f"the hub needs join protocol version {join.VERSION}, and this is {request.version}",
                "bring both to the same version",
            )
        try:
            taken = self._codes.redeem(request.once, address, self._clock())
        except JoinServerError as error:
            log.warning("refused a table at %s: %s", address, error.message)
            return join.JoinRefused(error.message, error.hint)
        try:
            await self._reject_known_table(taken.table, anew=taken.anew)
            account = await asyncio.to_thread(self._create_account, taken.table)
        except (MatError, OSError) as error:
            self._codes.restore(taken)
            if not isinstance(error, MatError):
                error = MatError("the token cannot be stored: {why}", why=describe_error(error))
            log.warning("refused %s at %s: %s", taken.table, address, error.message)
            return join.JoinRefused(error.message, error.hint)
        finally:
            self._update_waiting()
        log.info("%s has joined from %s", taken.table, address)
        self._compare_version(account.table, request.program[:MAX_VERSION_CHARS])
        return msgspec.structs.replace(account, program=__version__)

    def _create_account(self, table: str) -> join.Account:
        """Issue a token and return what the table needs. Raises `StoreError`, `OSError`."""
        venue, ca = self._settings.venue, (self._folder / CA).read_text("utf-8")
        return join.Account(venue.address, self._port, venue.name, table, self._tokens.issue(table), ca)

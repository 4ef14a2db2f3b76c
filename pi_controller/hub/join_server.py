"""Register tables at the hub: one-time join codes, and the answer to a table that sends one over HTTPS (see `join`).

A code is for one table, can be used once and expires after some minutes; `tokens` has the valid ones. Wrong codes are
throttled in the same way as wrong PINs.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

import msgspec

from pi_controller import __version__
from pi_controller.config.fields import is_short_name
from pi_controller.errors import MatError, describe_error
from pi_controller.hub import join
from pi_controller.hub.settings import HTTPS_PORT, HubSettings
from pi_controller.hub.setup import CA
from pi_controller.hub.tokens import JoinableTable, JoinServerError, Tokens
from pi_controller.web.connection_limits import client_network, is_loopback
from pi_controller.web.throttle import Throttle

log = logging.getLogger(__name__)
MAX_VERSION_CHARS = 80


class IssuedCode(NamedTuple):
    """A new code, shown to the director only once: the code, the command with it, and its end (s since 1970)."""

    code: str
    command: str
    ends: float


class Joining(NamedTuple):
    """The tables that may join now, and those that have; may be shown to all signed-in users."""

    waiting: tuple[JoinableTable, ...] = ()
    joined: frozenset[str] = frozenset()


class JoinServer:
    """Registers tables at the hub of `folder`, which answers them at the HTTPS port `port` with `certificate` (DER).

    A table that joins gets a token of `tokens`. `known` returns the tables from which the hub has received anything.
    `compare_version` is called with each table that has joined and the version of its program. Usable from any thread.
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
        self._throttle = Throttle()
        self._port, self._certificate, self._clock = port, certificate, clock

    @property
    def joining(self) -> Joining:
        """The tables that may join, and those that have."""
        return Joining(self._tokens.waiting(self._clock()), self._tokens.tables)

    async def open(self, table: str, *, anew: bool = False) -> IssuedCode:
        """Open a code for `table`; with `anew` it gets a new token when it joins.

        Raises `JoinServerError`, `StoreError`.
        """
        if not is_short_name(table):
            what = f"no table can have the name {table!r}"
            raise JoinServerError(what, 'use up to 31 lower case letters, digits, - and _, as in "t09"')
        self._reject_unreachable()
        code, known = join.new_code(self._certificate), self._known()
        opened = await asyncio.to_thread(
            self._tokens.open_code, table, code.secret, self._clock(), anew=anew, known=known
        )
        address = self._settings.venue.address
        at = f"[{address}]" if ":" in address else address
        at = at if self._port == HTTPS_PORT else f"{at}:{self._port}"
        return IssuedCode(str(code), f"moccasin-mat hub join {at} {code}", opened.ends)

    async def revoke_code(self, table: str) -> None:
        """Revoke the code for `table`. Raises `StoreError`."""
        await asyncio.to_thread(self._tokens.close_code, table)

    async def remove_table(self, table: str) -> None:
        """Take `table` out: its token and its code are no longer valid. Raises `StoreError`."""
        await asyncio.to_thread(self._tokens.revoke, table)

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
            account = await asyncio.to_thread(self._create_account, request.once, self._admit(address))
        except (MatError, OSError) as error:
            if not isinstance(error, MatError):
                error = MatError("the token cannot be stored: {why}", why=describe_error(error))
            log.warning("refused a table at %s: %s", address, error.message)
            return join.JoinRefused(error.message, error.hint)
        self._throttle.record_success("join")
        log.info("%s has joined from %s", account.table, address)
        self._compare_version(account.table, request.program[:MAX_VERSION_CHARS])
        return msgspec.structs.replace(account, program=__version__)

    def _admit(self, address: str) -> float:
        """Return the time of a try from `address`. Raises `JoinServerError` if too many were wrong."""
        now = self._clock()
        if (wait := self._throttle.admit("join", client_network(address), now)) > 0:
            raise JoinServerError("too many codes were tried", "wait {wait} s, then try again", wait=int(wait) + 1)
        return now

    def _create_account(self, once: str, now: float) -> join.Account:
        """Redeem a code and return what its table needs. Raises `JoinServerError`, `StoreError`, `OSError`."""
        venue, ca = self._settings.venue, (self._folder / CA).read_text("utf-8")
        table, token = self._tokens.redeem(once, now, self._known())
        return join.Account(venue.address, self._port, venue.name, table, token, ca)

"""Run a hub until it is stopped: inbox, tournament, pages, and the tables that report to it."""

import asyncio
import logging
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pi_controller.host.backoff import Backoff
from pi_controller.host.clock import SteadyClock
from pi_controller.host.platform import call_at_stop_signals
from pi_controller.host.waiting import is_set_within
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.hub import Hub
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.join_server import JoinServer
from pi_controller.hub.pages import HubPages
from pi_controller.hub.settings import load_hub, store_from_settings
from pi_controller.hub.setup import SERVER, format_fingerprint, load_server_tls, read_certificate, write_hub_files
from pi_controller.hub.store import Database, DatabaseUnavailableError
from pi_controller.hub.tokens import Tokens

log = logging.getLogger(__name__)
RETRY_S, MAX_RETRY_S = 0.25, 2.0
"""The first delay before the database is asked again; it doubles up to the maximum."""


def run_hub(folder: Path) -> None:
    """Run the hub in `folder` until SIGINT or SIGTERM. Raises `MatError`."""
    asyncio.run(_run(folder))


async def _run(folder: Path) -> None:
    closing = asyncio.Event()
    call_at_stop_signals(closing.set)
    await HubRun(folder).run(closing)


def _print(line: str) -> None:
    print(line, flush=True)


class HubRun:
    """The hub of `folder`; its start-up messages go to `said`, with the director's first PIN if `shows`.

    Raises `MatError`.
    """

    def __init__(self, folder: Path, said: Callable[[str], None] = _print, *, shows: bool | None = None) -> None:
        self.director: Director
        self.tokens: Tokens
        self.pages: HubPages
        self._folder = folder
        self._said = said
        self._shows = sys.stdout.isatty() if shows is None else shows
        self._listening = asyncio.Event()
        self._error: BaseException | None = None

    async def run(self, closing: asyncio.Event) -> None:
        """Run until `closing` is set."""
        try:
            await self._run(closing)
            self._error = asyncio.CancelledError()
        except BaseException as error:
            self._error = error
            raise
        finally:
            self._listening.set()

    async def wait_until_listening(self) -> None:
        """Wait until the pages are served and tables can connect; raises the error that prevents it."""
        await self._listening.wait()
        if self._error is not None:
            raise self._error

    async def _run(self, closing: asyncio.Event) -> None:
        folder, clock = self._folder, SteadyClock()
        settings = load_hub(folder)
        if not (folder / SERVER).is_file():  # a trial on this machine
            venue = settings.venue
            hosts = dict.fromkeys([venue.address or "127.0.0.1", "127.0.0.1", "localhost"])
            write_hub_files(folder, venue.name, [*hosts], datetime.now(UTC))
            settings = load_hub(folder)
        async with AsyncExitStack() as stack:
            opened = await _open_store(store_from_settings(settings, folder), closing, stack)
            if opened is None:
                return
            self.director, self.tokens = opened.director, opened.tokens
            clock.go_on(self.director.now.ahead_s)
            tls = load_server_tls(folder)
            certificate = read_certificate(folder)  # a later `hub setup` writes another one, which is not in use yet
            self.pages = pages = HubPages(
                settings, folder, self.director, clock, tls, tokens=opened.tokens, ahead=clock.ahead
            )
            stack.callback(pages.close)
            hub = Hub(opened.inbox, pages.publish, clock, self.director, clock.ahead)
            pages.hub = hub
            pages.start()
            self._said(f"all tables: {pages.url}")
            self._said(f"encrypted, for signing in: {pages.secure_url}director")
            self._said(f"SHA-256 of its certificate: {format_fingerprint(certificate)}")
            if pages.stream_url:
                self._said(f"the table that the director points at: {pages.stream_url}overlay")
            if welcome := pages.welcome(shows=self._shows):
                self._said(welcome)
            pages.join_server = JoinServer(
                folder,
                settings,
                opened.tokens,
                hub.known_tables,
                hub.compare_version,
                pages.secure_port,
                certificate,
                clock,
            )
            self._listening.set()
            await hub.run(closing)


class _OpenStore(NamedTuple):
    """What a hub keeps in its store."""

    inbox: Inbox
    tokens: Tokens
    director: Director


async def _open_store(where: Path | Database, closing: asyncio.Event, stack: AsyncExitStack) -> _OpenStore | None:
    """Open the store at `where` for the lifetime of `stack`.

    Waits for a database that is unavailable. Returns None if `closing` is set first. Raises `StoreError`.
    """
    backoff, noted = Backoff(RETRY_S, MAX_RETRY_S), ""
    while not closing.is_set():
        with ExitStack() as tried:
            try:
                inbox = tried.enter_context(await asyncio.to_thread(Inbox, where))
                tokens = tried.enter_context(await asyncio.to_thread(Tokens, where))
                decisions = tried.enter_context(await asyncio.to_thread(TournamentLog, where))
                director = await asyncio.to_thread(Director, decisions, inbox)
            except DatabaseUnavailableError as error:
                if error.message != noted:
                    noted = error.message
                    log.warning("no connection to the database: %s; will retry", noted)
            else:
                stack.push(tried.pop_all())
                return _OpenStore(inbox, tokens, director)
        await is_set_within(closing, backoff.next_s())
    return None

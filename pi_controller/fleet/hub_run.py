"""Runs a hub until it is stopped: broker where it brings one, inbox, tournament, pages."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING

from pi_controller.fleet.director import Director
from pi_controller.fleet.embedded import embedded_broker
from pi_controller.fleet.enrolment import EnrolmentDesk
from pi_controller.fleet.hub import Hub
from pi_controller.fleet.hub_settings import broker_of, load_hub, store_of
from pi_controller.fleet.inbox import Inbox
from pi_controller.fleet.pages import HubPages
from pi_controller.fleet.retry import Retry
from pi_controller.fleet.store import DatabaseAwayError
from pi_controller.fleet.tournament_log import TournamentLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_controller.fleet.store import Database


def run_hub(folder: Path) -> None:
    """Run the hub in `folder` until SIGINT or SIGTERM. Raises `MatError`."""
    asyncio.run(_run(folder))


async def _run(folder: Path) -> None:
    closing = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, closing.set)
    await HubRun(folder).run(closing)


def _print(line: str) -> None:
    print(line, flush=True)


class HubRun:
    """The hub of `folder`; what it says while it starts goes to `said`, with `shows` the director's first PIN.

    Raises `MatError`.
    """

    def __init__(self, folder: Path, said: Callable[[str], None] = _print, *, shows: bool | None = None) -> None:
        self.director: Director
        self.url = ""
        self._folder = folder
        self._said = said
        self._shows = sys.stdout.isatty() if shows is None else shows
        self._listening: asyncio.Future[None] | None = None

    async def run(self, closing: asyncio.Event) -> None:
        """Run until `closing`."""
        if self._listening is None:
            self._listening = asyncio.get_running_loop().create_future()
        try:
            await self._run(closing)
        except BaseException as error:
            if not self._listening.done():
                self._listening.set_exception(error)
                self._listening.exception()  # it is raised here, whether or not anybody waits there
            raise
        self._listening.cancel()

    async def listening(self) -> None:
        """Return when the pages are there and tables can come; raises what kept it from that."""
        while self._listening is None:
            await asyncio.sleep(0)
        await asyncio.shield(self._listening)

    async def _run(self, closing: asyncio.Event) -> None:
        folder = self._folder
        settings = load_hub(folder)
        broker, venue = broker_of(settings, folder), settings.venue.name
        async with AsyncExitStack() as stack:
            opened = await _opened(store_of(settings, folder), closing, stack)
            if opened is None:
                return
            inbox, self.director, known = opened
            pages = HubPages(settings, folder, self.director)
            stack.callback(pages.close)
            pages.start()
            self.url = pages.url
            if settings.embedded:
                await stack.enter_async_context(embedded_broker(broker.port))
                self._said(f"a broker of its own, for tables on this machine: 127.0.0.1 port {broker.port}")
            self._said(f"all tables: {pages.url}")
            if pages.stream_url:
                self._said(f"the table that the director points at: {pages.stream_url}overlay")
            if welcome := pages.welcome(shows=self._shows):
                self._said(welcome)
            hub = Hub(
                inbox,
                broker,
                venue,
                pages.publish,
                director=self.director,
                home=settings.home_assistant.discovery,
                known=known,
            )
            pages.hub = hub
            if not settings.embedded:
                pages.desk = EnrolmentDesk(folder, settings, broker, hub.heard_of)
                stack.callback(pages.desk.close)
            assert self._listening is not None
            self._listening.set_result(None)
            await hub.run(closing)


async def _opened(
    where: Path | Database, closing: asyncio.Event, stack: AsyncExitStack
) -> tuple[Inbox, Director, list[str]] | None:
    """Open what is kept at `where` for as long as `stack`, and return also of which tables there is anything.

    Wait for a database that is not there yet, or goes away meanwhile.

    None where it is `closing` first. Raises `StoreError`.
    """
    retry = Retry("the database", closing)
    while not closing.is_set():
        with ExitStack() as tried:
            try:
                inbox = tried.enter_context(await asyncio.to_thread(Inbox, where))
                log = tried.enter_context(await asyncio.to_thread(TournamentLog, where))
                director = await asyncio.to_thread(Director, log, inbox)
                known = list(await asyncio.to_thread(inbox.held))
            except DatabaseAwayError as error:
                await retry.failed(error.what)
            else:
                retry.reached()
                stack.push(tried.pop_all())
                return inbox, director, known
    return None

"""Run a hub until it is stopped: embedded broker if needed, inbox, tournament, pages."""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from pi_controller.errors import MatError, describe_error
from pi_controller.extras import install_command
from pi_controller.host.platform import call_at_stop_signals, run_async
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.hub import Hub
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.join_server import JoinServer
from pi_controller.hub.mqtt import Retry
from pi_controller.hub.pages import HubPages
from pi_controller.hub.settings import broker_from_settings, load_hub, store_from_settings
from pi_controller.hub.setup import (
    format_fingerprint,
    load_server_tls,
    read_certificate,
)
from pi_controller.hub.store import Database, DatabaseUnavailableError

# An MQTT broker in the hub's own process, for a first try on one machine: it accepts local connections only.


class BrokerError(MatError, OSError):
    """The embedded broker cannot run."""

    code = "broker"


class _Subscriptions(dict[str, Any]):
    """The subscriptions in amqtt 0.12, which waits within loops over them.

    A loop sees them as they were at its start: else a client that subscribes meanwhile ends another's connection.
    """

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(super().__iter__()))

    def items(self) -> Any:
        """Return the items at this time."""
        return dict(super().items()).items()


@asynccontextmanager
async def embedded_broker(port: int) -> AsyncGenerator[None]:
    """Run a broker at `port` of this machine. Raises `BrokerError`."""
    try:
        amqtt = import_module("amqtt.broker")  # only a hub without Mosquitto needs it
        refused = import_module("amqtt.errors").BrokerError
    except ImportError as error:
        hint = f"apt install mosquitto and 'moccasin-mat hub setup', or {install_command('hub')}"
        raise BrokerError("there is no broker", hint) from error
    for name in ("amqtt", "transitions"):
        logging.getLogger(name).setLevel(logging.ERROR)
    broker = amqtt.Broker(
        {
            "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
            "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        }
    )
    broker._subscriptions = _Subscriptions()  # noqa: SLF001 - it has no other way in
    try:
        await broker.start()
    except (refused, OSError) as error:
        raise BrokerError(
            f"the broker cannot listen at port {port}: {describe_error(error)}",
            "stop the program there, or set [broker] port in hub.toml",
        ) from error
    try:
        yield
    finally:
        await broker.shutdown()


def run_hub(folder: Path) -> None:
    """Run the hub in `folder` until SIGINT or SIGTERM. Raises `MatError`."""
    run_async(_run(folder))


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
        self.pages: HubPages
        self._folder = folder
        self._said = said
        self._shows = sys.stdout.isatty() if shows is None else shows
        self._listening: asyncio.Future[None] | None = None

    async def run(self, closing: asyncio.Event) -> None:
        """Run until `closing` is set."""
        if self._listening is None:
            self._listening = asyncio.get_running_loop().create_future()
        try:
            await self._run(closing)
        except BaseException as error:
            if not self._listening.done():
                self._listening.set_exception(error)
                self._listening.exception()  # marks it as retrieved: the error is raised here anyway
            raise
        self._listening.cancel()

    async def wait_until_listening(self) -> None:
        """Wait until the pages are served and tables can connect; raises the error that prevents it."""
        while self._listening is None:
            await asyncio.sleep(0)
        await asyncio.shield(self._listening)

    async def _run(self, closing: asyncio.Event) -> None:
        folder = self._folder
        settings = load_hub(folder)
        broker, venue = broker_from_settings(settings), settings.venue.name
        async with AsyncExitStack() as stack:
            where = store_from_settings(settings, folder)
            opened = await _open_store(where, closing, stack)
            if opened is None:
                return
            inbox, self.director, known = opened
            tls = load_server_tls(folder)
            certificate = read_certificate(folder)  # a later `hub setup` writes another one, which is not in use yet
            self.pages = pages = HubPages(settings, folder, self.director, tls=tls)
            stack.callback(pages.close)
            pages.start()
            if settings.embedded:
                await stack.enter_async_context(embedded_broker(broker.port))
                self._said(f"a broker of its own, for tables on this machine: 127.0.0.1 port {broker.port}")
            self._said(f"all tables: {pages.url}")
            if pages.secure_url:
                self._said(f"encrypted, for signing in: {pages.secure_url}director")
                self._said(f"SHA-256 of its certificate: {format_fingerprint(certificate)}")
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
                known=known,
            )
            pages.hub = hub
            if not settings.embedded:
                pages.join_server = JoinServer(
                    folder, settings, broker, hub.known_tables, hub.compare_version, pages.secure_port, certificate
                )
                stack.callback(pages.join_server.close)
            assert self._listening is not None
            self._listening.set_result(None)
            await hub.run(closing)


async def _open_store(
    where: Path | Database, closing: asyncio.Event, stack: AsyncExitStack
) -> tuple[Inbox, Director, list[str]] | None:
    """Open the store at `where` for the lifetime of `stack`; return inbox, director and known tables.

    Waits for a database that is unavailable. Returns None if `closing` is set first. Raises `StoreError`.
    """
    retry = Retry("the database", closing)
    while not closing.is_set():
        with ExitStack() as tried:
            try:
                inbox = tried.enter_context(await asyncio.to_thread(Inbox, where))
                log = tried.enter_context(await asyncio.to_thread(TournamentLog, where))
                director = await asyncio.to_thread(Director, log, inbox)
                known = list(await asyncio.to_thread(inbox.record_counts))
            except DatabaseUnavailableError as error:
                await retry.wait_after_failure(error.message)
            else:
                retry.reset()
                stack.push(tried.pop_all())
                return inbox, director, known
    return None

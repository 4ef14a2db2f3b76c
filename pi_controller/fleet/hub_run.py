"""Runs a hub until it is stopped: broker where it brings one, inbox, page."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pi_controller.fleet.embedded import embedded_broker
from pi_controller.fleet.hub import Hub
from pi_controller.fleet.hub_settings import broker_of, load_hub
from pi_controller.fleet.inbox import Inbox
from pi_controller.fleet.tables_page import TablesPage

if TYPE_CHECKING:
    from pathlib import Path

INBOX = "hub.sqlite"


def run_hub(folder: Path) -> None:
    """Run the hub in `folder` until SIGINT or SIGTERM. Raises `MatError`."""
    asyncio.run(_run(folder))


async def _run(folder: Path) -> None:
    settings = load_hub(folder)
    broker, venue = broker_of(settings, folder), settings.venue.name
    closing = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, closing.set)
    async with AsyncExitStack() as stack:
        inbox = stack.enter_context(Inbox(folder / INBOX))
        page = TablesPage(settings.page.host, settings.page.port)
        page.start()
        stack.callback(page.stop)
        if settings.embedded:
            await stack.enter_async_context(embedded_broker(broker.port))
            print(f"a broker of its own, for tables on this machine: 127.0.0.1 port {broker.port}", flush=True)
        print(f"all tables: {page.url}", flush=True)
        await Hub(inbox, broker, venue, page.publish).run(closing)

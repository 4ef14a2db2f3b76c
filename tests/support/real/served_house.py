"""A table with its console, real but for the people: journal on disk, loop in its thread, uvicorn on loopback."""

from __future__ import annotations

import gc
import threading
import time
from typing import TYPE_CHECKING

import httpx
from judge_house import add_everybody, cheap, house_settings

from pi_controller.board.message_source import NoSource
from pi_controller.host.notify import Notifier
from pi_controller.runtime.assembly import mat_sensors, open_table
from pi_controller.runtime.daemon import Daemon
from pi_controller.runtime.run import Stop, TableDesk, run_loop
from pi_controller.table.mats import Mat
from pi_controller.web.feed import Feed
from pi_controller.web.judge_setup import make_judge_console
from pi_controller.web.server import WebServer

if TYPE_CHECKING:
    from pathlib import Path


class ServedHouse:
    """One table, played in its own thread from the start. Everybody in `ROLES` has the same PIN."""

    def __init__(self, folder: Path, stop: Stop | None = None) -> None:
        self.settings = house_settings(folder)
        self.pins = cheap()
        self._stop = stop or Stop()
        opened = threading.Event()
        self._loop = threading.Thread(target=self._play, args=(opened,), daemon=True)
        self._loop.start()
        assert opened.wait(60)
        self.add_pages()
        self.server = WebServer(self.feed, port=0, hosts=["mat.example"], more=self.judges.routes)
        self.server.start()

    def add_pages(self) -> None:
        """Add pages of a subclass to `judges.routes`."""

    def _play(self, opened: threading.Event) -> None:
        table = open_table(self.settings, time.time())
        self.feed = Feed()
        self.feed.publish(table.view)
        self.judges = make_judge_console(self.settings, table, self.feed, time.time, self.pins)
        add_everybody(self.judges.users, self.pins)
        daemon = Daemon(table, [Mat(NoSource(), mat_sensors(self.settings))], publish=self.feed.publish)
        opened.set()
        notifier = Notifier()
        desk = TableDesk(daemon, time.time, notifier, self.judges.command_queue)
        run_loop(daemon, time.time, self._stop, notifier, desk.serve)
        table.journal.close()

    def close(self) -> None:
        """Stop everything."""
        self.server.stop()
        self._stop.set()
        self._loop.join(60)
        self.judges.users.close()
        gc.collect()  # a socket left open is to fail the test that left it

    @property
    def origin(self) -> str:
        """Where the pages are, as a browser names it."""
        return self.server.url.rstrip("/")

    def browser(self) -> httpx.Client:
        """Return a browser that says where it comes from, as they do."""
        headers = {"origin": self.origin, "sec-fetch-site": "same-origin"}
        return httpx.Client(base_url=self.origin, headers=headers, timeout=60, trust_env=False)

"""A table with its console, real but for the people: journal on disk, loop in its thread, uvicorn on loopback."""

from __future__ import annotations

import gc
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
from judge_house import PIN, ROLES, cheap, sign_in

from pi_controller.board.connection import NoSource
from pi_controller.config import Settings
from pi_controller.journal.journal import Journal
from pi_controller.runtime.assembly import mat_sensors, open_table
from pi_controller.runtime.daemon import Daemon, Mat
from pi_controller.runtime.run import Stop, TableDesk, run_loop
from pi_controller.system.status import Notifier
from pi_controller.web.feed import Feed
from pi_controller.web.judge_api import make_judge_console
from pi_controller.web.server import WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_controller.table.table import Table
    from pi_controller.web.accounts import PinHasher


class Clock:
    """The wall's clock, and as far ahead as a test wants it; `stop` has it stand."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self._stopped: float | None = None

    def stop(self) -> None:
        """Stand still from now on, but for `ahead`."""
        self._stopped = time.time()

    def __call__(self) -> float:
        return (time.time() if self._stopped is None else self._stopped) + self.ahead


class Hangs(Notifier):
    """The service's watchdog, by which a test can make the table's loop hang."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = threading.Event()
        self.goes_on.set()

    def feed(self, t: float) -> None:
        """Wait while the loop is to hang."""
        self.goes_on.wait(60)


class ServedHouse:
    """One table, played in its own thread from the start. Everybody in `ROLES` has the same PIN."""

    def __init__(
        self, folder: Path, pins: PinHasher | None = None, preset: str = "home", stop: Stop | None = None, **web: Any
    ) -> None:
        self.clock = Clock()
        wanted = {
            "table": {"journal": folder / "table.sqlite"},
            "teams": {"a": "Big Coulee", "b": "Long Hollow"},
            "board": {"port": "none"},
            "referee": {"preset": preset},
            "web": {"judges": True, "port": 0, **web},
        }
        self.settings = Settings.model_validate(wanted)
        self.pins = pins or cheap()
        self.table: Table
        self._hangs = Hangs()
        self._stop = stop or Stop()
        opened = threading.Event()
        self._loop = threading.Thread(target=self._play, args=(opened,), daemon=True)
        self._loop.start()
        assert opened.wait(20)
        self.add_pages()
        proxy = self.settings.web.proxy
        self.server = WebServer(self.feed, port=0, hosts=["mat.example"], proxy=proxy, more=self.judges.routes)
        self.server.start()

    def add_pages(self) -> None:
        """Add pages of a subclass to `judges.routes`."""

    def _play(self, opened: threading.Event) -> None:
        self.table = open_table(self.settings, self.clock())
        self.feed = Feed(clock=self.clock)
        self.feed.publish(self.table.view)
        self.judges = make_judge_console(self.settings, self.table, self.feed, self.clock, self.pins)
        if not self.judges.users.list_users():
            kept = self.pins.hash(PIN)
            for name, role in ROLES.items():
                self.judges.users.add(name, role, kept)
        daemon = Daemon(self.table, [Mat(NoSource(), mat_sensors(self.settings))], publish=self.feed.publish)
        opened.set()
        desk = TableDesk(daemon, self.clock, self._hangs, self.judges.command_queue)
        run_loop(daemon, self.clock, self._stop, self._hangs, desk.serve)
        self.table.journal.close()

    def hang(self) -> None:
        """Have the table's loop hang."""
        self._hangs.goes_on.clear()

    def play(self) -> None:
        """Let it go on."""
        self._hangs.goes_on.set()

    def facts(self, kind: type[Any]) -> list[Any]:
        """Return what stands in the journal."""
        with Journal(self.settings.table.journal, read_only=True) as journal:
            return [fact for _, fact in journal.read() if isinstance(fact, kind)]

    def close(self) -> None:
        """Stop everything."""
        self.server.stop()
        self.play()
        self._stop.set()
        self._loop.join(20)
        self.judges.users.close()
        gc.collect()  # a socket left open is to fail the test that left it

    @property
    def origin(self) -> str:
        """Where the pages are, as a browser names it."""
        return self.server.url.rstrip("/")

    def browser(self, address: str | None = None) -> httpx.Client:
        """Return a browser that says where it comes from, as they do; with `address` it calls from there."""
        return httpx.Client(
            base_url=self.origin,
            headers={"origin": self.origin, "sec-fetch-site": "same-origin"},
            timeout=20,
            trust_env=False,
            transport=httpx.HTTPTransport(local_address=address, verify=False) if address else None,
            verify=False,  # plain HTTP: reading the authorities' certificates takes 30 ms a client
        )

    @contextmanager
    def signed_in(self, name: str = "Ann") -> Iterator[httpx.Client]:
        """Give a browser in which `name` has signed in."""
        with self.browser() as web:
            assert sign_in(web, name).status_code == 200
            yield web

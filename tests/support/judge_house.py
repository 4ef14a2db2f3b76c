"""A table with its console, real but for the people, the sockets and the time: journal on disk, loop and pages here."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from memory_lines import MemoryServer
from travel import START_S, travelling
from visit import visitor

from pi_controller.board.message_source import NoSource
from pi_controller.config import Settings
from pi_controller.display.i18n import translator
from pi_controller.host.notify import Notifier
from pi_controller.journal.journal import Journal
from pi_controller.runtime.assembly import mat_sensors, open_table
from pi_controller.runtime.daemon import Daemon
from pi_controller.runtime.run import TableDesk
from pi_controller.table.mats import Mat
from pi_controller.web.feed import Feed
from pi_controller.web.judge_setup import make_judge_console
from pi_controller.web.pin_hash import PinHasher
from pi_controller.web.server import WebServer
from pi_controller.web.users import Users

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from travel import TravelLoop

PIN = "135790"
ROLES = {"Sam": "scorekeeper", "Jo": "judge", "Com": "committee", "Ann": "head"}
BEGAN = 1_800_000_000.0 - START_S
ORIGIN = "http://mat.example"


def cheap() -> PinHasher:
    """Return PINs whose hashes cost next to nothing."""
    return PinHasher(passes=1, kib=8)


def house_settings(folder: Path, preset: str = "home", **web: Any) -> Settings:
    """Return the settings of a table with a console, with its journal in `folder`."""
    wanted = {
        "table": {"journal": folder / "table.sqlite"},
        "teams": {"a": "Big Coulee", "b": "Long Hollow"},
        "board": {"port": "none"},
        "referee": {"preset": preset},
        "web": {"judges": True, "port": 0, **web},
    }
    return Settings.model_validate(wanted)


def add_everybody(users: Users, pins: PinHasher) -> None:
    """Add the people of `ROLES`, unless there are some."""
    if not users.list_users():
        kept = pins.hash(PIN)
        for name, role in ROLES.items():
            users.add(name, role, kept)


class House:
    """One table. Everybody in `ROLES` has the same PIN. It steps while somebody waits for an answer, unless it hangs.

    Its clock goes with the `loop`; `ahead` sets it forward for the table and the sessions alone.
    """

    def __init__(
        self,
        folder: Path,
        pins: PinHasher | None = None,
        preset: str = "home",
        loop: TravelLoop | None = None,
        **web: Any,
    ) -> None:
        self.settings = house_settings(folder, preset, **web)
        self.pins = pins or cheap()
        self.ahead, self.hangs = 0.0, False
        self._stack = ExitStack()
        self.loop = loop or self._stack.enter_context(travelling())
        self.table = open_table(self.settings, self.clock())
        self._stack.callback(self.table.journal.close)
        self.feed = Feed(clock=self.clock)
        self.feed.publish(self.table.view)
        self.judges = make_judge_console(self.settings, self.table, self.feed, self.clock, self.pins)
        self._stack.callback(self.judges.users.close)
        add_everybody(self.judges.users, self.pins)
        self.daemon = Daemon(self.table, [Mat(NoSource(), mat_sensors(self.settings))], publish=self.feed.publish)
        self.desk = TableDesk(self.daemon, self.clock, Notifier(), self.judges.command_queue)
        proxy = self.settings.web.proxy
        self.add_pages()
        tr = translator(self.settings.web.language)
        server = WebServer(self.feed, hosts=["mat.example"], proxy=proxy, tr=tr, more=self.judges.routes)
        self.app, self.server = server.app, MemoryServer(server, self.loop, self.step)
        self.step()

    def add_pages(self) -> None:
        """Add pages of a subclass to `judges.routes`."""

    def clock(self) -> float:
        """Return the table's time, s since 1970."""
        return BEGAN + self.loop.time() + self.ahead

    def step(self) -> None:
        """Do what the table's loop does in one turn."""
        if not self.hangs:
            self.daemon.step(self.clock())
            self.desk.serve()

    def facts(self, kind: type[Any]) -> list[Any]:
        """Return the facts of `kind` in the journal."""
        with Journal(self.settings.table.journal, read_only=True) as journal:
            return [fact for _, fact in journal.read() if isinstance(fact, kind)]

    def close(self) -> None:
        """Close the pages and the journal."""
        self._stack.close()

    def browser(self, peer: str = "127.0.0.1") -> httpx.Client:
        """Return a browser at the address `peer` that says where it comes from, as they do."""
        headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
        return visitor(self.server.app, self.loop, self.step, url=ORIGIN, peer=peer, headers=headers)

    @contextmanager
    def signed_in(self, name: str = "Ann") -> Iterator[httpx.Client]:
        """Give a browser in which `name` has signed in."""
        with self.browser() as web:
            assert sign_in(web, name).status_code == 200
            yield web


def sign_in(web: httpx.Client, name: str = "Ann", pin: str = PIN) -> httpx.Response:
    """Sign in."""
    return web.post("/judge/sign-in", json={"name": name, "pin": pin})


def say(web: httpx.Client, key: str, call: str, expect: int | None = None, **more: Any) -> httpx.Response:
    """Say something to the table."""
    body = {"key": key, "expect": expect, "call": {"judge": call, **more}}
    return web.post("/judge/command", json=body)

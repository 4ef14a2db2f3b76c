"""A table that plays in a thread of its own, with its console served: for tests and pictures of it in a browser."""

import gc
import queue
import threading
import time
from concurrent.futures import Future

from headless import await_drawn

from pi_controller.display.i18n import ENGLISH
from pi_controller.journal.journal import Journal
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.referee.story import Protest
from pi_controller.rules import registry
from pi_controller.table.table import Table
from pi_controller.table.table_queue import Picture, TableQueue
from pi_controller.web.accounts import Authenticator
from pi_controller.web.app import create_app
from pi_controller.web.feed import Feed
from pi_controller.web.judge_api import JudgeApi, judge_routes
from pi_controller.web.pin_hash import PinHasher
from pi_controller.web.server import WebServer
from pi_controller.web.sessions import Sessions
from pi_controller.web.users import Users

PIN = "271828"
STEP_S = 0.005
TEAMS = {"A": "Big Coulee", "B": "Long Hollow"}
PEOPLE = {"Ann": "head", "Bo": "judge", "Cy": "scorekeeper"}

OTHERS = {
    "ojibwe": (
        ["[data-id=toss-A]", "[data-id=hidden]", "[data-row=opened] [data-value='0']",
         "[data-row=hit] [data-value='1']", "[data-row=ball] [data-value='1']", "[data-id=shoot]"],
        [{"do": "toss", "winner": "A"}, {"do": "shoot", "opened": [1], "hit": 2, "ball": 2}],
    ),
    "slahal": (
        ["[data-id=duo-1]", "[data-row=signal] [data-value='2']", "[data-row=actual] [data-value='0']"],
        [{"do": "duo", "A": True, "B": False}, {"do": "guess", "signal": "inside", "actual": "left"}],
    ),
    "bageswin": (
        ["[data-row=woman] [data-value='0']", "[data-id=throw]", "[data-id=double_tap]"],
        [{"do": "throw", "red": {"woman": 1, "fish": 0, "knives": 0, "buttons": 0}}, {"do": "double_tap"}],
    ),
    "plum_stone": (
        ["[data-id=lot-B]", "[data-row=whites] [data-value='0']", "[data-id=throw]", "[data-id=no_throw]"],
        [{"do": "lot", "first": "B"}, {"do": "throw", "moons": 0, "whites": 1}, {"do": "no_throw"}],
    ),
    "patol": (
        ["[data-id=start-north-clockwise]", "[data-id=marked-1]", "[data-id=start-south-counterclockwise]",
         "[data-id=marked-3]"],
        [{"do": "start", "player": "Ann", "river": "north", "direction": "clockwise"}, {"do": "throw", "marked": 1},
         {"do": "start", "player": "Bo", "river": "south", "direction": "counterclockwise"},
         {"do": "throw", "marked": 3}],
    ),
}  # fmt: skip
"""What is touched in the other games, and the actions that it is."""


class Rig:
    """`game` at a table with the console at `url`. The table's clock is the wall clock and what `later` adds to it."""

    def __init__(
        self, folder, game="dakota", options=None, *, teams=None, heartbeat_s=5.0, hit_seconds=None, settle_s=0.3
    ):
        self.later = 0.0
        self.feed, self.command_queue = Feed(), TableQueue()
        self._rules, self._teams, self._hit_seconds = registry.game(game, options or {}), teams or TEAMS, hit_seconds
        journal = folder / "game.sqlite"
        self.users = everybody(folder)
        self._journal, self._heartbeat_s, self._settle_s = journal, heartbeat_s, settle_s
        self._port = 0
        self._asked = queue.Queue()
        self._ended = threading.Event()
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(journal,), daemon=True)
        self._thread.start()
        assert self._begun.wait(10)
        self.serve()

    def clock(self):
        return time.time() + self.later

    @property
    def url(self):
        return f"{self.server.url}judge"

    @property
    def view(self):
        return self.command_queue.picture.view

    def serve(self):
        """Serve the pages; again at the same port after `server.stop()`, as a table that was started again does."""
        authenticator = door_of(self.users, self.clock)
        api = JudgeApi(
            self.command_queue,
            self.feed,
            authenticator,
            self._journal,
            ENGLISH,
            heartbeat_s=self._heartbeat_s,
            settle_s=self._settle_s,
        )
        self.server = WebServer(
            self.feed,
            port=self._port,
            app=lambda hosts: create_app(self.feed, hosts=hosts, more=judge_routes(api), tr=ENGLISH),
        )
        self.server.start()
        self._port = self.server.port

    def do(self, work):
        """Let the table's thread do `work(table, t)` and return what it returns."""
        done = Future()
        self._asked.put((work, done))
        return done.result(10)

    def feel(self, *events):
        """Let the mat feel `events`: kinds with what follows their time."""
        self.do(lambda table, t: [table.mat_event(kind(t, *rest)) for kind, *rest in events])

    def close(self):
        self.server.stop()
        self._ended.set()
        self._thread.join(5)
        self.users.close()
        gc.collect()  # a socket left open is to fail the test that left it

    def _run(self, path):
        """Live as the daemon does: the table and its journal belong to this thread."""
        journal = Journal(path)
        referee = referee_for(self._rules, RefereeSettings(hit_seconds=self._hit_seconds), bytes)
        table = Table(journal, self._rules, self._teams, referee, self.clock())
        while not self._ended.is_set():
            t = self.clock()
            table.tick(t)
            worked = []
            while not self._asked.empty():
                work, done = self._asked.get()
                worked.append((done, work(table, t)))
            self.command_queue.serve(table, t)
            self.feed.publish(table.view)
            for done, result in worked:  # the view that the test now sees has the work in it
                done.set_result(result)
            self._begun.set()
            self._ended.wait(STEP_S)
        journal.close()


class Shown:
    """A console at `url` that shows views made by hand, as of `now`; nobody plays."""

    def __init__(self, folder, now):
        self.feed, self.command_queue, self.users = Feed(clock=lambda: now), TableQueue(), everybody(folder)
        api = JudgeApi(
            self.command_queue,
            self.feed,
            door_of(self.users, lambda: now),
            folder / "no.sqlite",
            ENGLISH,
            heartbeat_s=60.0,
        )
        self.server = WebServer(
            self.feed, port=0, app=lambda hosts: create_app(self.feed, hosts=hosts, more=judge_routes(api), tr=ENGLISH)
        )
        self.server.start()
        self.url = f"{self.server.url}judge"

    def show(self, view, options=None):
        game = registry.game(view.game, options or {})
        protest = Protest(0, view.protest, "what was seen") if view.protest else None
        state = game.restore(view.sheet)
        self.command_queue.picture = Picture(view, game, state, protest, 0, "board 1.1, 4 pads")
        self.feed.publish(view)

    def close(self):
        self.server.stop()
        self.users.close()
        gc.collect()


def everybody(folder):
    """Return the people of `PEOPLE`, kept in `folder`."""
    users, pins = Users(folder / "judges.sqlite"), PinHasher(passes=1, kib=64)
    for name, role in PEOPLE.items():
        users.add(name, role, pins.hash(PIN))
    return users


def door_of(users, clock):
    return Authenticator(users, Sessions(users), PinHasher(passes=1, kib=64), clock)


def sign_in(page, url, name="Ann"):
    """Sign in as `name` and wait for the console."""
    page.goto(url)
    page.fill("#name", name)
    page.fill("#pin", PIN)
    page.press("#pin", "Enter")
    await_drawn(page)
    settled(page)


def settled(page):
    """Wait until touches count again after a change."""
    page.wait_for_function("() => !document.body.dataset.inert")


def follow(page, rig):
    """Wait until `page` shows what the table has done, and touches count again."""
    await_drawn(page, rig.view.seq)
    settled(page)


def touch(page, id_):
    """Touch a button of the play panel, and wait until the table has answered."""
    page.click(f'#play [data-id="{id_}"]')
    answered(page)


def answered(page):
    page.wait_for_function("() => !document.querySelector('[data-busy]')")
    settled(page)

"""A hub with a tournament and the tables that play it, over a real Mosquitto."""

import random
import time

from brokers import VENUE, RunningHub

from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.store import TournamentLog
from pi_controller.hub.table_link import TableLink
from pi_controller.journal.journal import Journal
from pi_controller.referee.base import referee_for
from pi_controller.referee.facts import MatchGiven
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table, journalled_game
from pi_controller.table.table_queue import TableQueue
from pi_controller.tournament import decisions as d

TEAMS = ("Big Coulee", "Long Hollow", "Buffalo Lake", "Enemy Swim")


def refereed(rules):
    return referee_for(rules, RefereeSettings(), random.Random(1).randbytes)


class Played:
    """A table without a mat; `do` is what is typed at it. Its clock is `slow` s behind the hub's."""

    def __init__(self, path, broker, kind="dakota", slow=0.0):
        self.path, self.broker, self.kind, self.slow = path, broker, kind, slow
        self.start()

    def clock(self):
        return time.time() - self.slow

    def start(self):
        self.journal = Journal(self.path, created=time.time())
        rules = journalled_game(self.journal, game(self.kind))
        teams = {"A": "A", "B": "B"}
        self.table = Table(self.journal, rules, teams, refereed(rules), self.clock(), "stay", refereed)
        self.queue = TableQueue()
        self.link = TableLink(self.broker, VENUE, self.broker.user, self.path, command_queue=self.queue)
        self.step()

    def step(self):
        self.table.tick(self.clock())
        self.queue.serve(self.table, self.clock())
        self.link.on_step(self.clock(), self.table, False)

    def do(self, *lines):
        for line in lines:
            execute_line(self.table, line, self.clock())
            self.step()

    def close(self):
        self.link.close()
        self.journal.close()

    @property
    def match(self):
        return next((fact.match for _, fact in self.journal.read() if isinstance(fact, MatchGiven)), None)


class HubHall:
    """A hub with its tournament, that can be killed and started again, and tables that step while one waits."""

    def __init__(self, folder, broker, where=None):
        self.folder, self.broker, self.tables, self.hub = folder, broker, {}, None
        self.where = where or folder / "hub.sqlite"
        self.start()

    def start(self):
        self.inbox = Inbox(self.where)
        self.log = TournamentLog(self.where)
        self.director = Director(self.log, self.inbox)
        self.hub = RunningHub(self.inbox, self.broker.account("hub"), self.director)

    def stop(self):
        if self.hub is not None:
            self.hub.close()
            self.log.close()
            self.inbox.close()
            self.hub = None

    def table(self, name, *how):
        self.tables[name] = Played(self.folder / f"{name}.sqlite", self.broker.account(name), *how)
        return self.tables[name]

    def do(self, *facts):
        for fact in facts:
            self.director.decide(time.time(), "Ann", fact)

    def plan(self, **plan):
        entered = d.Entered(tuple(d.Entry(team) for team in TEAMS))
        plan = {"options": {"points": 2}, "results": "at_once", "calling": "director", **plan}
        self.do(d.Planned("cup", **plan), entered, d.TeamsDrawn(order=TEAMS))

    def until(self, holds):
        def stepped(_):
            for table in self.tables.values():
                table.step()
            return holds()

        self.hub.quick = True
        return self.hub.until(stepped)

    @property
    def now(self):
        return self.director.now

    def close(self):
        for table in self.tables.values():
            table.close()
        self.stop()

"""A table without a mat that is linked to a hub."""

import random
import time

from pi_controller.hub.table_link import TableLink
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import MatchGiven
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table, journalled_game
from pi_controller.table.table_queue import TableQueue


def refereed(rules):
    return referee_for(rules, RefereeSettings(), random.Random(1).randbytes)


class LinkedTable:
    """A table without a mat; `do` is what is typed at it. Its clock is `slow` s behind `now`'s.

    It is `account` at the hub, which it asks through the client that `reach()` returns.

    Its link runs on `loop`, a `TravelLoop`; without one in a thread of its own.
    """

    def __init__(self, path, account, reach, kind="dakota", slow=0.0, *, name="", now=time.time, loop=None):
        self.path, self.account, self.reach, self.kind, self.slow = path, account, reach, kind, slow
        self.name, self.now, self.loop = name or account, now, loop
        self.start()

    def clock(self):
        return self.now() - self.slow

    def start(self):
        self.journal = Journal(self.path, created=self.clock())
        rules = journalled_game(self.journal, game(self.kind))
        teams = {"A": "A", "B": "B"}
        self.table = Table(self.journal, rules, teams, refereed(rules), self.clock(), "stay", refereed)
        self.queue = TableQueue()
        self.connect()

    def connect(self):
        """Begin the link to the hub."""
        steady = {} if self.loop is None else {"clock": self.loop.time}
        self.link = TableLink(
            self.reach(), self.account, self.name, self.path, command_queue=self.queue, wall=self.clock, **steady
        )
        if self.loop is None:
            self.link.start()
        else:
            self._run = self.loop.create_task(self.link.run())
        self.step()

    def disconnect(self):
        """End the link, which says goodbye."""
        self.link.close()
        if self.loop is not None:
            self.loop.run(self._run)

    def step(self):
        self.table.tick(self.clock())
        self.queue.serve(self.table, self.clock())
        self.link.on_step(self.clock(), self.table, False)

    def do(self, *lines):
        for line in lines:
            execute_line(self.table, line, self.clock())
            self.step()

    def feel(self, *events):
        for event in events:
            self.table.mat_event(event)
            self.step()

    def close(self):
        self.disconnect()
        self.journal.close()

    @property
    def match(self):
        return next((fact.match for _, fact in self.journal.read() if isinstance(fact, MatchGiven)), None)

    @property
    def epoch(self):
        return self.journal.meta.epoch

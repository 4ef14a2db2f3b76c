"""A table that is linked to a hub, and a plain client of the hub's broker."""

import random
from contextlib import closing

from brokers import VENUE

from pi_controller.hub.messages import State, topic
from pi_controller.hub.mqtt import Will, make_client
from pi_controller.hub.table_link import TableLink
from pi_controller.journal import file
from pi_controller.journal.journal import Journal
from pi_controller.referee.base import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table


class Played:
    """A game of Hampa Apena at a table with a journal, linked to the hub; `do` is what is typed at the terminal."""

    def __init__(self, path, broker, name="Table 1", **link):
        self.path, self.t = path, 1000.0
        self.journal = Journal(path, created=self.t)
        rules = game("dakota", {"points": 2})
        referee = referee_for(rules, RefereeSettings(), random.Random(1).randbytes)
        self.table = Table(self.journal, rules, {"A": "Big Coulee", "B": "Long Hollow"}, referee, self.t)
        self.link = TableLink(broker, VENUE, name, path, **link)
        self.step()

    def step(self):
        self.t += 1.0
        self.link.on_step(self.t, self.table, False)

    def do(self, *lines):
        for line in lines:
            execute_line(self.table, line, self.t)
            self.step()

    def feel(self, *events):
        for event in events:
            self.table.mat_event(event)
            self.step()

    def rows(self, path=None):
        with closing(file.open_read_only(path or self.path)) as db:
            return list(file.rows(db, file.SCHEMA_VERSION))

    @property
    def epoch(self):
        return self.journal.meta.epoch

    def close(self):
        self.link.close()
        self.journal.close()


def client(broker, name):
    account = broker.account(name)
    return make_client(account, Will(topic(VENUE, name, "state"), State("lost", "x")))

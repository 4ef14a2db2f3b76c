"""A hub with a tournament and the tables that play it, on a line in memory, in time that leaps."""

import asyncio
from contextlib import ExitStack

from hub_line import HubLine
from judge_house import BEGAN
from linked_table import LinkedTable
from travel import travelling

from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.hub import Hub
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.tokens import Tokens
from pi_controller.tournament import decisions as d

TEAMS = ("Big Coulee", "Long Hollow", "Buffalo Lake", "Enemy Swim")
TURN_S, LIMIT_S = 0.05, 600.0


class HubHall:
    """A hub with its tournament, that can be stopped and started again, and tables that step while one waits.

    The machine's clock is set `set_s` ahead of the steady one.
    """

    def __init__(self, folder, where=None, loop=None):
        self.folder, self.where = folder, where or folder / "hub.sqlite"
        self.tables, self.statuses, self.set_s = {}, (), 0.0
        self._stack = ExitStack()
        self.loop = loop or self._stack.enter_context(travelling())
        self.line, self._issued = HubLine(self.clock), {}
        self.hub = None
        self.start()

    def clock(self):
        """Return the hub's time, s since 1970."""
        return BEGAN + self.loop.time()

    def start(self):
        self.inbox = Inbox(self.where)
        self.log = TournamentLog(self.where)
        self.director = Director(self.log, self.inbox)
        self.tokens = self.line.tokens = Tokens(self.where)
        self.hub = self.line.hub = Hub(self.inbox, self._show, self.clock, self.director, lambda: self.set_s)
        self._closing = asyncio.Event()
        self._run = self.loop.create_task(self.hub.run(self._closing))

    def stop(self):
        if self.hub is not None:
            self._closing.set()
            self.line.hub = None
            self.loop.run(self._run)
            self.tokens.close()
            self.log.close()
            self.inbox.close()
            self.hub = None

    def kill(self):
        """End the hub at once, as a power cut does: its connections are gone."""
        self._run.cancel()
        self.loop.settle()
        for store in (self.tokens, self.log, self.inbox):
            store.close()
        self.hub = self.line.hub = None

    def standby(self):
        """Return another hub of the venue on the same database, with its director; `line.hub` chooses who answers."""
        inbox, log = Inbox(self.where), TournamentLog(self.where)
        hub = Hub(inbox, self._show, self.clock, director := Director(log, inbox))
        running = self.loop.create_task(hub.run(asyncio.Event()))
        for end in (inbox.close, log.close, self.loop.settle, running.cancel):  # the last one first
            self._stack.callback(end)
        return hub, director

    def table(self, account, *how, **more):
        path = self.folder / f"{account}.sqlite"
        self.tables[account] = self.linked(path, account, *how, **more)
        return self.tables[account]

    def at_match(self, match="W1-1", *how, **plan):
        """Return the table t01 once it has taken `match` of a tournament with this plan."""
        table = self.table("t01", *how)
        self.plan(**plan)
        self.do(d.Assigned(match, "t01", "a" * 16))
        self.until(lambda: table.match == match)
        return table

    def linked(self, path, account, *how, **more):
        """Return a table with its journal at `path`, which steps with the others only if it is in `tables`."""
        token = self._issued.get(account) or self.tokens.issue(account)
        self._issued[account] = token
        return LinkedTable(
            path, account, lambda: self.line.client(account, token), *how, now=self.clock, loop=self.loop, **more
        )

    def do(self, *facts):
        for fact in facts:
            self.director.decide(self.clock(), "Ann", fact)

    def plan(self, **plan):
        entered = d.Entered(tuple(d.Entry(team) for team in TEAMS))
        plan = {"options": {"points": 2}, "results": "at_once", "calling": "director", **plan}
        self.do(d.Planned("cup", **plan), entered, d.TeamsDrawn(order=TEAMS))

    def turn(self):
        """Let a moment pass, in which every table does a step."""
        for table in self.tables.values():
            table.step()
        self.loop.advance(TURN_S)

    def pass_time(self, seconds):
        """Let `seconds` pass."""
        end = self.loop.time() + seconds
        while self.loop.time() < end:
            self.turn()

    def until(self, holds):
        """Let time pass until `holds()`; return what it returned."""
        end = self.loop.time() + LIMIT_S
        while not (found := holds()):
            assert self.loop.time() < end, (self.statuses, self.director.notes)
            self.turn()
        return found

    def await_records(self, table):
        """Let time pass until the hub has all records of this table's journal."""
        self.until(lambda: self.count_records(table) == table.journal.seq)

    def count_records(self, table):
        return self.inbox.record_counts().get(table.account, {}).get(table.epoch)

    def shown(self, table):
        """Return what the hub shows of a table; None before it knows it."""
        return next((one for one in self.statuses if one.table == table), None)

    def post(self, name, body, token=None):
        """Post `body` as the table `name`; return the answer."""

        async def post():
            async with self.line.client(name, token) as client:
                return await client.post(f"/api/tables/{name}/records", content=body)

        return self.loop.run(post())

    @property
    def now(self):
        return self.director.now

    def close(self):
        for table in self.tables.values():
            table.close()
        self.stop()
        self._stack.close()

    def _show(self, statuses):
        self.statuses = statuses

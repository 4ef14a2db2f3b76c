"""A hub's inbox and director, and whole journals that come from tables: no network, and no time passes."""

import random
from contextlib import closing
from itertools import count

import msgspec
from inbox_messages import take

from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import MAX_RECORDS, Events, Hello, SentGame, SentRecord
from pi_controller.journal.chain import JournalRow, chain_rows, genesis
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import GameOpened, MatchGiven
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table
from pi_controller.tournament import decisions as d

TEAMS = ("Big Coulee", "Long Hollow", "Buffalo Lake", "Enemy Swim")
EPOCHS = (f"{n:032x}" for n in count(1))


class Venue:
    """An inbox and a director with a plan of four teams; what tables send goes straight into the inbox."""

    def __init__(self, where, **plan):
        self.where, self.inbox, self.log = where, Inbox(where), TournamentLog(where)
        self.director = Director(self.log, self.inbox)
        planned = d.Planned("cup", options={"points": 2}, results="at_once", calling="director", **plan)
        entered = d.Entered(tuple(d.Entry(team) for team in TEAMS))
        for fact in (planned, entered, d.TeamsDrawn(order=TEAMS)):
            self.director.decide(1.0, "Ann", fact)

    def call(self, match, table, order):
        self.director.decide(2.0, "Ann", d.Assigned(match, table, order))

    def send(self, table, rows):
        """Take these records of a new journal at `table` into the inbox; return its epoch."""
        epoch = next(EPOCHS)
        records = [SentRecord(*row) for row in chain_rows(genesis(epoch), rows)]
        assert take(self.inbox, Hello((SentGame(epoch, len(records)),)), table).refused == ""
        for n in range(0, len(records), MAX_RECORDS):
            some = records[n : n + MAX_RECORDS]
            assert take(self.inbox, Events(epoch, tuple(some)), table).seq == some[-1].seq
        return epoch

    def play_match(self, folder, match="W1-1"):
        """Have `match` played at t01; its first team wins."""
        order, lines = "a" * 16, ("toss A", "found", "missed", "missed", "close B forfeit gone")
        self.call(match, "t01", order)
        self.send("t01", numbered(played(folder, match, order, self.director.now.pairing(match).teams, lines)))
        self.director.catch_up(5.0)

    def restart(self):
        """Return a director as the next start of the program has it."""
        self.log.close()
        self.log = TournamentLog(self.where)
        self.director = Director(self.log, self.inbox)
        self.director.catch_up(9.0)
        return self.director

    def close(self):
        self.log.close()
        self.inbox.close()


def rows_of(facts, batch=1):
    return [(batch, fact.__struct_config__.tag, msgspec.json.encode(fact).decode()) for fact in facts]


def numbered(parts):
    return [JournalRow(n, batch, 0.0, kind, body) for n, (batch, kind, body) in enumerate(parts, 1)]


def opening(match, order, teams, options=None):
    rules = game("dakota", {"points": 2})
    opened = GameOpened(
        0.0, "dakota", rules.version, rules.source, options or dict(rules.settings), dict(zip("AB", teams, strict=True))
    )
    return [opened, MatchGiven(0.0, "cup", match, f"{order}-1")]


def played(folder, match, order, teams, lines=("toss A", "close B forfeit gone")):
    """Return the records of a game of this match in which these lines are typed."""
    rules = game("dakota", {"points": 2})
    referee = referee_for(rules, RefereeSettings(), random.Random(1).randbytes)
    with closing(Journal(folder / f"{match}.sqlite", created=0.0)) as journal:
        journal.append(opening(match, order, teams))
        table = Table(journal, rules, {}, referee, 0.0)
        for line in lines:
            execute_line(table, line, 1.0)
        return [(row.batch, row.kind, row.body) for row in journal.rows()]

"""Many venues of 64 tables on the hub's own inbox, store and tournament, in virtual time, with no network.

    .venv/bin/python tests/tools/hub_federation.py
    .venv/bin/python tests/tools/hub_federation.py --store postgresql

Each table sends the records of a game of Hampa Apena as it would to a hub, in messages that all tables of a venue send
at once. Some venues (`--directed`) also run the first round of a tournament of twice as many teams as tables: matches
are called, begun, reported out of the journals and counted, all of it kept. Each venue has an SQLite file of its own,
or a schema in one PostgreSQL. Prints a JSON line: records a second, the processor's time of a venue (ms, of this
program alone: a database works in programs of its own), memory of an open venue (MB), and what a venue takes on the
disk (kB). The status is 1 unless each venue holds all records and each directed one counts all its matches.

What it does not show: venues that write at once, for these come one after the other; connections, of which each hub
holds three; reports over HTTPS; a slower disk than this machine's.
"""

import argparse
import json
import random
import secrets
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / place) for place in ("support", "support/real", "tools"))

import msgspec
from hub_chaos import memory_mb
from hub_load import processor_s
from postgres import server_of

from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import MAX_RECORDS, Events, Hello, SentGame, SentRecord
from pi_controller.hub.store import Database, open_store
from pi_controller.journal.chain import JournalRow, chain_rows, genesis
from pi_controller.journal.journal import Journal
from pi_controller.referee.facts import GameOpened, MatchGiven
from pi_controller.referee.selection import referee_for
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table, journalled_game
from pi_controller.tournament import decisions as d

KEPT_OPEN = 5
"""Venues that are open at the same time for the figure of memory."""
OPTIONS = {"points": 2}


def played_game(folder):
    """Play a game to its end; return its (batch, fact)."""
    with closing(Journal(folder / "game.sqlite", created=1.0)) as journal:
        rules = journalled_game(journal, game("dakota", OPTIONS))
        referee = referee_for(rules, RefereeSettings(), random.Random(1).randbytes)
        table, dice = Table(journal, rules, {"A": "A", "B": "B"}, referee, 0.0), random.Random(3)
        while table.view.winner is None:
            line = "toss A" if table.view.phase == "toss" else dice.choice(["found", "missed"])
            execute_line(table, line, float(journal.seq))
        return list(journal.read())


def rows_of(facts, common, epoch, order):
    """Return the records of this game in a journal of its own; with an `order` of the hub it is that match's.

    `common` are its records without an order.
    """
    if order is not None:
        (batch, opened), *rest = facts
        assert isinstance(opened, GameOpened)
        given = MatchGiven(opened.t, order.tournament, order.match, order.order)
        facts = [(batch, msgspec.structs.replace(opened, teams=dict(order.teams))), (batch, given), *rest]
        return list(chain_rows(genesis(epoch), encoded(facts)))
    return list(chain_rows(genesis(epoch), common))


def encoded(facts):
    """Return these facts as the records of a journal, not yet chained."""
    return [
        JournalRow(seq, batch, fact.t, fact.__struct_config__.tag, msgspec.json.encode(fact).decode())
        for seq, (batch, fact) in enumerate(facts, 1)
    ]


class Venue:
    """One venue's hub without its network; `used_s` is the processor's time that it took."""

    def __init__(self, where, names, facts, *, directed):
        self.used_s, self.t = 0.0, 0.0
        self.inbox = self.timed(Inbox, where)
        self.log = self.timed(TournamentLog, where)
        self.director = self.timed(Director, self.log, self.inbox)
        orders = self.draw(names) if directed else {}
        journals, common = {}, encoded(facts)
        for name in names:
            epoch = secrets.token_hex(16)
            journals[name] = epoch, rows_of(facts, common, epoch, orders.get(name))
        self.records = sum(len(rows) for _, rows in journals.values())
        hellos = [(name, Hello((SentGame(epoch, len(rows)),))) for name, (epoch, rows) in journals.items()]
        self.timed(self.inbox.store_messages, self.t, hellos)
        for first in range(0, max(len(rows) for _, rows in journals.values()), MAX_RECORDS // 4):
            self.t += 60.0
            sent = [
                (name, Events(epoch, tuple(SentRecord(*row) for row in part)))
                for name, (epoch, rows) in journals.items()
                if (part := rows[first : first + MAX_RECORDS // 4])
            ]
            for table, ack in self.timed(self.inbox.store_messages, self.t, sent):
                if directed:
                    self.timed(self.director.process_records, self.t, table, ack.epoch)

    def draw(self, names):
        """Plan a tournament and draw it; return what each table is to play."""
        teams = tuple(d.Entry(f"Team {n}") for n in range(2 * len(names)))
        plan = d.Planned("cup", options=OPTIONS, results="at_once")
        for fact in (plan, d.Entered(teams), d.TeamsDrawn(order=tuple(team.name for team in teams))):
            self.timed(self.director.decide, self.t, "Ann", fact)
        self.timed(self.director.call_due, self.t, names)
        return self.timed(self.director.orders, names)

    def timed(self, do, *args):
        before = time.process_time()
        found = do(*args)
        self.used_s += time.process_time() - before
        return found

    def whole(self, names):
        """Return whether it holds all records, and counts all matches that it has given."""
        held = sum(seq for games in self.inbox.record_counts().values() for seq in games.values())
        counted = sum(len(games) for games in self.director.now.state.games.values()) if self.director.now.plan else 0
        return held == self.records and counted in (0, len(names)) and bool(counted) == bool(self.director.now.plan)

    def close(self):
        self.log.close()
        self.inbox.close()


def disk_bytes(folder, server):
    if server is None:
        return sum(path.stat().st_size for path in folder.glob("v*.sqlite*"))
    with open_store(Database(server.url, "size")) as store:
        return store.execute("SELECT pg_database_size(current_database())")[0][0]


def federation(folder, venues, tables, directed, server=None):
    """Return the figures."""
    facts, names = played_game(folder), [f"t{n:02d}" for n in range(1, tables + 1)]
    before_bytes, own = disk_bytes(folder, server), processor_s("self")
    begun, wrong, records, used = time.monotonic(), 0, 0, {True: 0.0, False: 0.0}
    for n in range(venues):
        where = Database(server.url, f"v{n}") if server else folder / f"v{n}.sqlite"
        with closing(Venue(where, names, facts, directed=n < directed)) as venue:
            used[n < directed] += venue.used_s
            records += venue.records
            wrong += not venue.whole(names)
    took, on_disk = time.monotonic() - begun, disk_bytes(folder, server) - before_bytes
    before_mb = memory_mb("self")
    with ExitStack() as stack:
        for n in range(KEPT_OPEN):
            where = Database(server.url, f"open{n}") if server else folder / f"open{n}.sqlite"
            stack.enter_context(closing(Venue(where, names, facts, directed=True)))
        memory = (memory_mb("self") - before_mb) / KEPT_OPEN
    return {
        "venues": venues,
        "tables": tables,
        "directed": directed,
        "store": "postgresql" if server else "sqlite",
        "records": records,
        "wrong_venues": wrong,
        "seconds": round(took, 1),
        "processor_s": round(processor_s("self") - own, 1),
        "records_a_second": round(records / took),
        "venue_ms": round(1000 * used[False] / max(1, venues - directed), 1),
        "directed_venue_ms": round(1000 * used[True] / max(1, directed), 1),
        "memory_mb": round(memory, 2),
        "disk_kb": round(on_disk / 1000 / venues),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venues", type=int, default=1000)
    parser.add_argument("--tables", type=int, default=64)
    parser.add_argument("--directed", type=int, default=20, help="so many of the venues run a tournament")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server_of(args.store) as server:
        figures = federation(Path(folder), args.venues, args.tables, args.directed, server)
    print(json.dumps(figures))
    return 1 if figures["wrong_venues"] else 0


if __name__ == "__main__":
    sys.exit(main())

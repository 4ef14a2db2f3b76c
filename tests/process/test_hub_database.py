"""A hub that keeps what comes in PostgreSQL: the same as in a file, and a database that goes away is found again."""

from __future__ import annotations

import asyncio
from itertools import count

import psycopg
import pytest
from hub_hall import HubHall
from inbox_messages import A, events, records, take
from load_file import load_file
from needed import need
from postgres import BIN, Postgres

from pi_controller.hub.director import NotDirectingError
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import LOST_S, Ack, Events, Hello, SentGame, SentRecord
from pi_controller.hub.run import HubRun
from pi_controller.hub.store import Database, StoreError
from pi_controller.hub.tokens import Tokens
from pi_controller.journal.chain import JournalRow, chain_rows, genesis
from pi_controller.tournament import decisions as d

VENUES = count(1)
SAME = {
    "inbox": "test_",
    "two_hubs": "test_",
    "store": "test_unstorable",
    "matches": "test_retry_after",
    "backup": "test_exported",
}
"""The tests of a file as the store that a database passes, too: of each file of tests those whose names begin so."""


@pytest.fixture(scope="module")
def postgres():
    """Return a PostgreSQL that runs."""
    need(BIN, "PostgreSQL is not installed: apt install postgresql")
    server = Postgres()
    server.start()
    yield server
    server.close()


@pytest.fixture
def where(postgres):
    """Return an empty venue of a database."""
    return Database(postgres.url, f"v{next(VENUES)}")


for name, begin in SAME.items():
    for key, one in vars(load_file(f"tests/hub/test_{name}.py")).items():
        if key.startswith((begin, "inbox", "filled", "hubs")):
            globals()[key] = pytest.mark.slow(one) if key.startswith("test_") else one


def test_venues_in_one_database_are_separate(postgres):
    with Inbox(Database(postgres.url, "north")) as north, Inbox(Database(postgres.url, "south")) as south:
        take(north, Hello((SentGame(A, 9),)))
        take(north, events(A, 1, 9))
        assert south.record_counts() == {}
        assert take(south, Hello((SentGame(A, 5),))) == Ack(A, 0)


@pytest.mark.slow
def test_acknowledged_records_survive_database_kill_and_reconnect(postgres):
    venue = Database(postgres.url, "kills")
    with Inbox(venue) as inbox:
        take(inbox, Hello((SentGame(A, 400),)))
        for round_ in range(1, 6):
            acknowledged = take(inbox, events(A, 1, 20 * round_)).seq
            postgres.kill()
            with pytest.raises(StoreError, match="the database cannot be"):
                take(inbox, events(A, 1, 20 * round_ + 10))
            postgres.start()
            assert inbox.record_counts() == {"t01": {A: acknowledged}}
            assert take(inbox, events(A, 1, 20 * round_ + 10)) == Ack(A, 20 * round_ + 10)
        assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 110)]


@pytest.mark.slow
def test_match_counts_once_despite_a_killed_database(tmp_path, postgres):
    hall = HubHall(tmp_path, Database(postgres.url, "matches"))
    try:
        table = hall.table("t01")
        hall.plan(calling="automatic")
        hall.until(lambda: table.match and table.table.view.phase == "toss")
        match = table.match
        postgres.kill()
        table.do("toss A", "forfeit B")
        hall.until(lambda: "cannot be written" in hall.hub._known.get("", ""))
        postgres.start()
        hall.until(lambda: match in hall.now.sources)
        assert len(hall.now.state.games) == 1
    finally:
        hall.close()


def test_standby_directs_once_the_first_hub_is_gone(postgres, tmp_path):
    hall = HubHall(tmp_path, Database(postgres.url, "standby"))
    try:
        table = hall.table("t01")
        hall.plan(calling="automatic")
        hall.until(lambda: table.match)
        second, director = hall.standby()
        late = hall.table("t02")
        hall.await_records(late)
        late.disconnect()
        hall.pass_time(1.5)
        assert (hall.director.directs, director.directs) == (True, False)
        assert "standby" in director.notes
        with pytest.raises(NotDirectingError):
            director.decide(hall.clock(), "Ann", d.Announced("hello"))
        hall.do(d.Announced("hello"))
        hall.pass_time(1.5)
        assert director.now.announcement == hall.now.announcement
        calls = dict(hall.now.calls)
        match, gone = table.match, hall.clock()
        hall.kill()
        hall.line.hub, hall.line.tokens = second, Tokens(hall.where)  # the address leads to the second hub
        table.do("toss A", "forfeit B")
        hall.until(lambda: director.directs)
        assert hall.clock() - gone < 5.0
        hall.until(lambda: match in director.now.sources)
        assert director.now.calls.get(match, calls[match]) == calls[match]
        assert len(director.now.state.games[match]) == 1
        assert second._inbox.record_counts()["t01"][table.epoch] == table.journal.seq
        assert second._inbox.alarms() == []
        assert "t02" in second.known_tables(), "it has reported to the first hub alone"
        hall.line.tokens.close()
    finally:
        hall.close()


def test_reached_hub_takes_over_from_unreached_one(postgres, tmp_path):
    hall = HubHall(tmp_path, Database(postgres.url, "moved"))
    try:
        table = hall.table("t01")
        hall.plan(calling="automatic")
        hall.until(lambda: table.match)
        second, director = hall.standby()
        hall.pass_time(3.0)
        assert (hall.director.directs, director.directs) == (True, False)
        first, moved = hall.director, hall.clock()
        hall.line.hub = second
        table.do("toss A", "forfeit B")
        hall.until(lambda: director.directs)
        assert hall.clock() - moved < LOST_S + 3.0
        assert not first.directs
        hall.pass_time(10.0)
        assert (first.directs, director.directs) == (False, True), "they do not take turns"
        assert len(director.now.state.games) == 1
    finally:
        hall.close()


@pytest.mark.slow
def test_hub_waits_for_its_database_at_start(postgres, tmp_path, caplog):
    (tmp_path / "hub.toml").write_text(
        f'[page]\nport = 0\nhttps = 0\n[store]\ndatabase = "{postgres.url}"\n[venue]\nname = "late"\n'
    )
    lines = []

    async def start():
        hub, closing = HubRun(tmp_path, lines.append, shows=False), asyncio.Event()
        running = asyncio.create_task(hub.run(closing))
        while "no connection to the database" not in caplog.text:
            await asyncio.sleep(0.01)
        assert not lines
        await asyncio.to_thread(postgres.start)
        await hub.wait_until_listening()
        closing.set()
        await running

    postgres.kill()
    asyncio.run(start())
    assert any("all tables: http" in line for line in lines)
    with Inbox(Database(postgres.url, "late")) as inbox:
        assert inbox.record_counts() == {}


def test_database_permission_error_ends_hub_without_waiting(postgres, tmp_path):
    """An account that may not make the venue's schema never will."""
    with psycopg.connect(postgres.url, autocommit=True) as db:
        db.execute("CREATE ROLE guest LOGIN")
    url = postgres.url.replace("hub@", "guest@")
    (tmp_path / "hub.toml").write_text(f'[store]\ndatabase = "{url}"\n')
    with pytest.raises(StoreError, match="permission denied"):
        asyncio.run(HubRun(tmp_path, shows=False).run(asyncio.Event()))


def test_database_stores_batches_beyond_32_bits(postgres):
    record = SentRecord(*next(chain_rows(genesis(A), [JournalRow(1, 2**40, 1.0, "ready", "{}")])))
    with Inbox(Database(postgres.url, "wide")) as inbox:
        take(inbox, Hello((SentGame(A, 1),)))
        assert take(inbox, Events(A, (record,))) == Ack(A, 1)
        assert [one.batch for one in inbox.rows("t01", A)] == [2**40]

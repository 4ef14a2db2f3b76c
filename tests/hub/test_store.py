"""A database that goes away: nothing is acknowledged that it does not have, and it is found again by itself."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from inbox_messages import A, events, records, take
from ports import free_port

from pi_controller.errors import SettingsError
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Ack, Game, Hello
from pi_controller.hub.run import HubRun
from pi_controller.hub.settings import load_hub, store_from_settings
from pi_controller.hub.store import BadValueError, Database, StoreError, open_store


@pytest.mark.slow
def test_acknowledged_records_survive_database_kill_and_reconnect(postgres):
    venue = Database(postgres.url, "kills")
    with Inbox(venue) as inbox:
        take(inbox, Hello("a", (Game(A, 400),)))
        for round_ in range(1, 6):
            acknowledged = take(inbox, events(A, 1, 20 * round_)).seq
            postgres.kill()
            with pytest.raises(StoreError, match="the database cannot be"):
                take(inbox, events(A, 1, 20 * round_ + 10))
            postgres.start()
            assert inbox.record_counts() == {"t01": {A: acknowledged}}
            assert take(inbox, events(A, 1, 20 * round_ + 10)) == Ack(A, 20 * round_ + 10)
        assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 110)]


def test_venues_in_one_database_are_separate(postgres):
    with Inbox(Database(postgres.url, "north")) as north, Inbox(Database(postgres.url, "south")) as south:
        take(north, Hello("a", (Game(A, 9),)))
        take(north, events(A, 1, 9))
        assert south.record_counts() == {}
        assert take(south, Hello("a", (Game(A, 5),))) == Ack(A, 0, "a")


def test_missing_database_is_an_error_with_hint(tmp_path):
    with pytest.raises(StoreError) as caught:
        Inbox(Database(f"postgresql://hub@/postgres?host={tmp_path}", "hall", "secret"))
    assert "check that PostgreSQL runs" in caught.value.hint
    assert "secret" not in str(caught.value)


def test_hub_waits_for_its_database_at_start(postgres, tmp_path, caplog):
    port = free_port()
    (tmp_path / "hub.toml").write_text(
        f'[broker]\nport = {port}\n[page]\nport = 0\n[store]\ndatabase = "{postgres.url}"\n[venue]\nname = "late"\n'
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


def test_hub_waiting_for_its_database_can_be_stopped(tmp_path, caplog):
    (tmp_path / "hub.toml").write_text(f'[store]\ndatabase = "postgresql://hub@/postgres?host={tmp_path}"\n')

    async def start():
        hub, closing = HubRun(tmp_path, shows=False), asyncio.Event()
        running = asyncio.create_task(hub.run(closing))
        while "no connection to the database" not in caplog.text:
            await asyncio.sleep(0.01)
        closing.set()
        await running
        with pytest.raises(asyncio.CancelledError):
            await hub.wait_until_listening()

    asyncio.run(start())


def test_database_permission_error_ends_hub_without_waiting(postgres, tmp_path):
    """An account that may not make the venue's schema never will."""
    with psycopg.connect(postgres.url, autocommit=True) as db:
        db.execute("CREATE ROLE guest LOGIN")
    url = postgres.url.replace("hub@", "guest@")
    (tmp_path / "hub.toml").write_text(f'[store]\ndatabase = "{url}"\n')
    with pytest.raises(StoreError, match="permission denied"):
        asyncio.run(HubRun(tmp_path, shows=False).run(asyncio.Event()))


def test_the_settings_name_it_without_a_password(tmp_path):
    (tmp_path / "hub.toml").write_text('[store]\ndatabase = "postgresql://hub@192.0.2.9/mat"\npassword_file = "word"\n')
    (tmp_path / "word").write_text("secret\n")
    assert store_from_settings(load_hub(tmp_path), tmp_path) == Database(
        "postgresql://hub@192.0.2.9/mat", "hall", "secret"
    )
    for wrong in ("postgresql://hub:secret@192.0.2.9/mat", "mysql://192.0.2.9/mat", "hub.sqlite"):
        (tmp_path / "hub.toml").write_text(f'[store]\ndatabase = "{wrong}"\n')
        with pytest.raises(SettingsError, match="database"):
            load_hub(tmp_path)


@pytest.mark.parametrize("value", [2**63, 2**200, -(2**63) - 1, "\ud800"])
def test_unstorable_value_is_a_bad_value_error(where, value):
    with open_store(where, ["things(n BIGINT, word TEXT)"]) as store:
        column = "word" if isinstance(value, str) else "n"
        with pytest.raises(BadValueError):
            store.execute(f"INSERT INTO things({column}) VALUES (?)", [value])
        with pytest.raises(BadValueError):
            store.execute_many(f"INSERT INTO things({column}) VALUES (?)", [[value]])
        store.execute("INSERT INTO things VALUES (?, ?)", [2**53, "there"])
        assert store.execute("SELECT n, word FROM things") == [(2**53, "there")]

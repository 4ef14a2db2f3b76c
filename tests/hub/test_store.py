"""Where a hub keeps what comes, by its settings, and what it cannot keep."""

from __future__ import annotations

import asyncio

import pytest
from travel import travelling

from pi_controller.errors import SettingsError
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.run import HubRun
from pi_controller.hub.settings import load_hub, store_from_settings
from pi_controller.hub.store import BadValueError, Database, StoreError, open_store


def test_missing_database_is_an_error_with_hint(tmp_path):
    with pytest.raises(StoreError) as caught:
        Inbox(Database(f"postgresql://hub@/postgres?host={tmp_path}", "hall", "secret"))
    assert "check that PostgreSQL runs" in caught.value.hint
    assert "secret" not in str(caught.value)


def test_hub_waiting_for_its_database_can_be_stopped(tmp_path, caplog):
    (tmp_path / "hub.toml").write_text(f'[store]\ndatabase = "postgresql://hub@/postgres?host={tmp_path}"\n')
    with travelling() as loop:
        hub, closing = HubRun(tmp_path, shows=False), asyncio.Event()
        running = loop.create_task(hub.run(closing))
        loop.advance(60.0)
        assert caplog.text.count("no connection to the database") == 1
        closing.set()
        loop.run(running)
        with pytest.raises(asyncio.CancelledError):
            loop.run(hub.wait_until_listening())


def test_settings_name_the_database_without_password(tmp_path):
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

"""A database that goes away: nothing is acknowledged that it does not have, and it is found again by itself."""

from __future__ import annotations

import pytest
from test_inbox import A, events, records, take

from pi_controller.errors import SettingsError
from pi_controller.fleet.hub_settings import load_hub, store_of
from pi_controller.fleet.inbox import Inbox
from pi_controller.fleet.messages import Ack, Game, Hello
from pi_controller.fleet.store import Database, StoreError


def test_what_was_acknowledged_is_there_after_a_kill_and_the_connection_comes_back(postgres):
    venue = Database(postgres.url, "kills")
    with Inbox(venue) as inbox:
        take(inbox, Hello("a", (Game(A, 400),)))
        for round_ in range(1, 6):
            acknowledged = take(inbox, events(A, 1, 20 * round_)).seq
            postgres.kill()
            with pytest.raises(StoreError, match="the database cannot be"):
                take(inbox, events(A, 1, 20 * round_ + 10))
            postgres.start()
            assert inbox.held() == {"t01": {A: acknowledged}}
            assert take(inbox, events(A, 1, 20 * round_ + 10)) == Ack(A, 20 * round_ + 10)
        assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 110)]


def test_venues_in_one_database_know_nothing_of_each_other(postgres):
    with Inbox(Database(postgres.url, "north")) as north, Inbox(Database(postgres.url, "south")) as south:
        take(north, Hello("a", (Game(A, 9),)))
        take(north, events(A, 1, 9))
        assert south.held() == {}
        assert take(south, Hello("a", (Game(A, 5),))) == Ack(A, 0, "a")


def test_a_database_that_is_not_there_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(StoreError) as caught:
        Inbox(Database(f"postgresql://hub@/postgres?host={tmp_path}", "hall", "secret"))
    assert "check that PostgreSQL runs" in caught.value.todo
    assert "secret" not in str(caught.value)


def test_the_settings_name_it_without_a_password(tmp_path):
    (tmp_path / "hub.toml").write_text('[store]\ndatabase = "postgresql://hub@192.0.2.9/mat"\npassword_file = "word"\n')
    (tmp_path / "word").write_text("secret\n")
    assert store_of(load_hub(tmp_path), tmp_path) == Database("postgresql://hub@192.0.2.9/mat", "hall", "secret")
    for wrong in ("postgresql://hub:secret@192.0.2.9/mat", "mysql://192.0.2.9/mat", "hub.sqlite"):
        (tmp_path / "hub.toml").write_text(f'[store]\ndatabase = "{wrong}"\n')
        with pytest.raises(SettingsError, match="database"):
            load_hub(tmp_path)

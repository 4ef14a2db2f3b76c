"""Where a hub keeps what comes: each test of it runs with a file and with a real PostgreSQL."""

from __future__ import annotations

import os
from itertools import count

import pytest
from postgres import BIN, Postgres

from pi_controller.hub.store import Database

VENUES = count(1)


@pytest.fixture(scope="session")
def postgres():
    """Return a PostgreSQL that runs."""
    if BIN is None:
        if os.environ.get("MOCCASIN_CI"):
            pytest.fail("PostgreSQL is not installed: apt install postgresql")
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    server = Postgres()
    server.start()
    yield server
    server.close()


@pytest.fixture(params=["file", "database"])
def where(request, tmp_path):
    """Return an empty place for a hub's store: a file, and a venue of a database."""
    if request.param == "file":
        return tmp_path / "hub.sqlite"
    return Database(request.getfixturevalue("postgres").url, f"v{next(VENUES)}")


@pytest.fixture
def broker(tmp_path):
    """Return a real Mosquitto with accounts for t01 and t02."""
    from brokers import Mosquitto  # fails without Mosquitto, which not all tests here need

    made = Mosquitto(tmp_path / "broker", ["t01", "t02"]).start()
    yield made
    made.kill()


@pytest.fixture
def hall(tmp_path, broker):
    """Return a hub with its tournament behind a real Mosquitto, for the tables t01 and t02."""
    from hub_hall import HubHall

    made = HubHall(tmp_path, broker)
    yield made
    made.close()


@pytest.fixture
def site(tmp_path):
    """Return a hub's pages without a broker."""
    from hub_site import Site

    made = Site(tmp_path)
    yield made
    made.close()

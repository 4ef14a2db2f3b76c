"""Touches that the page of the installation does not accept."""

import pytest
from travel import travelling
from visit import visitor

from pi_controller.display.i18n import ENGLISH
from pi_controller.exhibit.orders import OrderQueue
from pi_controller.exhibit.pages import ExhibitPage
from pi_controller.table.commands import MAX_WAITING_COMMANDS

ORIGIN = "http://localhost:8080"
TOUCH = {"do": "start", "turn": 1}


@pytest.fixture
def client():
    """Return a visitor of a page whose touches wait in their queue."""
    page = ExhibitPage("127.0.0.1", 8080, lambda: 0.0, dict, OrderQueue(), tr=ENGLISH)
    with travelling() as loop, visitor(page.app, loop, url=ORIGIN, headers={"origin": ORIGIN}) as client:
        yield client


@pytest.mark.parametrize("headers", [{"origin": "http://elsewhere.example"}, {"sec-fetch-site": "cross-site"}])
def test_cross_site_touch_is_refused(client, headers):
    assert client.post("/touch", json=TOUCH).status_code == 202
    assert client.post("/touch", json=TOUCH, headers=headers).status_code == 403


@pytest.mark.parametrize("change", [{"do": "x" * 41}, {"turn": True}, {"more": 1}])
def test_malformed_touch_is_refused(client, change):
    assert client.post("/touch", json=TOUCH | change).status_code == 400


def test_other_paths_accept_no_touch(client):
    assert client.post("/").status_code == 405
    assert client.get("/host/..%2Ftable.toml").status_code == 404


def test_touch_flood_is_refused_beyond_queue_limit(client):
    statuses = [client.post("/touch", json=TOUCH).status_code for _ in range(MAX_WAITING_COMMANDS + 8)]
    assert statuses.count(202) == MAX_WAITING_COMMANDS
    assert statuses.count(503) == 8

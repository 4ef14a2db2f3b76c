"""A hub's store, its hall with tables, and its pages."""

import pytest


@pytest.fixture
def where(tmp_path):
    """Return an empty place for a hub's store."""
    return tmp_path / "hub.sqlite"


@pytest.fixture
def hall(tmp_path):
    """Return a hub with its tournament, to which tables come."""
    from hub_hall import HubHall

    made = HubHall(tmp_path)
    yield made
    made.close()


@pytest.fixture
def site(tmp_path):
    """Return a hub's pages without a server."""
    from hub_site import Site

    made = Site(tmp_path)
    yield made
    made.close()

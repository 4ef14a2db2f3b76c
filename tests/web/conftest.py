from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from judge_house import House
from travel import TravelLoop, travelling
from visit import visitor

from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx


@pytest.fixture
def feed(view: Any) -> Feed:
    """Return a feed with one view in it."""
    feed = Feed()
    feed.publish(view())
    return feed


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Return a table's web server with the accounts of its judges."""
    house = House(tmp_path)
    yield house
    house.close()


@pytest.fixture
def loop() -> Iterator[TravelLoop]:
    """Return a loop whose time the test moves."""
    with travelling() as loop:
        yield loop


@pytest.fixture
def visit(loop: TravelLoop) -> Iterator[Callable[..., httpx.Client]]:
    """Return what makes visitors of a server that need not be started: `visit(server, peer="192.0.2.7")`."""
    with ExitStack() as stack:
        yield lambda server, **how: stack.enter_context(visitor(server.app, loop, **how))


@pytest.fixture
def web(feed: Feed, visit: Callable[..., httpx.Client]) -> httpx.Client:
    """Return a visitor of the pages of `feed`."""
    return visit(WebServer(feed, hosts=["mat.local"]))

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest
from sound_fixtures import _clip, program, record  # noqa: F401 - fixtures

from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def feed(view: Any) -> Feed:
    """Return a feed with one view in it."""
    feed = Feed()
    feed.publish(view())
    return feed


@pytest.fixture
def server(feed: Feed) -> Iterator[WebServer]:
    """Return a server that serves `feed` on a free port."""
    server = WebServer(feed, port=0, hosts=["mat.local"])
    server.start()
    yield server
    server.stop()
    gc.collect()  # a socket left open is to fail the test that left it

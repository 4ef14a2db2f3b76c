"""Fixtures that a conftest imports: a view in a feed, and a server of it."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(name="feed")
def _feed(view: Any) -> Feed:
    """Return a feed with one view in it."""
    feed = Feed()
    feed.publish(view())
    return feed


@pytest.fixture(name="server")
def _server(feed: Feed) -> Iterator[WebServer]:
    """Return a server that serves `feed` on a free port."""
    server = WebServer(feed, port=0, hosts=["mat.local"])
    server.start()
    yield server
    server.stop()
    gc.collect()  # a socket left open is to fail the test that left it

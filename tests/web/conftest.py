from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from headless import ARGUMENTS, CHROMIUM

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


@pytest.fixture(scope="module")  # no longer: an open playwright holds the thread's event loop
def chromium() -> Iterator[Any]:
    """Return a running headless Chromium; skip without one, but fail when MOCCASIN_CI says there must be one."""
    if CHROMIUM is None:
        if os.environ.get("MOCCASIN_CI") == "1":
            pytest.fail("there is no chromium on the path")
        pytest.skip("there is no chromium on the path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
        yield browser
        browser.close()

"""A real Chromium, and a table's pages in it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from feed_fixtures import _feed, _server  # noqa: F401 - fixtures
from headless import CHROMIUM, launch
from late_answers import DELAY_S, late_answers
from needed import need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_controller.web.server import WebServer


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test of this folder; by day only one or two of each page run (`smoke`)."""
    item.add_marker(pytest.mark.chromium)
    if not item.get_closest_marker("smoke"):
        item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _late_answers() -> Iterator[None]:
    """Let answers to pages come late if that is wanted: a test that does not wait for what it needs fails then."""
    with late_answers() if DELAY_S else nullcontext():
        yield


@pytest.fixture(scope="module")  # no longer: an open playwright holds the thread's event loop
def playwright() -> Iterator[Any]:
    """Return Playwright."""
    need(CHROMIUM, "there is no chromium on the path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def chromium(playwright: Any) -> Iterator[Any]:
    """Return a running headless Chromium."""
    browser = launch(playwright)
    yield browser
    browser.close()


class Opener:
    """Opens pages of `server` in Chromium, and collects what they complain about and whom they ask.

    With `outage` the browser may say that a connection broke: refused, reset, cut short in a chunk.
    """

    def __init__(self, chromium: Any, server: WebServer) -> None:
        self.asked: list[str] = []
        self.outage = False
        self._chromium, self._server = chromium, server
        self._contexts: list[Any] = []
        self._complaints: list[str] = []

    def __call__(self, path: str = "", size: tuple[int, int] = (1366, 768), **how: Any) -> Any:
        """Return the page at `path` in a browser of its own; `how` is as for a context of Playwright's."""
        context = self._chromium.new_context(viewport={"width": size[0], "height": size[1]}, **how)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: self._complaints.append(message.text))
        page.on("pageerror", lambda error: self._complaints.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(self._server.url + path)
        return page

    def close(self) -> None:
        """Close all, and raise `AssertionError` where a page complained or asked anybody but the table."""
        for context in self._contexts:
            context.close()
        assert [text for text in self._complaints if not (self.outage and "net::ERR_" in text)] == []
        assert all(url.startswith(self._server.url) for url in self.asked)


@pytest.fixture
def open_page(chromium: Any, server: WebServer) -> Iterator[Opener]:
    """Return what opens pages; afterwards none may have complained."""
    opener = Opener(chromium, server)
    yield opener
    opener.close()

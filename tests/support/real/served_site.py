"""A hub's pages, served for a browser."""

import time
from contextlib import contextmanager

import httpx
from headless import await_drawn, wait_until
from hub_site import Site


class ServedSite(Site):
    """The pages of a `Site` with a real server, in real time."""

    ports = (0, 0, 0)

    def open(self):
        self.pages.start()

    def clock(self):
        return time.time()

    def browser(self, peer=None, url=None):
        url = url or self.origin
        return httpx.Client(base_url=url, headers={"origin": url}, timeout=60, verify=False, trust_env=False)

    def stream(self, path):
        return httpx.get(f"{self.pages.stream_url.rstrip('/')}{path}", timeout=60, trust_env=False)

    def share_session(self, context):
        """Sign the browser's `context` in as this session is."""
        context.add_cookies([{"name": k, "value": v, "url": self.origin} for k, v in self.web.cookies.items()])

    def await_drawn(self, page):
        """Wait until `page` shows what the hub shows now."""
        await_drawn(page, self.pages.seq)

    @contextmanager
    def decision(self, page):
        """Wait until `page` shows a decision that is touched inside."""
        before = len(self.director.history.decisions)
        yield
        wait_until(page, lambda: len(self.director.history.decisions) > before)
        self.await_drawn(page)

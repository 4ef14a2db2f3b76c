"""A hub as `hub run` runs it, at a real broker, in a thread; its pages, where the director is signed in."""

import asyncio
import re
import threading

import httpx
from brokers import PATIENCE_S, run_to_its_end

from pi_controller.hub.run import HubRun


class RealHub:
    """The hub of the files of `broker`."""

    def __init__(self, broker):
        self.folder, self.said = broker.folder, []
        broker.hub_settings()
        self.run = HubRun(self.folder, self.said.append, shows=True)
        self._closing, self._loop = asyncio.Event(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=run_to_its_end, args=(self._loop, self.run.run(self._closing)))
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.run.wait_until_listening(), self._loop).result(PATIENCE_S)
        origin = self.run.pages.url.rstrip("/")
        self.web = httpx.Client(base_url=origin, headers={"origin": origin}, timeout=PATIENCE_S, verify=False)
        name, pin = re.search(r"as '(.+)' with the PIN (\w+)", "\n".join(self.said)).groups()
        assert self.web.post("/director/sign-in", json={"name": name, "pin": pin}).status_code == 200

    def opened(self, table, **more):
        """Return a new code for `table`, as the console shows it."""
        found = self.web.post("/director/join", json={"do": "open", "table": table, **more})
        assert found.status_code == 200, found.text
        return found.json()

    def close(self):
        self.web.close()
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(PATIENCE_S)

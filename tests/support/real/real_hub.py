"""A hub as `hub run` runs it, in a thread."""

import asyncio
import re
import threading

import httpx
from hub_files import PATIENCE_S

from pi_controller.hub.run import HubRun


class RealHub:
    """The hub of the files in `folder`; `said` are its lines at the start."""

    def __init__(self, folder, *, shows=True):
        self.folder, self.said, self.web = folder, [], None
        self.run = HubRun(folder, self.said.append, shows=shows)
        self._closing, self._loop = asyncio.Event(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._play)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.run.wait_until_listening(), self._loop).result(PATIENCE_S)

    def sign_in(self):
        """Sign the director in: `web` is their browser."""
        origin = self.run.pages.url.rstrip("/")
        self.web = httpx.Client(base_url=origin, headers={"origin": origin}, timeout=PATIENCE_S, verify=False)
        name, pin = re.search(r"as '(.+)' with the PIN (\w+)", "\n".join(self.said)).groups()
        assert self.web.post("/director/sign-in", json={"name": name, "pin": pin}).status_code == 200

    def open_code(self, table, **more):
        """Return a new code for `table`, as the console shows it."""
        found = self.web.post("/director/join", json={"do": "open", "table": table, **more})
        assert found.status_code == 200, found.text
        return found.json()

    def close(self):
        if self.web is not None:
            self.web.close()
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(PATIENCE_S)

    def _play(self):
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self.run.run(self._closing))

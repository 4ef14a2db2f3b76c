"""A judge outside the guest who gives one command after another, and keeps what was acknowledged: a cut's witness."""

from __future__ import annotations

import http.client
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from guest_table import Page, RefusedError

if TYPE_CHECKING:
    import random

BROKEN = (OSError, ValueError, http.client.HTTPException)
"""What a line does whose far end has lost its power."""


class Witness(threading.Thread):
    """Gives commands until `stop`; `acknowledged` is the journal's record for each key that was told as done."""

    def __init__(self, page: Page, name: str, chance: random.Random, acknowledged: dict[str, int]) -> None:
        super().__init__(daemon=True)
        self.acknowledged = acknowledged
        self.given = 0
        self.fault: Exception | None = None
        self._page = page
        self._name = name
        self._chance = chance
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Give no more; the one that is on its way is not waited for."""
        self._stopped.set()

    def run(self) -> None:
        """Give commands as fast as they are answered."""
        self._page.close()  # the guest may have ended what was idle
        with suppress(*BROKEN):
            while not self._stopped.is_set():
                try:
                    self._give()
                except RefusedError as refused:
                    if refused.status not in {409, 429, 503}:  # another judge was first; too many at once; busy
                        self.fault = refused
                        return
                    self._stopped.wait(0.05)

    def _give(self) -> None:
        """Give one command, a toss or the toss taken back, whatever the table shows: so they follow at once."""
        self.given += 1
        key = f"{self._name}-{self._chance.getrandbits(48):012x}"
        call: dict[str, object] = {"judge": "undo", "reason": "to be seen again"}
        if self.given % 2:
            call = {"judge": "action", "action": {"do": "toss", "winner": self._chance.choice("AB")}}
        answer = self._page.ask("POST", "/judge/command", {"key": key, "expect": None, "call": call})
        self.acknowledged[key] = answer["seq"]

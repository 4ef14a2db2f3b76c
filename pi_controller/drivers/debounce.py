"""Debounces one button: edges with their times in, presses out. Pure; time is passed in.

Two faults pull apart. A contact chatters when it closes and opens, which must not make two presses of one; and a long
wire beside a light strip picks up spikes with no finger near it, which must not make any. Reporting the first edge at
once would be some milliseconds faster and take every spike for a press. A false "ready" ends the hide before the bead
lies, and nobody feels 5 ms, so a press counts only once the contact has stayed closed for `min_press_s` without a
break. Its time is still that of the first touch, so the wait costs nothing in the record.
"""

from __future__ import annotations

MIN_PRESS_S = 0.005
"""A contact closed without a break for this long is a press. Spikes are shorter, fingers far longer (30 ms and up)."""
SETTLE_S = 0.020
"""A contact open without a break for this long is released; the next press can begin."""


class Debounce:
    """Debouncer of one button's contact.

    `edge(t, closed)` tells a level seen at time `t` (s); a level that is already known is no edge and changes nothing,
    so samples can be fed as well as edges. `settle(t)` returns the time of a press once it is certain, else None. A
    time that runs backwards is taken as the latest time known. A contact that is closed at the start is no press until
    it has been released.
    """

    def __init__(
        self, closed: bool = False, t: float = 0.0, min_press_s: float = MIN_PRESS_S, settle_s: float = SETTLE_S
    ) -> None:
        self.closed = closed
        self._min_press_s = min_press_s
        self._settle_s = settle_s
        self._since = t
        self._touched = t
        self._released = not closed
        self._down: float | None = None

    def edge(self, t: float, closed: bool) -> None:
        """Take an edge to that level at `t`."""
        if closed == self.closed:
            return
        t = max(t, self._since)
        self._pass(t)
        if closed and t - self._since >= self._min_press_s:
            # after a real break this is a new touch, not more chatter of the last
            self._touched = t
        self.closed = closed
        self._since = t

    def look(self, t: float, closed: bool) -> None:
        """Take the level as polled at `t`, after the edges; it differs only where an edge was lost or is late."""
        if closed:
            self.edge(t, closed=True)
        elif self.closed:
            # nobody saw when it opened, so the stretch before proves nothing
            self.closed = False
            self._since = max(t, self._since)

    def settle(self, t: float) -> float | None:
        """Advance to `t`; return the times of presses that are now certain, each once."""
        self._pass(t)
        down, self._down = self._down, None
        return down

    def _pass(self, t: float) -> None:
        """Conclude what the level up to `t`, without a break, means."""
        held = t - self._since
        if self.closed and self._released and held >= self._min_press_s:
            self._released = False
            self._down = self._touched
        elif not self.closed and held >= self._settle_s:
            self._released = True

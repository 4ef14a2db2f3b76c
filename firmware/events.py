"""The events that matter, kept until the host says it has them. Portable: it touches no chip.

Events are numbered from 1 since boot. The ring holds the newest; a full one drops its oldest, which shows on the host.
`now` is in hundredths of a second since boot, the time of an event in microseconds.
"""

import wire

KEPT = 32
WINDOW = 8  # so many are sent before the first of them is acknowledged: 8 short frames, well under a block's time
AGAIN_TIME = 25


class Events:
    """The ring. `add` what happened, `send` what is due, `acked` what the host has."""

    def __init__(self):
        self._ring = [(0, 0, 0, 0)] * KEPT
        self.newest = 0  # number of the newest event
        self.confirmed = 0  # number of the newest event that a host has said it has
        self._sent = 0
        self._again = 0

    def add(self, us, kind, part=0, value=0):
        """Keep an event of board time `us`."""
        self.newest += 1
        self._ring[self.newest % KEPT] = (us, kind, part, value)

    def begin(self, now):
        """A host has come: whatever is kept goes out from its oldest on."""
        self._sent = 0
        self._again = now + AGAIN_TIME

    def acked(self, number):
        """The host has all up to `number`; one that was never sent is nonsense and changes nothing."""
        if self.confirmed < number <= self.newest:
            self.confirmed = number

    def send(self, now, send):
        """Give `send` the bodies that are due: new ones at once, and all again that were not acknowledged in time."""
        last = self.newest
        if self.confirmed == last:
            return
        oldest = max(self.confirmed, last - KEPT) + 1
        if now >= self._again:
            self._sent = 0
        if self._sent < oldest:
            self._sent = oldest - 1
            self._again = now + AGAIN_TIME
        end = min(last, oldest - 1 + WINDOW)
        while self._sent < end:
            number = self._sent + 1
            us, kind, part, value = self._ring[number % KEPT]
            self._sent = number
            send(wire.event_body(number, number - oldest, oldest - 1 - self.confirmed, us, kind, part, value))

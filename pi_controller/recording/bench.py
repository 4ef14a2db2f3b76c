"""Bench recording without a game: every reading goes to the file at once, with the stick's contact as ground truth.

Nothing is hidden here, so nothing is held back. `Bench.step(t)` is all there is, as with the daemon; the verb drives it
on the wall's clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.link.messages import Piezo
from pi_controller.mat.events import Button
from pi_controller.pinmap import pinmap
from pi_controller.recording.blocks import Blocks
from pi_controller.recording.model import Batch, Began, Ended

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.drivers.ports import Buttons
    from pi_controller.link.messages import Message
    from pi_controller.link.source import Source
    from pi_controller.recording.chunks import ChunkFile

CONTACT = "contact"
"""The name under which the stick's contact closing is kept."""
SYNC_S = 5.0
"""How often the disk is waited for: a power cut takes no more than this and the block under way."""


class Bench:
    """Records what `source` gives to `file`.

    `contact` is the stick's contact, if it is wired.
    """

    def __init__(self, file: ChunkFile, source: Source, contact: Buttons | None = None) -> None:
        self.source = source
        self.rows = self.touches = 0
        """Rows of samples and touches kept so far."""
        self._file = file
        self._contact = contact
        self._blocks = Blocks(pinmap().magnetometers.counts_per_ut, file.add)
        self._waiting: list[Button] = []
        self._sync_at = float("-inf")
        if contact is not None:
            contact.listen(lambda _, t: self._waiting.append(Button(t, CONTACT)))

    def step(self, t: float, at_least: int = 0) -> None:
        """Take in what waits (in lock step, `at_least` bytes). Raises `OSError` when the file cannot be written."""
        messages = self.source.step(t, at_least)
        if self._contact is not None:
            self._contact.tick(t)
        if messages or self._waiting:
            self._keep(t, messages)
        self._blocks.rest()
        if t >= self._sync_at:
            self._sync_at = t + SYNC_S
            self._file.sync()

    def close(self) -> None:
        """Write the rest; close the port, the contact and the file."""
        self.source.close()
        if self._contact is not None:
            self._contact.close()
        try:
            self._blocks.flush()
            self._file.sync()
        finally:
            self._file.close()

    def _keep(self, t: float, messages: Iterable[Message]) -> None:
        self._blocks.add(Began(t))
        self._blocks.add(Batch(armed=True))
        for message in messages:
            self._blocks.add(message)
            if isinstance(message, Piezo):
                self.rows += len(message.samples)
        for press in self._waiting:
            self._blocks.add(press)
        self.touches += len(self._waiting)
        self._waiting.clear()
        self._blocks.add(Ended())

"""Records a mat without a game: every reading at once, with the stick's contact as ground truth.

No bead is hidden, so no reading is held back. Like the daemon, it is driven by `Bench.step(t)`; the CLI verb calls
it on the wall clock.
"""

from __future__ import annotations

from pi_controller.board.interfaces import Buttons
from pi_controller.board.message_source import Source
from pi_controller.board.messages import Piezo
from pi_controller.recording.entries import Batch, Entry, StepBegan, StepEnded, pack
from pi_controller.recording.recorder import BLOCK_S
from pi_controller.recording.store import SensorWriter
from pi_controller.sensing.events import Button
from pi_controller.sensing.noise_spectrum import NoiseSpectrum

CONTACT = "contact"
"""Name of the button event for the stick's contact closing."""


class Bench:
    """Records the messages of `source` to `writer`.

    `contact` is the stick's contact, if it is wired.
    """

    def __init__(self, writer: SensorWriter, source: Source, contact: Buttons | None = None) -> None:
        self.source = source
        self.rows = self.touches = 0
        """Rows of samples, and touches, recorded so far."""
        self.noise = NoiseSpectrum()
        self._writer = writer
        self._contact = contact
        self._entries: list[Entry] = []
        self._waiting: list[Button] = []
        self._block_ends = float("-inf")
        if contact is not None:
            contact.listen(lambda _, t: self._waiting.append(Button(t, CONTACT)))

    def step(self, t: float, at_least: int = 0) -> None:
        """Record new messages (in lock step, `at_least` bytes). Raises `RecordingError`."""
        messages = self.source.step(t, at_least)
        if self._contact is not None:
            self._contact.tick(t)
        if messages or self._waiting:
            for message in messages:
                if isinstance(message, Piezo):
                    self.rows += len(message.samples)
                    self.noise.add(message.counts, message.rate)
            self.touches += len(self._waiting)
            self._entries += [StepBegan(t), Batch(True), *messages, *self._waiting, StepEnded()]
            self._waiting.clear()
        if t >= self._block_ends:
            self._block_ends = t + BLOCK_S
            self._end_block()
            self._writer.commit()

    def close(self) -> None:
        """Write the buffered entries; close the port, the contact and the file."""
        self.source.close()
        if self._contact is not None:
            self._contact.close()
        try:
            self._end_block()
        finally:
            self._writer.close()

    def _end_block(self) -> None:
        if self._entries:
            self._writer.add([pack(self._entries)])
            self._entries = []

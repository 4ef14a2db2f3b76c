"""A CircuitPython pixel buffer that records the bytes for the strip, for tests. Needs the extra `pi` or `test`."""

from __future__ import annotations

import adafruit_pixelbuf

from pi_controller.board.strips import ORDER


class RecordingPin:
    """The pin under a recorder: `given_back` once it is."""

    def __init__(self) -> None:
        self.given_back = False

    def deinit(self) -> None:
        """Give the pin back."""
        self.given_back = True


class RecordingStrip(adafruit_pixelbuf.PixelBuf):
    """The pixel buffer under `neopixel`, with a recorder for a wire: `sent` holds the bytes of each frame, in order.

    `NeoPixelStrip(n, open_pixels=lambda pin, n: RecordingStrip(n))` drives one. Set `fails` to let the sends fail.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count, byteorder=ORDER, brightness=1.0, auto_write=False)
        self.sent: list[bytes] = []
        self.fails: Exception | None = None
        self.pin = RecordingPin()

    def _transmit(self, buffer: bytearray) -> None:
        if self.fails is not None:
            raise self.fails
        self.sent.append(bytes(buffer))

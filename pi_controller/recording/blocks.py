"""Buffers entries for about a second, then packs them into a block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.link.messages import Piezo
from pi_controller.recording.chunks import chunk
from pi_controller.recording.columns import alike, pack

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.recording.model import Entry

MOST_ROWS = 4096
"""Sample rows of a block: a second of a board at 4 kHz."""
MOST_ENTRIES = 2000


class Blocks:
    """Calls `out` with a whole chunk whenever a block is full. `last` gives an entry to end each block with."""

    def __init__(self, counts_per_ut: float, out: Callable[[bytes], None], last: Callable[[], Entry] | None = None):
        self._counts_per_ut = counts_per_ut
        self._out = out
        self._last = last
        self._entries: list[Entry] = []
        self._alike: dict[Any, tuple[Any, ...]] = {}
        self._rows = 0

    def add(self, entry: Entry) -> None:
        """Take one entry. A message of another shape than those before ends the block at once."""
        like = alike(entry)
        if like is not None:
            if self._alike.setdefault(like[0], like) != like:
                self._end(None)
                self._alike[like[0]] = like
            if isinstance(entry, Piezo):
                self._rows += len(entry.samples)
        self._entries.append(entry)

    def rest(self) -> None:
        """End the block if it is full; called where no batch is under way."""
        if self._rows >= MOST_ROWS or len(self._entries) >= MOST_ENTRIES:
            self.flush()

    def flush(self) -> None:
        """End the block."""
        if self._entries:
            self._end(self._last() if self._last else None)

    def clear(self) -> None:
        """Discard the buffered entries."""
        self._entries, self._alike, self._rows = [], {}, 0

    def _end(self, last: Entry | None) -> None:
        entries = self._entries if last is None else [*self._entries, last]
        self.clear()
        if entries:
            self._out(chunk(b"D", pack(entries, self._counts_per_ut)))

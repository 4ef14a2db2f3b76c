"""A loudspeaker of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.display.sound import SoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.display.sound import Clip


class MemorySound:
    """A loudspeaker that keeps what it would play, as (seconds, name, gain), by a `clock` that is passed in."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ends = float("-inf")
        self.played: list[tuple[float, str, float]] = []
        self.fails = ""

    def play(self, clip: Clip, gain: float) -> None:
        """Keep it."""
        if self.fails:
            raise SoundError(self.fails)
        self.played.append((self._clock(), clip.name, gain))
        self._ends = self._clock() + clip.seconds

    def is_playing(self) -> bool:
        """Return whether it would still be heard."""
        return self._clock() < self._ends

    def stop(self) -> None:
        """Be silent."""
        self._ends = float("-inf")

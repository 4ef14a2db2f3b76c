"""Audio output: one short sound at a time, played by ALSA's `aplay` in a process of its own.

`aplay` (package alsa-utils, on every Raspberry Pi OS) plays on bare ALSA and through PipeWire alike, holds no lock that
the game could wait for, and a loudspeaker that was pulled out ends the process and nothing else. Passed over:
sounddevice (PortAudio sees no device that comes later), pygame (an SDL of 14 MB), simpleaudio (nobody keeps it any
more), paplay and ffplay (want a session of their own, or a video player).
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pi_controller.errors import MatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

OVERTIME_S = 2.0
"""A sound that is not over so long after it should be hangs in its device."""
_DIES_S = 0.2


class SoundError(MatError, OSError):
    """The loudspeaker cannot be had, or was lost."""

    code = "sound"


@dataclass(frozen=True, slots=True)
class Clip:
    """A sound: samples of -1 to 1, one row a frame and one column a channel, at `rate` frames a second."""

    name: str
    samples: NDArray[np.float32]
    rate: int

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.samples) / self.rate


class Sound(Protocol):
    """A loudspeaker."""

    def play(self, clip: Clip, gain: float) -> None:
        """Begin to play `clip`, its samples times `gain` (0 to 1); what sounds is cut off. Raises `SoundError`."""
        ...

    def sounding(self) -> bool:
        """Return whether a sound is still to be heard. Raises `SoundError`, once, where it failed."""
        ...

    def stop(self) -> None:
        """Be silent, within a moment whatever the device does. Also a way to close."""
        ...


class AplaySound:
    """The loudspeaker `device` as ALSA calls it (`aplay -L` lists them), by the program `aplay`."""

    def __init__(
        self, device: str = "default", program: str = "aplay", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.device = device
        self._program = program
        self._clock = clock
        self.process: subprocess.Popen[bytes] | None = None
        self._hung: subprocess.Popen[bytes] | None = None
        self._late = 0.0

    def play(self, clip: Clip, gain: float) -> None:
        """Begin to play `clip`. The samples go as a file, so nothing has to stay and feed a pipe."""
        self.stop()
        self._bury()
        frames = np.clip(np.round(clip.samples * (gain * 32767)), -32768, 32767).astype("<i2")
        channels = frames.shape[1] if frames.ndim > 1 else 1
        command = [self._program, "-q", "-D", self.device, "-t", "raw", "-f", "S16_LE"]
        try:
            file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below, when the process has its own
        except OSError as error:
            raise SoundError(f"there is no room for a sound: {error.strerror}", "make room in /tmp") from error
        with file:
            try:
                file.write(frames.tobytes())
                file.seek(0)
                self.process = subprocess.Popen(
                    [*command, "-r", str(clip.rate), "-c", str(channels), "-"],
                    stdin=file,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,  # what it says is less than the pipe holds: nobody has to read meanwhile
                )
            except OSError as error:
                raise SoundError(
                    f"{self._program} cannot be started: {error.strerror}",
                    "apt install alsa-utils, and make room in /tmp",
                ) from error
        self._late = self._clock() + clip.seconds + OVERTIME_S

    def sounding(self) -> bool:
        """Return whether `aplay` is still at it; `SoundError` where it failed, or hangs."""
        if self.process is None:
            return False
        status = self.process.poll()
        if status is None and self._clock() < self._late:
            return True
        why = "it does not come to an end" if status is None else _why(self.process)
        self.stop()
        if status == 0:
            return False
        raise SoundError(
            f"the loudspeaker {self.device!r} cannot be used: {why}",
            "plug it in; 'aplay -L' lists the loudspeakers, [voice] device names one",
        )

    def stop(self) -> None:
        """End the process, if there is one; one that hangs in the kernel is left behind, not waited for."""
        process, self.process = self.process, None
        if process is not None:
            with suppress(OSError):
                process.kill()
            try:
                process.wait(_DIES_S)
            except subprocess.TimeoutExpired:
                self._hung = process
            else:
                _shut(process)

    def _bury(self) -> None:
        """Raise `SoundError` while a process that could not be ended still holds the device."""
        if self._hung is None:
            return
        if self._hung.poll() is None:
            raise SoundError(f"the loudspeaker {self.device!r} does not answer", "pull it out and plug it in again")
        _shut(self._hung)
        self._hung = None


def _shut(process: subprocess.Popen[bytes]) -> None:
    if process.stderr is not None:
        process.stderr.close()


def _why(process: subprocess.Popen[bytes]) -> str:
    """Return the first line that a process that is over has said."""
    stderr = process.stderr.read(2000).decode("utf-8", "replace") if process.stderr is not None else ""
    return " ".join(stderr.partition("\n")[0].split()) or "it says nothing"

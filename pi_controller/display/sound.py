"""Audio output: plays one short sound at a time by ALSA's `aplay` in a separate process.

`aplay` (package alsa-utils, on every Raspberry Pi OS) works with plain ALSA and with PipeWire, holds no lock that the
game could wait for, and a loudspeaker that is pulled out ends only that process. Not used: sounddevice (PortAudio does
not see devices that are plugged in later), pygame (an SDL of 14 MB), simpleaudio (unmaintained), paplay and ffplay
(need a session, or a video player).
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pi_controller.errors import MatError, describe_error
from pi_controller.text import mark

OVERTIME_S = 2.0
"""A sound that lasts this much longer than its clip is stuck in the device."""
_DIES_S = 0.2
_TEST_RATE = 44100
_CARDS = re.compile(r"^ *(\d+) \[([^\]]*)\]: *(.*)$", re.MULTILINE)


class SoundError(MatError, OSError):
    """The loudspeaker cannot be opened, or was lost."""

    code = "sound"


@dataclass(frozen=True, slots=True)
class Clip:
    """A sound: samples from -1 to 1, one row per frame and one column per channel, at `rate` frames a second."""

    name: str
    samples: NDArray[np.float32]
    rate: int

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return len(self.samples) / self.rate


def sound_cards(root: Path = Path("/")) -> list[str]:
    """Return the kernel's sound cards, as "0: Headphones, bcm2835 Headphones"; empty if there are none."""
    try:
        text = (root / "proc/asound/cards").read_text("utf-8", "replace")
    except OSError:
        return []
    return [f"{number}: {name.strip()}, {about.strip()}" for number, name, about in _CARDS.findall(text)]


def tones(*hertz: float, seconds: float = 0.4) -> Clip:
    """Return a clip of consecutive tones, each faded in and out; 0 Hz is silence."""
    t = np.arange(int(seconds * _TEST_RATE)) / _TEST_RATE
    fade = np.clip(np.minimum(t, seconds - t) / 0.02, 0.0, 1.0)
    samples = np.concatenate([0.5 * fade * np.sin(2 * np.pi * one * t) for one in hertz])
    return Clip("tones", samples[:, None].astype(np.float32), _TEST_RATE)


TEST_TONES = 440.0, 660.0
"""Tones of the sound with which the staff tests the loudspeaker, Hz."""
SILENCE = tones(0.0, seconds=0.1)
"""Opens the loudspeaker inaudibly."""


class AplaySound:
    """Plays on the ALSA device `device` (`aplay -L` lists them) by the program `aplay`."""

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
        """Start playing `clip`. The samples are passed as a file, so no thread has to feed a pipe."""
        self.stop()
        self._bury()
        frames = np.clip(np.round(clip.samples * (gain * 32767)), -32768, 32767).astype("<i2")
        channels = frames.shape[1] if frames.ndim > 1 else 1
        command = [self._program, "-q", "-D", self.device, "-t", "raw", "-f", "S16_LE"]
        try:
            file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below, when the process has its own handle
        except OSError as error:
            wrong = mark("there is no room for a sound: {why}")
            raise SoundError(wrong, "make room in /tmp", why=describe_error(error)) from error
        with file:
            try:
                file.write(frames.tobytes())
                file.seek(0)
                self.process = subprocess.Popen(
                    [*command, "-r", str(clip.rate), "-c", str(channels), "-"],
                    stdin=file,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,  # its output fits into the pipe, so it need not be read meanwhile
                )
            except OSError as error:
                raise SoundError(
                    "{program} cannot be started: {why}",
                    "apt install alsa-utils, and make room in /tmp",
                    program=self._program,
                    why=describe_error(error),
                ) from error
        self._late = self._clock() + clip.seconds + OVERTIME_S

    def is_playing(self) -> bool:
        """Return True while `aplay` is playing. Raises `SoundError` if it failed or hangs."""
        if self.process is None:
            return False
        status = self.process.poll()
        if status is None and self._clock() < self._late:
            return True
        why = "it does not come to an end" if status is None else _first_error_line(self.process)
        self.stop()
        if status == 0:
            return False
        raise SoundError(
            "the loudspeaker “{device}” cannot be used: {why}",
            "plug it in; 'aplay -L' lists the loudspeakers, [voice] device names one",
            device=self.device,
            why=why,
        )

    def stop(self) -> None:
        """Kill the process, if there is one; one that hangs in the kernel is abandoned."""
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
        """Raise `SoundError` while an abandoned process still holds the device."""
        if self._hung is None:
            return
        if self._hung.poll() is None:
            hint = mark("pull it out and plug it in again")
            raise SoundError("the loudspeaker “{device}” does not answer", hint, device=self.device)
        _shut(self._hung)
        self._hung = None


def _shut(process: subprocess.Popen[bytes]) -> None:
    if process.stderr is not None:
        process.stderr.close()


def _first_error_line(process: subprocess.Popen[bytes]) -> str:
    stderr = process.stderr.read(2000).decode("utf-8", "replace") if process.stderr is not None else ""
    return " ".join(stderr.partition("\n")[0].split()) or "it says nothing"

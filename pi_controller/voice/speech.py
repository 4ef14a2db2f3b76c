"""Text to speech for plain English, by `espeak-ng` in a process of its own (Debian: apt install espeak-ng).

It is asked for English sentences and English words only. It knows neither Dakota nor Ojibwe, and would make mockery of
their words. Passed over: pyttsx3 (drives the same espeak-ng, in our process), piper (its voices are hundreds of MB).
"""

from __future__ import annotations

import io
import subprocess

from pi_controller.drivers.sound import Clip, SoundError
from pi_controller.voice.recordings import decoded

_TIMEOUT_S = 3.0


def speak(sentence: str, program: str = "espeak-ng") -> Clip:
    """Return `sentence` as it is spoken. Raises `SoundError`, or `RecordingError` for what is no sound."""
    try:
        done = subprocess.run(
            [program, "--stdin", "--stdout", "-v", "en-us", "-s", "150"],
            input=sentence.encode(),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
    except FileNotFoundError as error:
        raise SoundError(
            f"{program} is not installed", "apt install espeak-ng, or set [voice] english to false"
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise SoundError(f"{program} does not speak: {error}", "set [voice] english to false") from error
    return decoded(io.BytesIO(done.stdout), sentence, f"what {program} says")

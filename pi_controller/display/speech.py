"""Text to speech for plain English, by `espeak-ng` in a separate process (Debian: apt install espeak-ng).

It is used for English sentences and English words only: it knows neither Dakota nor Ojibwe, and would distort their
words. Rejected: pyttsx3 (runs the same espeak-ng inside our process), piper (its voices are hundreds of MB).
"""

from __future__ import annotations

import io
import subprocess

from pi_controller.display.sound import Clip, SoundError
from pi_controller.display.word_recordings import decode_audio
from pi_controller.errors import describe_error

SPEECH_PROGRAM = "espeak-ng"
_TIMEOUT_S = 3.0


def speak(sentence: str, program: str = SPEECH_PROGRAM) -> Clip:
    """Return `sentence` as speech. Raises `SoundError`, or `WordRecordingError` if the output is not audio."""
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
        raise SoundError(
            f"{program} does not speak: {describe_error(error)}", "set [voice] english to false"
        ) from error
    return decode_audio(io.BytesIO(done.stdout), sentence, f"the output of {program}")

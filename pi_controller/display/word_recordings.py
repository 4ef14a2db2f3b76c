"""Recordings of a community: one file a word, `FOLDER/GAME/WORD.wav` (or .flac, .ogg, .opus, .mp3).

Each game defines its words (`Show.words`); a word without a file is silent.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.sound import Clip
from pi_controller.errors import MatError, describe_error
from pi_controller.extras import install_hint
from pi_controller.host.files import find_file, normal_name

FORMATS = (".wav", ".flac", ".ogg", ".opus", ".mp3")
"""File formats in the order of preference."""
MAX_WORD_S = 10.0
"""Longest recording that is played."""
_RATES = range(4000, 192001)  # aplay refuses others, or misreads them as thousands


class WordRecordingError(MatError, ValueError):
    """A recording cannot be played."""

    code = "recording"


def is_folder(path: Path) -> bool:
    """Return whether `path` is a readable folder."""
    try:
        return path.is_dir()
    except OSError:  # no permission, or an invalid name
        return False


def find(folder: Path, game: str, call: str) -> Path | None:
    """Return the recording of a word, or None. Raises `WordRecordingError` if the folder cannot be read."""
    if call not in get_show(game, ENGLISH).words:
        return None
    try:
        place = find_file(folder / game)
        paths = (find_file(place / f"{call}{suffix}") for suffix in FORMATS)
        return next((path for path in paths if path.is_file()), None)
    except OSError as error:
        raise WordRecordingError(
            f"{folder} cannot be read: {describe_error(error)}", "let the table's user read it"
        ) from error


def load(path: Path) -> Clip:
    """Read the recording in `path`, named after its word. Raises `WordRecordingError`."""
    return decode_audio(path, normal_name(path.stem), str(path))


def decode_audio(file: Path | BinaryIO, name: str, where: str) -> Clip:
    """Decode `file`, mixed to one channel if it has more than two. Raises `WordRecordingError`, which names `where`."""
    try:
        import soundfile  # noqa: PLC0415 - a table without a voice needs no decoder
    except (ImportError, OSError) as error:
        raise WordRecordingError("recordings cannot be read: soundfile is missing", install_hint("voice")) from error
    try:
        with soundfile.SoundFile(file) as opened:
            rate: int = opened.samplerate
            if rate not in _RATES:
                raise WordRecordingError(f"{where} has {rate} samples a second", "save it with 44100 or 48000")
            samples = opened.read(int(rate * MAX_WORD_S) + 1, dtype="float32", always_2d=True)
    except (soundfile.SoundFileError, OSError) as error:
        raise WordRecordingError(
            f"{where} cannot be read: {describe_error(error)}", f"save it as one of {', '.join(FORMATS)}"
        ) from error
    samples = samples.astype(np.float32, copy=False)
    if not len(samples) or not np.isfinite(samples).all():
        raise WordRecordingError(f"{where} contains no sound", "record it again")
    if len(samples) > rate * MAX_WORD_S:
        raise WordRecordingError(f"{where} lasts over {MAX_WORD_S:.0f} s: it is not played", "cut it to the word alone")
    return Clip(name, samples if samples.shape[1] <= 2 else samples.mean(axis=1, keepdims=True, dtype=np.float32), rate)

"""Recordings of a community: one file a word, `FOLDER/GAME/WORD.wav` (or .flac, .ogg, .opus, .mp3).

Each game defines its words (`Show.words`); a word without a file is silent. This module also measures files, so that a
speaker learns of bad recordings before a tournament.
"""

from __future__ import annotations

from dataclasses import dataclass
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
_LONG_S, _SHORT_S, _LEAD_S = 3.0, 0.15, 0.25
_FULL, _LOW_DB, _APART_DB = 0.999, -20.0, 6.0
_LEAST_RATE = 16000
_RATES = range(4000, 192001)  # aplay refuses others, or misreads them as thousands
_SILENT_DB = -40.0  # relative to the peak; below this it is silence


class WordRecordingError(MatError, ValueError):
    """A recording cannot be played."""

    code = "recording"


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of a recording.

    Its length and the silence before the sound (seconds), its peak and its loudness (RMS of the audible part) in dB
    below full scale, the number of samples at full scale, its channels and frames a second.
    """

    seconds: float
    lead_s: float
    peak_db: float
    rms_db: float
    full: int
    channels: int
    rate: int


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


def measure(clip: Clip) -> Measured:
    """Return the measurements of a recording."""
    samples = np.abs(clip.samples).max(axis=1)
    peak = float(samples.max())
    (audible,) = np.nonzero(samples > peak * 10 ** (_SILENT_DB / 20))
    loud = clip.samples[audible[0] : audible[-1] + 1] if len(audible) else clip.samples
    return Measured(
        clip.seconds,
        float(audible[0]) / clip.rate if len(audible) else clip.seconds,
        _db(peak),
        _db(float(np.sqrt(np.mean(np.square(loud, dtype=np.float64))))),
        int(np.count_nonzero(samples >= _FULL)),
        clip.samples.shape[1],
        clip.rate,
    )


def suggest_improvements(one: Measured, usual_rms_db: float | None = None) -> list[str]:
    """Return instructions to improve a recording, the most important first; `usual_rms_db` is the loudness of all
    words.
    """
    faults: list[str] = []
    if one.full >= 3:
        faults.append("too loud when it was recorded: stand further from the microphone and record it again")
    if one.peak_db < _LOW_DB:
        faults.append(f"quiet (peak {one.peak_db:.0f} dB): raise it to a peak of about -3 dB, or record it nearer")
    if one.seconds > _LONG_S:
        faults.append(f"long ({one.seconds:.1f} s): play goes on while it sounds; cut it to under {_LONG_S:.0f} s")
    if one.seconds < _SHORT_S:
        faults.append(f"only {one.seconds:.2f} s: is it cut off?")
    if one.lead_s > _LEAD_S:
        faults.append(f"{one.lead_s:.1f} s of silence before the word: cut it away, or it is called late")
    if one.rate < _LEAST_RATE:
        faults.append(f"{one.rate} samples a second sound like a telephone: record with 44100 or 48000")
    if usual_rms_db is not None and abs(apart := one.rms_db - usual_rms_db) > _APART_DB:
        faults.append(
            f"{abs(apart):.0f} dB {'louder' if apart > 0 else 'quieter'} than the other words: bring it to theirs"
        )
    return faults


def _db(level: float) -> float:
    return 20 * float(np.log10(max(level, 1e-6)))

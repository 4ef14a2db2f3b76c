"""The recordings of a community: one file a word, `FOLDER/GAME/WORD.wav` (or .flac, .ogg, .opus, .mp3).

What the words of a game are is the game's own (`show.words`); where there is no file there is silence. A file is
measured here too, so that one who records hears what to do better before a tournament, not at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pi_controller.drivers.sound import Clip
from pi_controller.errors import MatError
from pi_controller.show import words

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

FORMATS = (".wav", ".flac", ".ogg", ".opus", ".mp3")
"""In this order they are looked for."""
MOST_S = 10.0
"""A longer file is no word, and is not played."""
_LONG_S, _SHORT_S, _LEAD_S = 3.0, 0.15, 0.25
_FULL, _LOW_DB, _APART_DB = 0.999, -20.0, 6.0
_LEAST_RATE = 16000
_RATES = range(4000, 192001)  # aplay takes no others, or takes them for thousands
_SILENT_DB = -40.0  # so far below its peak, a sound is silence


class RecordingError(MatError, ValueError):
    """A file that cannot be played."""

    code = "recording"


@dataclass(frozen=True, slots=True)
class Measured:
    """A recording's length and silence before it (seconds), its peak and its loudness (RMS where it is not silent), dB
    below full scale, how many samples stand at full scale, its channels and frames a second.
    """

    seconds: float
    lead_s: float
    peak_db: float
    rms_db: float
    full: int
    channels: int
    rate: int


def words_of(game: str) -> tuple[str, ...]:
    """Return the words that are called at a table of `game`, by their names on the score sheet."""
    return tuple(words.words_of(game))


def is_folder(path: Path) -> bool:
    """Return whether `path` is a folder that can be looked into."""
    try:
        return path.is_dir()
    except OSError:  # not allowed, or a name that no disk takes
        return False


def find(folder: Path, game: str, call: str) -> Path | None:
    """Return the recording of a word, or None. Raises `RecordingError` where nobody may look."""
    paths = (folder / game / f"{call}{suffix}" for suffix in FORMATS)
    try:
        return next((path for path in paths if path.is_file()), None) if call in words_of(game) else None
    except OSError as error:
        raise RecordingError(f"{folder} cannot be read: {error.strerror}", "let the table's user read it") from error


def load(path: Path) -> Clip:
    """Return the recording in `path`, named by its word. Raises `RecordingError`."""
    return decoded(path, path.stem, str(path))


def decoded(file: Path | BinaryIO, name: str, where: str) -> Clip:
    """Return what `file` sounds like, at most two channels of it. Raises `RecordingError`, which names `where`."""
    try:
        import soundfile  # noqa: PLC0415 - a table without a voice needs no decoder
    except (ImportError, OSError) as error:
        raise RecordingError(
            "recordings cannot be read: soundfile is missing", "install moccasin-mat[voice]"
        ) from error
    try:
        with soundfile.SoundFile(file) as opened:
            rate: int = opened.samplerate
            if rate not in _RATES:
                raise RecordingError(f"{where} has {rate} samples a second", "save it with 44100 or 48000")
            samples = opened.read(int(rate * MOST_S) + 1, dtype="float32", always_2d=True)
    except (soundfile.SoundFileError, OSError) as error:
        raise RecordingError(f"{where} cannot be read: {error}", f"save it as one of {', '.join(FORMATS)}") from error
    samples = samples.astype(np.float32, copy=False)
    if not len(samples) or not np.isfinite(samples).all():
        raise RecordingError(f"{where} holds no sound", "record it again")
    if len(samples) > rate * MOST_S:
        raise RecordingError(f"{where} lasts over {MOST_S:.0f} s: it is not played", "cut it to the word alone")
    return Clip(name, samples if samples.shape[1] <= 2 else samples.mean(axis=1, keepdims=True, dtype=np.float32), rate)


def measure(clip: Clip) -> Measured:
    """Return what is to be known of a recording."""
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


def advice(one: Measured, usual_rms_db: float | None = None) -> list[str]:
    """Return what is to be done about a recording, most needed first; `usual_rms_db` is that of all the words."""
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

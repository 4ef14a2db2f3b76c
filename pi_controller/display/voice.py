"""Announcer of a table: compares each published view with the last one and plays the announcement.

The game only puts the view into a queue; a separate thread does the rest. The newest announcement wins: called words
interrupt the current sound; a sentence waits for the words and is replaced by the next sentence. A word that cannot
start within `STALE_S` is dropped, because a late call is wrong. If the loudspeaker hangs, at most `MAX_WAITING_VIEWS`
views wait and the oldest are dropped.
"""

from __future__ import annotations

import io
import logging
import re
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec
import numpy as np

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.display.sound import AplaySound, Clip, Sound, SoundError
from pi_controller.errors import MatError, describe_error
from pi_controller.extras import install_hint

if TYPE_CHECKING:
    from pi_controller.config.model import VoiceSection
    from pi_controller.table.view import View

# Derives announcements from two successive public views alone.
#
# So the audio reveals no more than the page does. A word is called once, when it is new: not again when the next hide
# begins while the last one's words are still shown, and not after a judge's undo.

_SETTLED = {"show", "over"}
_OVER = 9  # more hits than any hide has
_QUIET = {"check", "halted"}
"""Phases without sentences: the mat is checking a hide for a moment, or the table is halted."""


class Announcement(NamedTuple):
    """The called words, in order, by their names on the score sheet, and then an English sentence."""

    words: tuple[str, ...] = ()
    sentence: str = ""


def announcement(before: View | None, view: View) -> Announcement:
    """Return the announcement of the changes in `view`; empty for the first view, so that a restart repeats none."""
    if before is None or before.game != view.game or view.phase == "halted":
        return Announcement()
    return Announcement(_words(before, view), _sentence(before, view))


def _words(before: View, view: View) -> tuple[str, ...]:
    known = get_show(view.game, ENGLISH).words
    called = tuple(call for call in view.calls if call in known)
    if not called or _has_same_calls(before, view) or _place(view) < _place(before):
        return ()
    if before.foul and not view.foul and _place(view) == _place(before):
        return ()  # the foul was undone, which brought back the earlier words
    return called


def _has_same_calls(before: View, view: View) -> bool:
    if before.calls != view.calls:
        return False
    return _place(before)[0] == _place(view)[0] if view.hide else before.sheet == view.sheet


def _place(view: View) -> tuple[int, int]:
    """Return how far play is: the hide that the calls belong to, and its number of hits."""
    if view.hits or view.foul or view.phase in _SETTLED:
        return view.hide, len(view.hits)
    return view.hide - 1, _OVER


def _sentence(before: View, view: View) -> str:
    """Return the score if it changed, and the next action of the table, in English without names."""
    if view.phase in _QUIET:
        return ""
    was, now = _nameless(before), _nameless(view)
    words = [score(view)] if _points(view) != _points(before) else []
    say = Phrases(ENGLISH)
    waits = say.sentence(now)
    if waits != say.sentence(was) or before.phase in _QUIET:
        words.append(waits)
    return ". ".join(words)


def score(view: View) -> str:
    """Return the points as a spoken sentence: `Team A 3, Team B 2`."""
    return ", ".join(f"Team {team} {points}" for team, points in _points(view).items())


def _points(view: View) -> dict[str, int]:
    return view.scoreboard.scores if view.scoreboard.goal else {}


def is_english_word(call: str, game: str) -> bool:
    """Return whether the word is English: a voice that knows only English may speak no other word."""
    words = get_show(game, ENGLISH).words
    return call in words and not words[call].sounds


def _nameless(view: View) -> View:
    """Return the view with teams and players called by letter or number: an English voice would garble their names."""
    names = {key: f"Player {n}" for n, key in enumerate(view.scoreboard.scores, 1)}
    return msgspec.structs.replace(view, teams={"A": "Team A", "B": "Team B"} if view.scoreboard.of_teams else names)


# Recordings of a community: one file a word, `FOLDER/GAME/WORD.wav` (or .flac, .ogg, .opus, .mp3).
#
# Each game defines its words (`show.words`); a word without a file is silent. This module also measures files, so that
# a speaker learns of bad recordings before a tournament.

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
    paths = (folder / game / f"{call}{suffix}" for suffix in FORMATS)
    try:
        return next((path for path in paths if path.is_file()), None) if call in get_show(game, ENGLISH).words else None
    except OSError as error:
        raise WordRecordingError(
            f"{folder} cannot be read: {describe_error(error)}", "let the table's user read it"
        ) from error


def load(path: Path) -> Clip:
    """Read the recording in `path`, named after its word. Raises `WordRecordingError`."""
    return decode_audio(path, path.stem, str(path))


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


log = logging.getLogger(__name__)

STALE_S = 3.0
MAX_WAITING_VIEWS = 32
MAX_WAITING_PROMPTS = 24
"""Sentences of prompts that may wait; the oldest are dropped."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_CLOSE_S = 1.0
_SILENT_S = 60.0
"""Pause after a failure of the English voice: it may hang each time, and words would wait for it."""
_POLL_S = 0.02
"""Interval at which the thread checks whether a sound has ended."""


class _Cue(NamedTuple):
    t: float
    clips: tuple[Clip, ...]


class Voice:
    """Plays announcements: `folder` has the recordings (None: none), `speak` turns an English sentence into sound
    (None: off).

    `gain` returns the current volume (0 to 1), `clock` a monotonic time in seconds. With `prompted` the sentences are
    those of `say` alone.
    """

    def __init__(
        self,
        sound: Sound,
        clock: Callable[[], float],
        folder: Path | None = None,
        speak: Callable[[str], Clip] | None = None,
        gain: Callable[[], float] = lambda: 1.0,
        *,
        prompted: bool = False,
    ) -> None:
        self._sound = sound
        self._clock = clock
        self._folder = folder
        self._speak = speak
        self._gain = gain
        self._prompted = prompted
        self.views: deque[tuple[float, View]] = deque(maxlen=MAX_WAITING_VIEWS)
        self._said: deque[tuple[str, bool]] = deque(maxlen=MAX_WAITING_VIEWS)
        self._prompts: deque[str] = deque(maxlen=MAX_WAITING_PROMPTS)
        self._wake = threading.Event()
        self._ended = False
        self._before: View | None = None
        self._clips: dict[tuple[str, str], Clip | None] = {}
        self._words: deque[_Cue] = deque(maxlen=1)
        self._sentence: tuple[float, str] | None = None
        self._following: deque[Clip] = deque()
        self._sounds = False
        self._warned: set[str] = set()
        self._lost = False
        self._silent_until = float("-inf")
        self.thread: threading.Thread | None = None

    def hear(self, view: View) -> None:
        """Queue a view, from any thread; returns at once."""
        self.views.append((self._clock(), view))
        self._wake.set()

    def say(self, sentence: str, *, cut: bool = False) -> None:
        """Queue a prompt, from any thread. With `cut` it replaces all others; "" ends them.

        A prompt is never stale: it is what a visitor has to do now.
        """
        self._said.append((sentence, cut))
        self._wake.set()

    def step(self) -> bool:
        """Process the waiting views and prompts, and play; return whether any sound is playing or waiting."""
        while self.views:
            self._take(*self.views.popleft())
        while self._said:
            sentence, cut = self._said.popleft()
            if cut:
                self._prompts.clear()
                self._following.clear()
                self._sound.stop()
            self._prompts.extend(filter(None, _SENTENCE_END.split(sentence)))  # each is short enough to be a clip
        try:
            self._play()
        except SoundError as error:
            self._following.clear()
            self._sounds = False
            if not self._lost:
                log.warning("the voice is silent: %s (%s); it is retried with each word", error.message, error.hint)
            self._lost = True
        return self._sounds or bool(self._words or self._following or self._sentence or self._prompts)

    def start(self) -> None:
        """Start a thread that calls `step` until `close`."""
        self.thread = threading.Thread(target=self._run, name="voice", daemon=True)
        self.thread.start()

    def close(self) -> None:
        """Stop the sound and end the thread; do not wait for one that hangs in its device."""
        self._ended = True
        self._wake.set()
        if self.thread is None:
            self._sound.stop()
        else:
            self.thread.join(_CLOSE_S)

    def _run(self) -> None:
        busy = False
        while not self._ended:
            self._wake.wait(_POLL_S if busy else None)
            self._wake.clear()
            busy = not self._ended and self.step()
        self._sound.stop()

    def _take(self, t: float, view: View) -> None:
        before, self._before = self._before, view
        if before is None:
            for call in get_show(view.game, ENGLISH).words:
                self._clip(view.game, call)  # preload, so that no word waits for the disk
        new = announcement(before, view)
        clips = tuple(filter(None, (self._clip(view.game, call) for call in new.words)))
        if clips:
            self._words.append(_Cue(t, clips))
        if new.words:
            self._sentence = None  # it belongs to an earlier moment
        if new.sentence and self._speak is not None and not self._prompted:
            self._sentence = t, new.sentence

    def _play(self) -> None:
        now = self._clock()
        if self._words:
            cue = self._words.popleft()
            if now - cue.t <= STALE_S:
                self._following = deque(cue.clips)
                self._begin(self._following.popleft())
                return
        sounded, self._sounds = self._sounds, self._sound.is_playing()
        if self._sounds:
            return
        if sounded and self._lost:
            self._lost = False
            log.warning("the loudspeaker is back")
        if self._following:
            self._begin(self._following.popleft())
        elif self._sentence is not None and self._speak is not None:
            (t, sentence), self._sentence = self._sentence, None
            clip = self._speak_sentence(sentence) if now - t <= STALE_S else None
            if clip is not None:
                self._begin(clip)
        elif self._prompts:
            clip = self._speak_sentence(self._prompts.popleft())
            if clip is not None:
                self._begin(clip)

    def _begin(self, clip: Clip) -> None:
        self._sound.play(clip, self._gain())
        self._sounds = True

    def _clip(self, game: str, call: str) -> Clip | None:
        """Return the recording of a word, or an English word as speech if that is switched on; else None."""
        key = game, call
        if key not in self._clips:
            clip = self._load_recording(game, call)
            if clip is None and self._speak is not None and is_english_word(call, game):
                clip = self._speak_sentence(get_show(game, ENGLISH).word(call).shown)
                if clip is None:
                    return None  # the voice may work later
            self._clips[key] = clip
        return self._clips[key]

    def _load_recording(self, game: str, call: str) -> Clip | None:
        try:
            path = find(self._folder, game, call) if self._folder else None
            return load(path) if path else None
        except WordRecordingError as error:
            self._warn_once(f"{error.message}; {error.hint}")
            return None

    def _speak_sentence(self, sentence: str) -> Clip | None:
        if self._speak is None or self._clock() < self._silent_until:
            return None
        try:
            return self._speak(sentence)
        except (SoundError, WordRecordingError) as error:
            self._silent_until = self._clock() + _SILENT_S
            self._warn_once(f"no English is spoken: {error.message}; {error.hint}")
            return None

    def _warn_once(self, fault: str) -> None:
        if fault not in self._warned:
            self._warned.add(fault)
            log.warning("%s", fault)


# Text to speech for plain English, by `espeak-ng` in a separate process (Debian: apt install espeak-ng).
#
# It is used for English sentences and English words only: it knows neither Dakota nor Ojibwe, and would distort their
# words. Rejected: pyttsx3 (runs the same espeak-ng inside our process), piper (its voices are hundreds of MB).

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


# Builds a table's voice from its settings; the only module of the voice that reads clocks.


def start_voice(
    wanted: VoiceSection,
    view: View,
    publish: Callable[[View], None] | None,
    stack: ExitStack,
    sound: Sound | None = None,
) -> Callable[[View], None] | None:
    """Return a function that calls `publish` and passes each view to a voice; `publish` itself if `wanted` has no
    sound.

    `view` is the view at the start. `stack` closes the voice. `sound` replaces the loudspeaker in tests.
    """
    voice = make_voice(wanted, view, stack, sound)
    if voice is None:
        return publish
    if publish is None:
        return voice.hear

    def publish_and_hear(view: View) -> None:
        publish(view)
        voice.hear(view)

    return publish_and_hear


def make_voice(
    wanted: VoiceSection, view: View, stack: ExitStack, sound: Sound | None = None, *, prompted: bool = False
) -> Voice | None:
    """Start a voice; None if `wanted` has no sound. The arguments are those of `start_voice` and `Voice`."""
    if not wanted.is_audible:
        return None
    folder = Path(wanted.folder) if wanted.folder else None
    if folder is not None and not is_folder(folder):
        log.warning("there are no recordings to play: %s is not a folder; see [voice] folder", folder)
    voice = Voice(
        sound or AplaySound(wanted.device),
        time.monotonic,
        folder,
        speak if wanted.english else None,
        lambda: wanted.volume_at(datetime.now().astimezone().time()),
        prompted=prompted,
    )
    voice.hear(view)
    voice.start()
    stack.callback(voice.close)
    return voice

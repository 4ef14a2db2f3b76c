"""Announcer of a table: compares each published view with the last one and plays the announcement.

The game only puts the view into a queue; a separate thread does the rest. The newest announcement wins: called words
interrupt the current sound; a sentence waits for the words and is replaced by the next sentence. A word that cannot
start within `STALE_S` is dropped, because a late call is wrong. If the loudspeaker hangs, at most `MAX_WAITING_VIEWS`
views wait and the oldest are dropped.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.display.announcement import announcement, is_english_word
from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.sound import AplaySound, Clip, SoundError
from pi_controller.display.speech import speak
from pi_controller.display.word_recordings import WordRecordingError, find, is_folder, load

if TYPE_CHECKING:
    from pi_controller.config.model import VoiceSection
    from pi_controller.table.view import View

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
        sound: AplaySound,
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


def start_voice(
    wanted: VoiceSection,
    view: View,
    publish: Callable[[View], None] | None,
    stack: ExitStack,
    sound: AplaySound | None = None,
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
    wanted: VoiceSection, view: View, stack: ExitStack, sound: AplaySound | None = None, *, prompted: bool = False
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

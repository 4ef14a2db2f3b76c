"""Announcer of a table: takes each view as it is published, and plays what is new in it.

A view is laid in a queue and that is all the game waits for; a thread of its own does the rest. The newest wins: words
that are called cut off what sounds, a sentence waits for the words and gives way to the next one. What could not begin
within `STALE_S` is not played any more: a word called late is a wrong word. Of more than `QUEUE` views that wait, for
a loudspeaker that hangs, the oldest go.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.drivers.sound import Clip, Sound, SoundError
from pi_controller.show.words import word
from pi_controller.voice import recordings
from pi_controller.voice.announcements import announcement, speakable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_controller.table.view import View

log = logging.getLogger(__name__)

STALE_S = 3.0
QUEUE = 32
_CLOSE_S = 1.0
_SILENT_S = 60.0
"""An English voice that failed is not asked again for so long: each time it may hang, and words would wait for it."""
_LOOK_S = 0.02
"""So often the thread looks whether a sound has come to its end."""


class _Cue(NamedTuple):
    t: float
    clips: tuple[Clip, ...]


class Voice:
    """`folder` holds the recordings (None: there are none), `speak` gives an English sentence as sound, where wanted.

    `gain` returns how loud to be now (0 to 1), `clock` the time in seconds, on a clock that never jumps.
    """

    def __init__(
        self,
        sound: Sound,
        clock: Callable[[], float],
        folder: Path | None = None,
        speak: Callable[[str], Clip] | None = None,
        gain: Callable[[], float] = lambda: 1.0,
    ) -> None:
        self._sound = sound
        self._clock = clock
        self._folder = folder
        self._speak = speak
        self._gain = gain
        self.views: deque[tuple[float, View]] = deque(maxlen=QUEUE)
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
        """Take a view, from any thread; returns at once."""
        self.views.append((self._clock(), view))
        self._wake.set()

    def step(self) -> bool:
        """Take in the views that wait and play what is due; return whether anything sounds or waits to."""
        while self.views:
            self._take(*self.views.popleft())
        try:
            self._play()
        except SoundError as error:
            self._following.clear()
            self._sounds = False
            if not self._lost:
                log.warning("nothing is heard: %s (%s); it is tried again with each word", error.what, error.todo)
            self._lost = True
        return self._sounds or bool(self._words or self._following or self._sentence)

    def start(self) -> None:
        """Let a thread of its own do the steps, until `close`."""
        self.thread = threading.Thread(target=self._run, name="voice", daemon=True)
        self.thread.start()

    def close(self) -> None:
        """Be silent and end the thread; one that hangs in its device is not waited for."""
        self._ended = True
        self._wake.set()
        if self.thread is None:
            self._sound.stop()
        else:
            self.thread.join(_CLOSE_S)

    def _run(self) -> None:
        busy = False
        while not self._ended:
            self._wake.wait(_LOOK_S if busy else None)
            self._wake.clear()
            busy = not self._ended and self.step()
        self._sound.stop()

    def _take(self, t: float, view: View) -> None:
        before, self._before = self._before, view
        if before is None:
            for call in recordings.words_of(view.game):
                self._clip(view.game, call)  # read now, so that no word waits for the disk
        new = announcement(before, view)
        clips = tuple(filter(None, (self._clip(view.game, call) for call in new.words)))
        if clips:
            self._words.append(_Cue(t, clips))
        if new.words:
            self._sentence = None  # of a moment that is over
        if new.sentence and self._speak is not None:
            self._sentence = t, new.sentence

    def _play(self) -> None:
        now = self._clock()
        if self._words:
            cue = self._words.popleft()
            if now - cue.t <= STALE_S:
                self._following = deque(cue.clips)
                self._begin(self._following.popleft())
                return
        sounded, self._sounds = self._sounds, self._sound.sounding()
        if self._sounds:
            return
        if sounded and self._lost:
            self._lost = False
            log.warning("the loudspeaker is back")
        if self._following:
            self._begin(self._following.popleft())
        elif self._sentence is not None and self._speak is not None:
            (t, sentence), self._sentence = self._sentence, None
            clip = self._spoken(sentence) if now - t <= STALE_S else None
            if clip is not None:
                self._begin(clip)

    def _begin(self, clip: Clip) -> None:
        self._sound.play(clip, self._gain())
        self._sounds = True

    def _clip(self, game: str, call: str) -> Clip | None:
        """Return the word as it was recorded; an English one as it is spoken, where that is wanted; else nothing."""
        key = game, call
        if key not in self._clips:
            clip = self._recorded(game, call)
            if clip is None and self._speak is not None and speakable(call, game):
                clip = self._spoken(word(call, "en", game).shown)
                if clip is None:
                    return None  # it may speak later
            self._clips[key] = clip
        return self._clips[key]

    def _recorded(self, game: str, call: str) -> Clip | None:
        try:
            path = recordings.find(self._folder, game, call) if self._folder else None
            return recordings.load(path) if path else None
        except recordings.RecordingError as error:
            self._warn_once(f"{error.what}; {error.todo}")
            return None

    def _spoken(self, sentence: str) -> Clip | None:
        if self._speak is None or self._clock() < self._silent_until:
            return None
        try:
            return self._speak(sentence)
        except (SoundError, recordings.RecordingError) as error:
            self._silent_until = self._clock() + _SILENT_S
            self._warn_once(f"no English is spoken: {error.what}; {error.todo}")
            return None

    def _warn_once(self, fault: str) -> None:
        if fault not in self._warned:
            self._warned.add(fault)
            log.warning("%s", fault)

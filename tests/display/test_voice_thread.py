"""The voice in its thread: started by the settings of a table, stuck in its device, ended while it plays."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import ExitStack

import pytest

from pi_controller.config.model import VoiceSection
from pi_controller.display import voice as at_table
from pi_controller.display.sound import AplaySound
from pi_controller.display.voice import MAX_WAITING_VIEWS, Voice, start_voice
from pi_controller.table.view import Hit

SOON_S = 20.0  # far more than any of it takes, even here


class Stuck:
    """A loudspeaker that takes a sound and never comes back, until it is let go."""

    def __init__(self):
        self.reached, self.free, self.stopped = threading.Event(), threading.Event(), 0

    def play(self, clip, gain):
        self.reached.set()
        self.free.wait(60)

    def is_playing(self):
        return False

    def stop(self):
        self.stopped += 1


@pytest.fixture
def stuck():
    sound = Stuck()
    yield sound
    sound.free.set()


def played(view):
    return view(hits=()), view(hits=(Hit(4, found=True),), phase="show", calls=("it_stays",))


def test_no_thread_starts_without_folder_or_english(view):
    with ExitStack() as stack:
        assert start_voice(VoiceSection(), view(), None, stack) is None
        assert start_voice(VoiceSection(), view(), print, stack) is print
    assert all(thread.name != "voice" for thread in threading.enumerate())


def test_view_reaches_the_page_before_the_voice(view, record, tmp_path, stuck):
    record("dakota", "it_stays")
    shown = []
    before, after = played(view)
    with ExitStack() as stack:
        publish = start_voice(VoiceSection(folder=str(tmp_path)), before, shown.append, stack, stuck)
        publish(after)
        assert shown == [after]
        assert stuck.reached.wait(SOON_S)
        for n in range(1000):
            publish(view(seq=n))  # returns, though the loudspeaker does not
        assert len(shown) == 1001
        stuck.free.set()
    assert stuck.stopped


def test_stuck_loudspeaker_bounds_queue_and_delays_no_close(view, record, tmp_path, stuck):
    record("dakota", "it_stays")
    voice = Voice(stuck, lambda: 0.0, tmp_path)
    before, after = played(view)
    voice.hear(before)
    voice.start()
    voice.hear(after)
    assert stuck.reached.wait(SOON_S)
    for n in range(10 * MAX_WAITING_VIEWS):
        voice.hear(view(seq=n))
    assert len(voice.views) == MAX_WAITING_VIEWS
    assert voice.views[-1][1].seq == 10 * MAX_WAITING_VIEWS - 1, "the newest stay"
    voice.close()
    assert voice.thread.is_alive(), "it is left behind, and ends with the program"
    stuck.free.set()
    voice.thread.join(SOON_S)
    assert not voice.thread.is_alive()
    assert stuck.stopped == 1


def test_program_end_kills_the_playing_process(view, record, tmp_path, program):
    begun = tmp_path / "begun"
    sound = AplaySound(program=program(f"echo > {begun}; cat > /dev/null; exec sleep 60"))
    record("dakota", "it_stays", seconds=5.0)
    before, after = played(view)
    with ExitStack() as stack:
        publish = start_voice(VoiceSection(folder=str(tmp_path)), before, None, stack, sound)
        publish(after)
        process = _until(lambda: sound.process)
        assert process.poll() is None
    assert process.returncode == -9
    assert all(thread.name != "voice" for thread in threading.enumerate())


@pytest.mark.parametrize("english", [False, True])
def test_english_is_spoken_if_settings_enable_it(view, tmp_path, monkeypatch, clip, english):
    asked, sound = [], Stuck()
    sound.free.set()
    monkeypatch.setattr(at_table, "speak", lambda sentence: asked.append(sentence) or clip(0.1, sentence))
    before, after = played(view)
    with ExitStack() as stack:
        start_voice(VoiceSection(folder=str(tmp_path), english=english), before, None, stack, sound)(after)
        if english:
            assert sound.reached.wait(SOON_S)
    assert ("It stays" in asked) == english
    assert english or not asked


def test_table_plays_with_aplay_from_path(view, record, tmp_path, program, monkeypatch):
    kept = tmp_path / "kept"
    program(f'cat > /dev/null; echo "$@" > {kept}.new; mv {kept}.new {kept}', "aplay")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    record("dakota", "it_stays")
    before, after = played(view)
    with ExitStack() as stack:
        start_voice(VoiceSection(folder=str(tmp_path), device="usb"), before, None, stack)(after)
        assert _until(lambda: kept.read_text() if kept.exists() else None).startswith("-q -D usb -t raw")


def test_missing_folder_is_logged_and_table_plays(view, tmp_path, caplog):
    before, after = played(view)
    for folder in (tmp_path / "none", tmp_path / ("x" * 5000)):
        caplog.clear()
        with caplog.at_level(logging.WARNING), ExitStack() as stack:
            publish = start_voice(VoiceSection(folder=str(folder)), before, None, stack, Stuck())
            publish(after)
        assert "see [voice] folder" in caplog.messages[0]


def test_the_quiet_hours_are_asked_at_each_word(view, record, tmp_path):
    class Loud(Stuck):
        def play(self, clip, gain):
            self.gain = gain
            self.reached.set()

    record("dakota", "it_stays")
    before, after = played(view)
    sound = Loud()
    wanted = VoiceSection(folder=str(tmp_path), quiet_from="00:00", quiet_to="23:59", volume=0.9, quiet_volume=0.2)
    with ExitStack() as stack:
        start_voice(wanted, before, None, stack, sound)(after)
        assert sound.reached.wait(SOON_S)
    assert sound.gain in {0.2, 0.9}  # one minute of the day is loud


def _until(what):
    """Return what `what` returns, once it is something."""
    waits = threading.Event()
    for _ in range(int(SOON_S / 0.01)):
        if (found := what()) is not None:
            return found
        waits.wait(0.01)
    raise AssertionError("it did not come")

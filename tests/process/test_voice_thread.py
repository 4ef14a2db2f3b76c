"""The voice in its thread: stuck in its device, ended while it plays."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack

from pi_controller.config.model import VoiceSection
from pi_controller.display.sound import AplaySound
from pi_controller.display.voice import MAX_WAITING_VIEWS, start_voice
from pi_controller.table.view import Hit

SOON_S = 60.0


class Stuck:
    """A loudspeaker that takes a sound and never comes back, until it is let go."""

    def __init__(self):
        self.reached, self.free, self.stopped = threading.Event(), threading.Event(), threading.Event()

    def play(self, clip, gain):
        self.reached.set()
        self.free.wait(SOON_S)

    def is_playing(self):
        return False

    def stop(self):
        self.stopped.set()


def hide(view):
    """Return the views before and after a word is called."""
    return view(hits=()), view(hits=(Hit(4, found=True),), phase="show", calls=("it_stays",))


def test_stuck_loudspeaker_delays_neither_page_nor_close(view, record, tmp_path, monkeypatch):
    monkeypatch.setattr("pi_controller.display.voice._CLOSE_S", 0.1)
    record("dakota", "it_stays")
    stuck, shown = Stuck(), []
    before, after = hide(view)
    with ExitStack() as stack:
        publish = start_voice(VoiceSection(folder=str(tmp_path)), before, shown.append, stack, stuck)
        publish(after)
        assert shown == [after]
        assert stuck.reached.wait(SOON_S)
        for n in range(10 * MAX_WAITING_VIEWS):
            publish(view(seq=n))  # returns, though the loudspeaker does not
        assert len(shown) == 1 + 10 * MAX_WAITING_VIEWS
    (voice,) = [thread for thread in threading.enumerate() if thread.name == "voice"]
    assert voice.daemon, "it is left behind, and ends with the program"
    stuck.free.set()
    voice.join(SOON_S)
    assert not voice.is_alive()
    assert stuck.stopped.is_set()


def test_program_end_kills_the_playing_process(view, record, tmp_path, program):
    begun = tmp_path / "begun"
    sound = AplaySound(program=program(f"echo > {begun}; cat > /dev/null; exec sleep 60"))
    record("dakota", "it_stays", seconds=5.0)
    before, after = hide(view)
    with ExitStack() as stack:
        publish = start_voice(VoiceSection(folder=str(tmp_path)), before, None, stack, sound)
        publish(after)
        process = _until(lambda: sound.process)
        assert process.poll() is None
    assert process.returncode == -9
    assert all(thread.name != "voice" for thread in threading.enumerate())


def test_table_plays_with_aplay_from_path(view, record, tmp_path, program, monkeypatch):
    kept = tmp_path / "kept"
    program(f'cat > /dev/null; echo "$@" > {kept}.new; mv {kept}.new {kept}', "aplay")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    record("dakota", "it_stays")
    before, after = hide(view)
    with ExitStack() as stack:
        start_voice(VoiceSection(folder=str(tmp_path), device="usb"), before, None, stack)(after)
        assert _until(lambda: kept.read_text() if kept.exists() else None).startswith("-q -D usb -t raw")


def _until(what):
    """Return what `what` returns, once it is something."""
    waits = threading.Event()
    for _ in range(int(SOON_S / 0.01)):
        if (found := what()) is not None:
            return found
        waits.wait(0.01)
    raise AssertionError("it did not come")

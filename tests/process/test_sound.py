"""The loudspeaker: one suite for the one of memory and the one of `aplay`, and what only a real program does."""

from __future__ import annotations

import shutil
import subprocess
import tempfile

import numpy as np
import pytest
from memory_sound import MemorySound
from needed import need

from pi_controller.display import speech
from pi_controller.display.sound import OVERTIME_S, AplaySound, SoundError

PULLED = "aplay: pcm_write:2127: write error: No such device"
PLAYS = "cat >/dev/null; exec sleep 30"


@pytest.fixture(scope="module")
def _alsa():
    """Need ALSA's player."""
    need(shutil.which("aplay"), "there is no aplay on the path")


class InMemory:
    """A loudspeaker of memory, and how a test moves it on."""

    def __init__(self, _program):
        self.t = 0.0
        self.sound = MemorySound(lambda: self.t)

    def to_the_end(self):
        self.t += 60

    def breaks(self):
        self.sound.fails = "it was pulled out"

    def mended(self):
        self.sound.fails = ""


class ByProgram:
    """The loudspeaker of `aplay`, by a program that waits for a line in its place."""

    def __init__(self, program):
        self.write = program
        self.sound = AplaySound(program=program(PLAYS))

    def to_the_end(self):
        self.write("exit 0")
        self.sound.process.terminate()
        self.sound.process.wait(60)
        self.sound.process.returncode = 0

    def breaks(self):
        self.write(f"echo '{PULLED}' >&2; exit 1")

    def mended(self):
        self.write(PLAYS)


@pytest.fixture(params=[InMemory, ByProgram])
def side(request, program):
    side = request.param(program)
    yield side
    side.sound.stop()


def failed(sound):
    """Return what a loudspeaker that was pulled out says, in `play` or as soon as it is looked at."""
    if getattr(sound, "process", None) is not None:
        sound.process.wait(60)
    with pytest.raises(SoundError) as caught:
        sound.is_playing()
    return caught.value


def test_is_playing_is_true_during_the_clip(side, clip):
    assert not side.sound.is_playing()
    side.sound.play(clip(0.5), 1.0)
    assert side.sound.is_playing()
    side.to_the_end()
    assert not side.sound.is_playing()


def test_stop_silences_at_once_and_is_idempotent(side, clip):
    side.sound.play(clip(30.0), 1.0)
    side.sound.stop()
    side.sound.stop()
    assert not side.sound.is_playing()


def test_one_sound_cuts_off_the_other(side, clip):
    side.sound.play(clip(30.0), 1.0)
    first = getattr(side.sound, "process", None)
    side.sound.play(clip(30.0), 0.5)
    assert side.sound.is_playing()
    if first is not None:
        assert first.returncode is not None, "the first one has ended, and was waited for"
    side.to_the_end()
    assert not side.sound.is_playing()


def test_unplugged_loudspeaker_is_reported_and_plays_after_return(side, clip):
    side.breaks()
    try:
        side.sound.play(clip(), 1.0)
    except SoundError as error:
        said = error
    else:
        said = failed(side.sound)
    assert said.message
    assert not side.sound.is_playing(), "it is told once"
    side.mended()
    side.sound.play(clip(), 1.0)
    assert side.sound.is_playing()


def test_error_quotes_first_line_of_aplay_stderr(program, clip):
    sound = AplaySound("usb", program(f"echo '{PULLED}' >&2; echo more >&2; exit 1"))
    sound.play(clip(), 1.0)
    said = failed(sound)
    assert PULLED in said.message
    assert "more" not in said.message
    assert "“usb”" in said.message
    assert "aplay -L" in said.hint


def test_a_program_that_dies_without_a_word(program, clip):
    sound = AplaySound(program=program("exit 3"))
    sound.play(clip(), 1.0)
    assert "it says nothing" in failed(sound).message


def test_a_program_that_is_not_there(tmp_path, clip):
    with pytest.raises(SoundError, match="cannot be started") as caught:
        AplaySound(program=str(tmp_path / "none")).play(clip(), 1.0)
    assert "apt install alsa-utils" in caught.value.hint


def test_hanging_aplay_is_killed_after_overtime(program, clip):
    t = 0.0
    sound = AplaySound(program=program(PLAYS), clock=lambda: t)
    sound.play(clip(0.5), 1.0)
    process = sound.process
    t = 0.5 + OVERTIME_S - 0.01
    assert sound.is_playing()
    t += 0.02
    with pytest.raises(SoundError, match="does not come to an end"):
        sound.is_playing()
    assert process.returncode is not None
    assert not sound.is_playing()


class Undying:
    """A process that hangs in the kernel: it cannot be ended, as with a loudspeaker whose driver does not answer."""

    stderr = None

    def __init__(self, *_, **__):
        self.dead = False

    def poll(self):
        return -9 if self.dead else None

    def kill(self):
        pass

    def wait(self, timeout=None):
        assert timeout is not None, "nobody may wait for it without end"
        raise subprocess.TimeoutExpired("aplay", timeout)


def test_unkillable_process_is_abandoned_and_blocks_new_sounds(monkeypatch, clip):
    sound, made = AplaySound(), []
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: made.append(Undying()) or made[-1])
    sound.play(clip(), 1.0)
    sound.stop()
    assert not sound.is_playing()
    with pytest.raises(SoundError, match="does not answer") as caught:
        sound.play(clip(), 1.0)
    assert "plug it in again" in caught.value.hint
    assert len(made) == 1, "no second process is sent after the first"
    made[0].dead = True
    sound.play(clip(), 1.0)
    assert len(made) == 2


def test_full_disk_raises_sound_error(monkeypatch, clip):
    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(SoundError, match="No space left"):
        AplaySound().play(clip(), 1.0)


@pytest.mark.parametrize(("channels", "rate", "gain"), [(1, 8000, 1.0), (2, 44100, 0.5), (1, 48000, 0.0)])
def test_aplay_gets_the_samples_and_their_format(program, tmp_path, clip, channels, rate, gain):
    kept = tmp_path / "kept"
    sound = AplaySound("hdmi", program(f'echo "$@" > {kept}.args; cat > {kept}.raw'))
    one = clip(0.2, rate=rate, channels=channels)
    sound.play(one, gain)
    sound.process.wait(60)
    assert not sound.is_playing()
    args = (tmp_path / "kept.args").read_text().split()
    assert args == ["-q", "-D", "hdmi", "-t", "raw", "-f", "S16_LE", "-r", str(rate), "-c", str(channels), "-"]
    frames = np.frombuffer((tmp_path / "kept.raw").read_bytes(), "<i2").reshape(-1, channels)
    assert len(frames) == len(one.samples)
    assert np.allclose(frames / 32767, one.samples * gain, atol=1 / 32767)


def test_no_sample_runs_over(program, tmp_path, clip):
    one = clip(0.1)
    one.samples[:] = 1.5
    sound = AplaySound(program=program(f"cat > {tmp_path / 'kept'}"))
    sound.play(one, 1.0)
    sound.process.wait(60)
    assert set(np.frombuffer((tmp_path / "kept").read_bytes(), "<i2")) == {32767}
    sound.stop()


@pytest.mark.usefixtures("_alsa")
def test_real_aplay_plays_the_samples(tmp_path, clip):
    kept = tmp_path / "out.raw"
    sound, one = AplaySound(f"tee:null,{kept},raw"), clip(0.5, rate=44100)
    sound.play(one, 1.0)
    sound.process.wait(60)
    assert not sound.is_playing()
    heard = np.frombuffer(kept.read_bytes(), "<i2")[: len(one.samples)]  # ALSA fills its last period with silence
    assert np.allclose(heard / 32767, one.samples[:, 0], atol=1 / 32767)


@pytest.mark.usefixtures("_alsa")
@pytest.mark.parametrize("rate", [4000, 8000, 44100, 192000])
def test_real_aplay_takes_every_allowed_rate(rate, clip):
    sound = AplaySound("null")
    sound.play(clip(0.1, rate=rate), 1.0)
    sound.process.wait(60)
    assert not sound.is_playing()


@pytest.mark.usefixtures("_alsa")
def test_real_aplay_reports_missing_loudspeaker(clip):
    sound = AplaySound("no_such_loudspeaker")
    sound.play(clip(), 1.0)
    assert "no_such_loudspeaker" in failed(sound).message


def test_hanging_speech_program_is_ended(program, monkeypatch):
    monkeypatch.setattr(speech, "_TIMEOUT_S", 0.2)
    with pytest.raises(SoundError, match="does not speak"):
        speech.speak("Hello", program("exec sleep 60"))

"""The plain English voice: a program that is there, is not there or says nonsense."""

from __future__ import annotations

import shutil

import pytest

from pi_controller.display.sound import SoundError
from pi_controller.display.speech import speak
from pi_controller.display.word_recordings import WordRecordingError


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="there is no espeak-ng on the path")
def test_a_sentence_is_spoken():
    clip = speak("First hit: Team B")
    assert clip.name == "First hit: Team B"
    assert 0.5 < clip.seconds < 4.0
    assert abs(clip.samples).max() > 0.05


def test_the_sentence_is_never_part_of_the_command(program, tmp_path):
    kept = tmp_path / "kept"
    with pytest.raises(WordRecordingError):
        speak("-w /etc/passwd; rm", program(f'echo "$@" > {kept}.args; cat > {kept}.text', "espeak"))
    assert "passwd" not in (tmp_path / "kept.args").read_text()
    assert (tmp_path / "kept.text").read_text() == "-w /etc/passwd; rm"


def test_missing_speech_program_is_reported_with_install_hint(tmp_path):
    with pytest.raises(SoundError, match="is not installed") as caught:
        speak("Hello", str(tmp_path / "none"))
    assert "apt install espeak-ng" in caught.value.hint


@pytest.mark.parametrize("lines", ["exit 3", "echo nonsense", "exit 0"])
def test_a_program_that_does_not_speak(program, lines):
    with pytest.raises((SoundError, WordRecordingError)) as caught:
        speak("Hello", program(f"cat >/dev/null; {lines}"))
    assert caught.value.hint

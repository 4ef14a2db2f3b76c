"""Recordings on the disk: found, read, measured; and every kind of file that is none."""

from __future__ import annotations

import builtins
from contextlib import suppress

import numpy as np
import pytest

from pi_controller.display import word_recordings


def test_find_returns_the_words_own_file_alone(record, tmp_path):
    path = record("dakota", "paguga")
    assert word_recordings.find(tmp_path, "dakota", "paguga") == path
    assert word_recordings.find(tmp_path, "dakota", "obojun") is None
    assert word_recordings.find(tmp_path, "ojibwe", "paguga") is None
    record("dakota", "stranger")
    assert word_recordings.find(tmp_path, "dakota", "stranger") is None
    assert word_recordings.find(tmp_path, "dakota", "../dakota/paguga") is None
    (tmp_path / "dakota" / "wheya.wav").mkdir()
    assert word_recordings.find(tmp_path, "dakota", "wheya") is None


def test_recorders_upper_case_names_are_found(record, tmp_path):
    record("dakota", "paguga").rename(tmp_path / "dakota" / "PAGUGA.WAV")
    (tmp_path / "dakota").rename(tmp_path / "Dakota")
    found = word_recordings.find(tmp_path, "dakota", "paguga")
    assert found == tmp_path / "Dakota" / "PAGUGA.WAV"
    assert word_recordings.load(found).name == "paguga"


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".ogg", ".mp3"])
def test_each_format_is_read(record, suffix):
    path = record("dakota", "paguga", suffix, rate=44100, seconds=0.5)
    clip = word_recordings.load(path)
    assert (clip.name, clip.rate) == ("paguga", 44100)
    assert clip.seconds == pytest.approx(0.5, abs=0.06)
    assert 0.4 < np.abs(clip.samples).max() < 0.6


def test_more_than_two_channels_become_one(record):
    assert word_recordings.load(record("dakota", "paguga", channels=2)).samples.shape[1] == 2
    assert word_recordings.load(record("dakota", "paguga", channels=6)).samples.shape[1] == 1


@pytest.mark.parametrize(
    "content", [b"", b"RIFF", b"RIFF\x24\x00\x00\x00WAVEfmt ", b"\x00" * 5000, b"not a sound\n" * 50]
)
def test_broken_file_is_refused_with_hint(tmp_path, content):
    path = tmp_path / "paguga.wav"
    path.write_bytes(content)
    with pytest.raises(word_recordings.WordRecordingError, match=r"paguga\.wav") as caught:
        word_recordings.load(path)
    assert caught.value.hint


def test_truncated_file_is_refused_or_shorter(record):
    whole = record("dakota", "paguga", seconds=1.0).read_bytes()
    path = record("dakota", "paguga")
    for kept in range(0, len(whole), 997):
        path.write_bytes(whole[:kept])
        with suppress(word_recordings.WordRecordingError):
            assert word_recordings.load(path).seconds <= 1.0


def test_no_sound_too_much_sound_and_no_numbers(record, tmp_path):
    import soundfile

    path = tmp_path / "paguga.wav"
    for samples, said in (
        (np.zeros((0, 1)), "contains no sound"),
        (np.zeros((int(8000 * word_recordings.MAX_WORD_S) + 1, 1)), "lasts over 10 s"),
        (np.full((8000, 1), np.nan), "contains no sound"),
    ):
        soundfile.write(path, samples, 8000, subtype="FLOAT")
        with pytest.raises(word_recordings.WordRecordingError, match=said):
            word_recordings.load(path)


@pytest.mark.parametrize("rate", [1, 1000, 3999, 192001, 1_000_000])
def test_unsupported_sample_rate_is_refused(tmp_path, rate):
    import soundfile

    path = tmp_path / "paguga.wav"
    soundfile.write(path, np.zeros((10, 1)), rate)
    with pytest.raises(word_recordings.WordRecordingError, match=f"{rate} samples a second") as caught:
        word_recordings.load(path)
    assert "44100" in caught.value.hint


def test_missing_decoder_is_reported_with_install_hint(record, monkeypatch):
    path, real = record("dakota", "paguga"), builtins.__import__

    def missing(name, *args):
        if name == "soundfile":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(word_recordings.WordRecordingError, match="soundfile is missing") as caught:
        word_recordings.load(path)
    assert "[voice]" in caught.value.hint


def test_folder_with_overlong_name_is_refused(tmp_path):
    assert word_recordings.is_folder(tmp_path)
    assert not word_recordings.is_folder(tmp_path / "none")
    assert not word_recordings.is_folder(tmp_path / ("x" * 5000))
    with pytest.raises(word_recordings.WordRecordingError, match="cannot be read"):
        word_recordings.find(tmp_path / ("x" * 5000), "dakota", "paguga")

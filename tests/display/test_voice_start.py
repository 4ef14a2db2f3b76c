"""The voice that the settings of a table start; here nothing but the test lets it play."""

from __future__ import annotations

import logging
from contextlib import ExitStack

import pytest
from memory_sound import MemorySound

from pi_controller.config.model import VoiceSection
from pi_controller.display import voice as at_table
from pi_controller.display.voice import MAX_WAITING_VIEWS, make_voice, start_voice
from pi_controller.table.view import Hit


@pytest.fixture
def say(view, started):
    """Return what lets a new voice call one word: `say(section)` returns its loudspeaker."""

    def say(section):
        sound = MemorySound(lambda: 0.0)
        with ExitStack() as stack:
            voice = make_voice(section, view(hits=()), stack, sound)
            voice.hear(view(hits=(Hit(4, found=True),), phase="show", calls=("it_stays",)))
            voice.step()
        return sound

    return say


def test_no_voice_starts_without_folder_or_english(view, started):
    with ExitStack() as stack:
        assert start_voice(VoiceSection(), view(), None, stack) is None
        assert start_voice(VoiceSection(), view(), print, stack) is print
    assert started == []


def test_voice_that_takes_no_views_keeps_the_newest(view, tmp_path, started):
    shown = []
    with ExitStack() as stack:
        publish = start_voice(VoiceSection(folder=str(tmp_path)), view(), shown.append, stack, MemorySound(float))
        for n in range(10 * MAX_WAITING_VIEWS):
            publish(view(seq=n))
    assert len(shown) == 10 * MAX_WAITING_VIEWS
    assert [one.seq for _, one in started[0].views] == [one.seq for one in shown[-MAX_WAITING_VIEWS:]]


@pytest.mark.parametrize("english", [False, True])
def test_english_is_spoken_if_settings_enable_it(tmp_path, monkeypatch, clip, say, english):
    monkeypatch.setattr(at_table, "speak", lambda sentence: clip(0.1, sentence))
    sound = say(VoiceSection(folder=str(tmp_path), english=english))
    assert [name for _, name, _ in sound.played] == ["It stays"] * english


def test_missing_folder_is_logged_and_table_plays(tmp_path, caplog, say):
    for folder in (tmp_path / "none", tmp_path / ("x" * 5000)):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            say(VoiceSection(folder=str(folder)))
        assert "see [voice] folder" in caplog.messages[0]


def test_the_quiet_hours_are_asked_at_each_word(record, tmp_path, say):
    record("dakota", "it_stays")
    hours = {"quiet_from": "00:00", "quiet_to": "23:59"}  # one minute of the day is loud
    sound = say(VoiceSection(folder=str(tmp_path), volume=0.9, quiet_volume=0.2, **hours))
    assert sound.played[0][2] in {0.2, 0.9}

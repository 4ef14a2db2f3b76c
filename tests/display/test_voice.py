"""The voice on virtual time: what is played and when, what gives way, and what happens when it cannot be."""

from __future__ import annotations

import logging

import pytest

from pi_controller.display.sound import Clip, SoundError
from pi_controller.display.voice import MAX_WAITING_VIEWS, STALE_S
from pi_controller.display.word_recordings import WordRecordingError
from pi_controller.table.view import Hit

MISSED, FOUND = Hit(2, found=False), Hit(4, found=True)


@pytest.fixture
def story(view):
    """Return the views of one hide: before the second hit, and after it with the words `calls`."""

    def story(*calls, hide=3):
        return view(hide=hide, hits=(MISSED,), owed="second"), view(
            hide=hide, hits=(MISSED, FOUND), phase="show", calls=calls, owed=None
        )

    return story


@pytest.fixture
def english(clip):
    """Return a voice of plain English that takes half a second for a sentence, and what it was asked."""
    asked = []

    def speak(sentence):
        asked.append(sentence)
        return clip(0.5, sentence)

    return speak, asked


def test_words_are_played_one_after_another_in_order(heard, record, tmp_path, story):
    for call, seconds in (("paguga", 0.4), ("wheya", 0.6)):
        record("dakota", call, seconds=seconds)
    one = heard(folder=tmp_path, gain=lambda: 0.7)
    one.hear(*story("paguga", "wheya"))
    one.run(3.0)
    (t1, first, gain), (t2, second, _) = one.sound.played
    assert (first, second, gain) == ("paguga", "wheya", 0.7)
    assert t2 - t1 == pytest.approx(0.4, abs=0.03)
    assert not one.voice.step()


def test_word_without_recording_is_silent(heard, record, tmp_path, story):
    record("dakota", "wheya")
    one = heard(folder=tmp_path)
    one.hear(*story("paguga", "wheya", "obojun"))
    one.run(2.0)
    assert one.names == ["wheya"]
    for silent in (heard(), heard(folder=tmp_path / "none")):
        silent.hear(*story("paguga", "wheya"))
        silent.run(2.0)
        assert silent.names == []


def test_english_voice_speaks_english_words_if_enabled(heard, english, story):
    speak, asked = english
    one = heard()
    one.hear(*story("it_stays", "paguga"))
    one.run(3.0)
    assert one.names == []
    one = heard(speak=speak)
    one.hear(*story("it_stays", "paguga"))
    one.run(5.0)
    assert one.names[0] == "It stays"
    assert not any("paguga" in sentence.lower() or "Paguga" in sentence for sentence in asked)


def test_a_recording_prevails_over_the_english_voice(heard, english, record, tmp_path, story):
    record("dakota", "it_stays")
    one = heard(folder=tmp_path, speak=english[0])
    one.hear(*story("it_stays"))
    one.run(1.0)
    assert one.names[0] == "it_stays"


def test_sentence_waits_for_words_and_yields_to_next(heard, english, record, tmp_path, view):
    record("dakota", "paguga", seconds=1.0)
    one = heard(folder=tmp_path, speak=english[0])
    before = view(hits=(MISSED,), owed="second")
    after = view(hits=(MISSED, FOUND), phase="show", calls=("paguga",))
    one.hear(before, after, view(hide=4, phase="hide", hider="B", calls=("paguga",)))
    one.run(4.0)
    assert one.names == ["paguga", "Team B hides the bead"], "that the bead is shown is over by then"


def test_outdated_sentence_is_dropped_after_new_words(heard, english, record, tmp_path, view):
    for call in ("paguga", "it_stays"):
        record("dakota", call, seconds=1.0)
    one = heard(folder=tmp_path, speak=english[0])
    one.hear(view(hits=(MISSED,), owed="second"), view(hits=(MISSED, FOUND), phase="show", calls=("paguga",)))
    one.run(0.2)
    one.hear(view(hide=4, hits=(FOUND,), phase="check", calls=("it_stays",)))
    one.run(2.5)
    assert one.names == ["paguga", "it_stays"]


def test_new_words_cut_off_the_playing_word(heard, record, tmp_path, story):
    record("dakota", "paguga", seconds=2.0)
    record("dakota", "it_stays", seconds=0.5)
    one = heard(folder=tmp_path)
    one.hear(*story("paguga"))
    one.run(0.5)
    one.hear(*story("it_stays", hide=4))
    one.run(3.0)
    (t1, _, _), (t2, name, _) = one.sound.played
    assert name == "it_stays"
    assert t2 - t1 < 0.6


def test_burst_of_words_plays_newest_with_bounded_queue(heard, record, tmp_path, story):
    for call in ("paguga", "it_stays"):
        record("dakota", call, seconds=0.5)
    one = heard(folder=tmp_path)
    one.voice.hear(story()[0])
    one.run(0.1)
    for hide in range(10, 5000):
        one.hear(*story("paguga", hide=hide))
    one.hear(*story("it_stays", hide=5001))
    assert len(one.voice.views) == MAX_WAITING_VIEWS
    one.run(20.0)
    assert one.names == ["it_stays"]


def test_stale_word_is_not_played(heard, record, tmp_path, story):
    record("dakota", "paguga")
    one = heard(folder=tmp_path)
    one.hear(*story("paguga"))
    one.clock.t += STALE_S + 0.1
    one.run(2.0)
    assert one.names == []
    one.hear(*story("paguga", hide=4))
    one.clock.t += STALE_S - 0.1
    one.run(2.0)
    assert one.names == ["paguga"]


def test_restarted_table_replays_no_earlier_words(heard, record, tmp_path, story):
    record("dakota", "paguga")
    one = heard(folder=tmp_path)
    one.hear(story("paguga")[1])
    one.run(2.0)
    assert one.names == []


def test_broken_recording_is_logged_once_and_others_play(heard, record, tmp_path, story, caplog):
    record("dakota", "paguga").write_bytes(b"broken")
    record("dakota", "wheya")
    one = heard(folder=tmp_path)
    with caplog.at_level(logging.WARNING):
        for hide in range(3, 6):
            one.hear(*story("paguga", "wheya", hide=hide))
            one.run(1.0)
    assert one.names == ["wheya"] * 3
    (said,) = caplog.messages
    assert "paguga.wav" in said
    assert "save it as" in said


@pytest.mark.parametrize(
    "error", [SoundError("it is not installed", "install it"), WordRecordingError("no sound", "look")]
)
def test_failing_english_voice_is_logged_once_recordings_play(heard, record, tmp_path, story, caplog, error):
    def speak(sentence):
        raise error

    record("dakota", "paguga")
    one = heard(folder=tmp_path, speak=speak)
    with caplog.at_level(logging.WARNING):
        for hide in range(3, 6):
            one.hear(*story("paguga", hide=hide))
            one.run(1.0)
    assert one.names == ["paguga"] * 3
    (said,) = caplog.messages
    assert error.message in said
    assert error.hint in said


def test_hanging_english_voice_is_retried_after_a_minute(heard, record, tmp_path, story, clip):
    asked = []

    def speak(sentence):
        asked.append(one.clock.t)
        if len(asked) < 3:
            one.clock.t += 3.0
            raise SoundError("it does not speak", "switch it off")
        return clip(0.2, sentence)

    record("dakota", "paguga", seconds=0.2)
    one = heard(folder=tmp_path, speak=speak)
    one.hear(story()[0])
    one.run(1.0)
    assert len(asked) == 1
    for hide in range(3, 13):
        one.hear(*story("paguga", hide=hide))
        one.run(1.0)
    assert len(asked) == 1
    assert one.names == ["paguga"] * 10
    one.run(60.0)
    for hide in range(13, 15):
        one.hear(*story("it_stays", hide=hide))
        one.run(65.0)
    outcome = "Found at the second hit: it stays, and Team A hide next"
    assert one.names[10:] == ["It stays", outcome], "it is heard as soon as it speaks again"


def test_lost_loudspeaker_is_logged_once_and_plays_again(heard, record, tmp_path, story, caplog):
    record("dakota", "paguga", seconds=0.2)
    one = heard(folder=tmp_path)
    with caplog.at_level(logging.WARNING):
        for hide, fault in enumerate(["", "it was pulled out", "it was pulled out", "", ""], 3):
            one.sound.fails = fault
            one.hear(*story("paguga", hide=hide))
            one.run(1.0)
    assert len(one.sound.played) == 3
    lost, back = caplog.messages
    assert "the voice is silent: it was pulled out" in lost
    assert "is back" in back


class LateFault:
    """A loudspeaker that takes a sound and fails while it plays."""

    def __init__(self):
        self.begun, self._fails = 0, False

    def play(self, clip: Clip, gain: float):
        self.begun += 1
        self._fails = True

    def is_playing(self):
        if self._fails:
            self._fails = False
            raise SoundError("it was pulled out", "plug it in")
        return False

    def stop(self):
        pass


def test_words_after_a_failed_word_are_dropped(heard, record, tmp_path, story):
    record("dakota", "paguga")
    record("dakota", "wheya")
    sound = LateFault()
    one = heard(folder=tmp_path, sound=sound)
    one.hear(*story("paguga", "wheya"))
    one.run(2.0)
    assert sound.begun == 1
    one.hear(*story("paguga", hide=4))
    one.run(2.0)
    assert sound.begun == 2

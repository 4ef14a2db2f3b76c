"""A recording goes through the same path as the mat did, and everything comes out the same."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from pi_controller.calibration.profile import Profile, TouchProfile
from pi_controller.recording.entries import RecordingError, RecordingGap
from pi_controller.recording.replaying import replay_events
from pi_controller.recording.store import Recording
from pi_controller.sensing.events import HandIn


def test_replayed_mat_events_equal_those_of_the_table(played, recording):
    feeling = replay_events(*recording)
    assert feeling.events == played.log.events
    assert feeling.same > 20
    assert feeling.other == 0
    assert feeling.lost == []


def test_a_recording_that_was_tampered_with_is_noticed(smooth):
    recording = Recording(smooth.path)
    entries = list(recording.entries())
    loud = max(range(len(entries)), key=lambda n: getattr(entries[n], "samples", np.zeros(1)).max())
    entries[loud] = replace(entries[loud], samples=entries[loud].samples // 64)
    assert replay_events(recording.header, entries).other > 0


@pytest.mark.slow
def test_the_mat_is_replayed_with_its_own_calibration(smooth):
    recording = Recording(smooth.path)
    entries = list(recording.entries())
    rest = (100.0,) * 12
    profile = Profile("p", "2026-11-01", "1", "b", touch=TouchProfile(900.0, 800.0, 850.0, rest, rest, rest))
    assert any(isinstance(event, HandIn) for event in smooth.log.events)
    deaf = replay_events(msgspec.structs.replace(recording.header, profile=msgspec.to_builtins(profile)), entries)
    assert deaf.other > 0
    assert not any(isinstance(event, HandIn) for event in deaf.events)
    assert replay_events(msgspec.structs.replace(recording.header, depth_mm=18.0), entries).other > 0
    assert replay_events(msgspec.structs.replace(recording.header, magnetometers=24, depth_mm=30.0), entries).other == 0
    with pytest.raises(RecordingError, match="profile"):
        replay_events(msgspec.structs.replace(recording.header, profile={"name": 7}), entries)


def test_after_something_was_lost_it_says_so(smooth):
    recording = Recording(smooth.path)
    entries = list(recording.entries())
    entries[len(entries) // 2 : len(entries) // 2 + 400] = [RecordingGap(15.0, 17.0, "gone")]
    assert replay_events(recording.header, entries).lost == [RecordingGap(15.0, 17.0, "gone")]

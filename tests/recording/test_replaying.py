"""A recording goes through the same path as the mat did, and everything comes out the same."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from pi_controller.calibration.profile import Profile, TouchProfile
from pi_controller.recording.format import RecordingError, RecordingGap
from pi_controller.recording.replaying import (
    diff_strikes,
    first_difference,
    hide_at,
    judge_calls,
    replay_events,
    replay_table,
    reporting_intervals,
    select_reported,
    strikes_of,
    strip_random,
)
from pi_controller.recording.store import Recording
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
from pi_controller.rules import registry
from pi_controller.sensing.events import HandIn
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation


@pytest.fixture(scope="module", params=["smooth", "judged_game"])
def played(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def recording(played):
    recording = Recording(played.path)
    return recording.header, list(recording.entries())


def facts(records):
    return [(batch, strip_random(fact)) for batch, fact in records]


def test_replayed_mat_events_equal_those_of_the_table(played, recording):
    feeling = replay_events(*recording)
    assert feeling.events == played.log.events
    assert feeling.same > 20
    assert feeling.other == 0
    assert feeling.lost == []


def test_the_facts_are_exactly_those_of_the_journal(played, recording):
    again = replay_table(*recording, played.records)
    assert again.events == played.log.events
    assert facts(again.records) == facts(played.records)
    assert again.stopped == ""


def test_game_without_questions_replays_to_same_facts(smooth):
    assert smooth.questions == 0
    recording = Recording(smooth.path)
    again = replay_table(recording.header, recording.entries())
    assert facts(again.records) == facts(smooth.records)


def test_a_recording_that_was_tampered_with_is_noticed(smooth):
    recording = Recording(smooth.path)
    entries = list(recording.entries())
    loud = max(range(len(entries)), key=lambda n: getattr(entries[n], "samples", np.zeros(1)).max())
    entries[loud] = replace(entries[loud], samples=entries[loud].samples // 64)
    assert replay_events(recording.header, entries).other > 0


@pytest.mark.slow
def test_replay_with_other_settings_reports_differences(judged_game):
    recording = Recording(judged_game.path)
    entries = list(recording.entries())
    deaf = replace(StrikeSettings(), peak_db=40.0)
    before = strikes_of(replay_events(recording.header, entries).events)
    stretches = reporting_intervals(entries)
    assert select_reported(before, stretches) == before
    same = select_reported(
        strikes_of(replay_events(recording.header, entries, StrikeSettings(), always=True).events), stretches
    )
    assert diff_strikes(before, same) == []
    now = select_reported(strikes_of(replay_events(recording.header, entries, deaf, always=True).events), stretches)
    differing = diff_strikes(before, now)
    assert any(one.now is None for one in differing)
    assert {hide_at(judged_game.records, one.t) for one in differing} <= set(range(1, 40))
    again = replay_table(recording.header, entries, judged_game.records, deaf)
    was, _ = first_difference(judged_game.records, again.records, exactly=False) or (None, None)
    assert was is not None
    assert was.t >= differing[0].t


def test_resumed_game_replay_needs_its_matching_journal(tmp_path, smooth):
    """The journal tells what came before; the recording begins within the game."""
    game = registry.game("dakota", {"points": "1"})
    recording = Recording(smooth.path)
    with pytest.raises(RecordingError, match="middle of a game"):
        replay_table(replace_header(recording.header, seq=3), recording.entries())
    with Simulation(2, tmp_path / "j.sqlite", game, mischief=Mischief(0, 0)) as table:
        other = list(table.journal.read())
    with pytest.raises(RecordingError, match="ends before"):
        replay_table(replace_header(recording.header, seq=300), recording.entries(), other)
    with pytest.raises(RecordingError, match="different games"):
        replay_table(replace_header(recording.header, game="ojibwe", seq=3), recording.entries(), other)


def replace_header(header, **changed):
    return msgspec.structs.replace(header, **changed)


@pytest.mark.slow
def test_the_mat_is_replayed_with_its_own_calibration(smooth):
    recording = Recording(smooth.path)
    entries = list(recording.entries())
    rest = (100.0,) * 12
    profile = Profile("p", "2026-11-01", "1", "b", touch=TouchProfile(900.0, 800.0, 850.0, rest, rest, rest))
    assert any(isinstance(event, HandIn) for event in smooth.log.events)
    deaf = replay_events(replace_header(recording.header, profile=msgspec.to_builtins(profile)), entries)
    assert deaf.other > 0
    assert not any(isinstance(event, HandIn) for event in deaf.events)
    assert replay_events(replace_header(recording.header, depth_mm=18.0), entries).other > 0
    assert replay_events(replace_header(recording.header, magnetometers=24, depth_mm=30.0), entries).other == 0
    with pytest.raises(RecordingError, match="profile"):
        replay_events(replace_header(recording.header, profile={"name": 7}), entries)


def test_after_something_was_lost_it_says_so(smooth):
    recording = Recording(smooth.path)
    entries = list(recording.entries())
    entries[len(entries) // 2 : len(entries) // 2 + 400] = [RecordingGap(15.0, 17.0, "gone")]
    assert replay_events(recording.header, entries).lost == [RecordingGap(15.0, 17.0, "gone")]
    assert "gone" in replay_table(recording.header, entries).stopped


def test_judge_calls_are_read_back_from_their_facts(tmp_path, judged_game):
    calls = judge_calls(judged_game.records)
    assert any(isinstance(call, JudgeAnswer) for call in calls)
    with Simulation(2, tmp_path / "j.sqlite", registry.game("dakota"), mischief=Mischief(0, 0)) as table:
        said = [
            JudgeAction(1.0, {"do": "toss", "winner": "A"}),
            JudgeHideAgain(2.0, "spilt"),
            JudgeAction(3.0, {"do": "hit", "found": False, "pad": 2}),
            JudgeUndo(4.0, "it was not"),
            JudgeAction(5.0, {"do": "foul", "by": "hider", "kind": "two_beads"}),
        ]
        for call in said:
            table.daemon.table.judge(call)
        assert judge_calls(list(table.journal.read())) == said

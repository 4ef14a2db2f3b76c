"""A recorded table judged again: the same facts, or what other settings would have changed."""

from dataclasses import replace

import msgspec
import pytest
from load_file import load_file

from pi_controller.recording.entries import RecordingError, RecordingGap
from pi_controller.recording.replaying import replay_events
from pi_controller.recording.store import Recording
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
from pi_controller.rules import registry
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation

tool = load_file("tests/tools/judge_again.py")
pytestmark = pytest.mark.slow


def facts(records):
    return [(batch, tool.strip_random(fact)) for batch, fact in records]


def test_the_facts_are_exactly_those_of_the_journal(played, recording):
    again = tool.replay_table(*recording, played.records)
    assert again.events == played.log.events
    assert facts(again.records) == facts(played.records)
    assert again.stopped == ""


def test_game_without_questions_replays_to_same_facts(smooth):
    assert smooth.questions == 0
    recording = Recording(smooth.path)
    again = tool.replay_table(recording.header, recording.entries())
    assert facts(again.records) == facts(smooth.records)


def test_resumed_game_replay_needs_its_matching_journal(tmp_path, smooth):
    """The journal tells what came before; the recording begins within the game."""
    game = registry.game("dakota", {"points": "1"})
    recording = Recording(smooth.path)
    with pytest.raises(RecordingError, match="middle of a game"):
        tool.replay_table(msgspec.structs.replace(recording.header, seq=3), recording.entries())
    with Simulation(2, tmp_path / "j.sqlite", game, mischief=Mischief(0, 0)) as table:
        other = list(table.journal.read())
    with pytest.raises(RecordingError, match="ends before"):
        tool.replay_table(msgspec.structs.replace(recording.header, seq=300), recording.entries(), other)
    with pytest.raises(RecordingError, match="different games"):
        tool.replay_table(msgspec.structs.replace(recording.header, game="ojibwe", seq=3), recording.entries(), other)


def test_replayed_table_stops_at_a_gap(smooth):
    recording = Recording(smooth.path)
    entries = list(recording.entries())
    entries[len(entries) // 2 : len(entries) // 2 + 400] = [RecordingGap(15.0, 17.0, "gone")]
    assert "gone" in tool.replay_table(recording.header, entries).stopped


def test_judge_calls_are_read_back_from_their_facts(tmp_path, judged_game):
    calls = tool.judge_calls(judged_game.records)
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
        assert tool.judge_calls(list(table.journal.read())) == said


def test_same_settings_make_no_difference(judged_game):
    recording = Recording(judged_game.path)
    entries = list(recording.entries())
    before = tool.strikes_of(replay_events(recording.header, entries).events)
    same = tool.detect_counted(recording.header, entries, StrikeSettings())
    assert before
    assert tool.diff_strikes(before, same) == []


def test_deaf_settings_lose_strikes(judged_game):
    recording = Recording(judged_game.path)
    entries = list(recording.entries())
    before = tool.strikes_of(replay_events(recording.header, entries).events)
    now = tool.detect_counted(recording.header, entries, replace(StrikeSettings(), peak_db=40.0))
    differing = tool.diff_strikes(before, now)
    assert any(one.now is None for one in differing)
    assert {tool.hide_at(judged_game.records, one.t) for one in differing} <= set(range(1, 40))


def test_program_prints_first_different_fact(judged_game, tmp_path, capsys):
    settings = tmp_path / "s.toml"
    settings.write_text("[strikes]\nthreshold_db = 40.0\n")
    argv = [str(judged_game.path), str(judged_game.journal)]
    assert tool.main(argv) == 0
    facts = len(judged_game.records)
    assert f"judged as in the journal: {facts} of its {facts} facts" in capsys.readouterr().out
    assert tool.main([*argv, "--settings", str(settings)]) == 0
    out = capsys.readouterr().out
    assert "judged otherwise, first at:" in out
    assert "-> nothing" in out

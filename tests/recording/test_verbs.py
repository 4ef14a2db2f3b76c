"""The verbs, and the table that is watched as its settings want it."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from load_file import load_file

from pi_controller.cli.replay import game_replay as replay
from pi_controller.cli.sensors import game_review as review
from pi_controller.config import Settings, read_settings
from pi_controller.errors import UsageError
from pi_controller.recording.entries import RecordingError
from pi_controller.recording.hits import StrikeClipper, hits_path, open_hits, strokes
from pi_controller.recording.observers import make_observers
from pi_controller.recording.recorder import HOLD_BYTES
from pi_controller.recording.replaying import replay_events
from pi_controller.recording.store import Recording
from pi_controller.referee.facts import StrikeFelt, StrikeKept
from pi_controller.rules import registry
from pi_controller.runtime.assembly import open_table
from pi_controller.runtime.daemon import Daemon
from pi_controller.sensing.sensors import MatSensors
from pi_controller.sensing.strikes import StrikeSettings
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation
from pi_controller.table.mats import Mat

tool = load_file("tests/tools/judge_again.py")


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reviewed")
    game = registry.game("dakota", {"points": "1"})
    with Simulation(6, folder / "j.sqlite", game, mischief=Mischief(0, 0.5)) as table:
        around = StrikeClipper(lambda: open_hits(hits_path(folder / "j.sqlite")), StrikeSettings())
        table.daemon.observers.append(around)
        table.play()
        around.close()
        around.close()
        told = [fact for _, fact in table.journal.read() if isinstance(fact, StrikeFelt | StrikeKept)]
    return folder / "j.sqlite", told


@pytest.mark.slow
def test_every_due_strike_is_stored_with_its_samples(reviewed):
    journal, told = reviewed
    kept = strokes(hits_path(journal))
    assert [(one.t, one.pads) for one in kept] == [(fact.t, fact.pads) for fact in told]
    felt = [(one, fact) for one, fact in zip(kept, told, strict=True) if isinstance(fact, StrikeFelt)]
    assert [one.margin_db for one, _ in felt] == [fact.margin_db for _, fact in felt]
    assert len(kept) > 5
    for one in kept[:-1]:  # the game's last hit ends the game, and the samples with it
        assert one.samples.shape == (1600, 4)
        assert one.t - one.start == pytest.approx(0.2, abs=0.001)
        struck = one.samples[:, one.pads[0] - 1].astype(int)
        assert abs(struck[800:1000]).max() > 3 * abs(struck[:780]).max()
    assert [one.hide for one in kept] == sorted(one.hide for one in kept)


@pytest.mark.slow
def test_review_draws_them(reviewed, tmp_path, capsys):
    journal, _ = reviewed
    kept = strokes(hits_path(journal))
    picture = tmp_path / "hit.svg"
    assert review([str(journal), "--svg", str(picture)]) == 0
    last = [one for one in kept if one.hide == kept[-1].hide]
    assert capsys.readouterr().out.count(f"hide {kept[-1].hide}: ") == len(last)
    assert review([str(journal), "--hide", "1", "--svg", str(picture)]) == 0
    assert f"hide {kept[0].hide}: " in capsys.readouterr().out
    assert review([str(journal), "--all", "--svg", str(tmp_path / "h.svg")]) == 0
    assert len(list(tmp_path.glob("h-*.svg"))) == len(kept)
    with pytest.raises(RecordingError, match="of hide 99"):
        review([str(journal), "--hide", "99"])
    with pytest.raises(UsageError):
        review([str(journal), "--hide", "1", "--all"])
    with pytest.raises(RecordingError, match="no stored hits"):
        review([str(tmp_path / "other.sqlite")])


@pytest.mark.slow
def test_replay_json_lists_events_and_a_summary(smooth, capsys):
    assert replay([str(smooth.path), "--json"]) == 0  # what is in the file says what it is
    *events, summary = map(json.loads, capsys.readouterr().out.splitlines())
    assert len(events) == len(smooth.log.events)
    assert summary["as_at_the_table"] == summary["checkpoints"] > 0


@pytest.mark.slow
def test_replay_of_damaged_recording_fails_after_summary(smooth, tmp_path, capsys):
    copy = tmp_path / "copy.sensors"
    data = smooth.path.read_bytes()
    copy.write_bytes(data[: len(data) // 2])
    assert replay([str(copy)]) == 1
    out = capsys.readouterr().out
    assert "the rest is left out: copy.sensors" in out
    assert "same strikes as at the table: yes" in out


@pytest.mark.slow
def test_replay_of_a_journal_is_as_before(smooth, capsys):
    assert replay([str(smooth.journal)]) == 0
    assert "\nEnd: " in capsys.readouterr().out


def settings_in(folder, **changed):
    keys = {"sensors": "true", "hits": "true"} | changed
    path = folder / "s.toml"
    lines = "\n".join(f"{key} = {value}" for key, value in keys.items())
    path.write_text(
        f'[table]\njournal = "{folder / "table.sqlite"}"\n[board]\nport = "none"\n[game.options]\npoints = 1\n'
        f'[recording]\nfolder = "{folder / "rec"}"\n{lines}\n'
    )
    return read_settings(path)


def test_no_observers_are_made_with_recording_off(tmp_path):
    assert (Settings().recording.sensors, Settings().recording.hits) == (False, False)
    with ExitStack() as stack:
        table = open_table(settings_in(tmp_path, sensors="false", hits="false"), 5.0)
        stack.callback(table.journal.close)
        assert make_observers(settings_in(tmp_path, sensors="false", hits="false"), table, 5.0, stack) == []
        assert not (tmp_path / "rec").exists()


def test_unwritable_recordings_are_logged_and_table_plays(tmp_path, caplog):
    (tmp_path / "rec").write_text("a file where the folder should be")
    with ExitStack() as stack:
        settings = settings_in(tmp_path)
        table = open_table(settings, 5.0)
        stack.callback(table.journal.close)
        found = make_observers(settings, table, 5.0, stack)
    assert len(found) == 1
    assert "recordings cannot be kept" in caplog.text


def test_restarted_table_writes_a_second_recording(tmp_path):
    """Two runs of one game, two recordings; the second is judged from where the journal then stood."""
    settings = settings_in(tmp_path)
    game = registry.game("dakota", {"points": "1"})
    with ExitStack() as stack:
        table = open_table(settings, 0.0)
        stack.callback(table.journal.close)
        make_observers(settings, table, 0.0, stack)
        from pi_controller.referee.judge import JudgeAction

        table.judge(JudgeAction(1.0, {"do": "toss", "winner": "A"}))
        table.judge(JudgeAction(2.0, {"do": "hit", "found": False, "pad": 2}))
    with Simulation(6, tmp_path / "sim.sqlite", game, mischief=Mischief(0, 0)) as simulation, ExitStack() as stack:
        table = open_table(settings, 10.0)
        simulation.daemon.table.journal.close()
        source = simulation.daemon.source
        simulation.daemon = Daemon(table, [Mat(source, MatSensors())], simulation.buttons, simulation.strip)
        stack.callback(table.journal.close)
        simulation.daemon.observers += make_observers(settings, table, 10.0, stack)
        for _ in range(400):
            simulation.tick()
        facts = list(table.journal.read())
    first, second = sorted((tmp_path / "rec").iterdir(), key=lambda path: len(path.name))
    assert Recording(first).header.seq == 0
    recording = Recording(second)
    assert recording.header.seq == 3
    assert recording.header.teams == {"A": "A", "B": "B"}
    assert (recording.header.magnetometers, recording.header.depth_mm) == (24, 30.0)
    entries = list(recording.entries())
    assert replay_events(recording.header, entries).other == 0
    again = tool.replay_table(recording.header, entries, facts)
    assert tool.first_difference(facts[:4], again.records) is None


def test_the_page_shows_the_settings_as_they_are(tmp_path):
    text = (Path(__file__).parents[2] / "pi_controller/help/pages/reference/recordings.md").read_text("utf-8")
    block = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))
    (tmp_path / "s.toml").write_text(block[: block.index("moccasin-mat")], "utf-8")
    assert read_settings(tmp_path / "s.toml").recording == Settings().resolve_paths(tmp_path).recording

    assert HOLD_BYTES == 32 << 20, "the page says 32 MB"

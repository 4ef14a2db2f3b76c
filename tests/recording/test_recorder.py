"""The recorder keeps everything, tells nothing early, and never stands in the way of the game."""

import os

import pytest

from pi_controller.board.messages import Field, Piezo, Touch
from pi_controller.host.retention import DAY_S, Retention
from pi_controller.recording.entries import Header, RecordingGap
from pi_controller.recording.observers import RECORDINGS, new_path
from pi_controller.recording.recorder import Recorder
from pi_controller.recording.store import Recording, create_recording, journal_path
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.simulation import Simulation

CLOCKS_S = 0.02
"""The board's clock is mapped to the host's: a reading may seem to come this much after the step that took it in."""


def readings(path):
    return [entry for entry in Recording(path).entries() if isinstance(entry, Piezo | Touch | Field)]


def newest_of(data, folder):
    """Return the time of the newest reading that can be read from `data`, all bytes of a recording."""
    copy = folder / "copy.sensors"
    copy.write_bytes(data)
    return max((entry.t for entry in readings(copy)), default=float("-inf"))


def test_readings_are_recorded_in_order(smooth):
    kept = readings(smooth.path)
    live = [message for message in smooth.log.messages if isinstance(message, Piezo | Touch | Field)]
    assert [(type(entry), entry.t) for entry in kept] == [(type(entry), entry.t) for entry in live]
    for a, b in zip(kept, live, strict=True):
        if isinstance(a, Piezo):
            assert (a.index, a.rate, a.full_scale, a.samples.tobytes()) == (
                b.index,
                b.rate,
                b.full_scale,
                b.samples.tobytes(),
            )


def test_no_reading_is_readable_before_its_hide_ends(played, tmp_path):
    newest = [(t, newest_of(data, tmp_path)) for t, data in played.log.contents]
    settled, phase_before = float("-inf"), ""
    seen = 0
    for t, phase, _, _ in played.log.sizes:
        if phase in ("show", "over") and phase_before not in ("show", "over"):
            settled = t
        # also while the bead is shown: the next hide may have begun already
        known = [reading for since, reading in newest if since <= t][-1]
        assert known <= settled + CLOCKS_S
        seen += known > float("-inf") and phase == "hit"
        phase_before = phase
    assert seen > 50, "earlier hides can be read while the next is played"


def test_files_stay_unchanged_until_hide_is_over(played):
    changed = [t for t, _ in played.log.contents[1:]]
    hides = [t for t, phase, *_ in played.log.sizes if phase in ("show", "over")]
    assert len(changed) > 3
    assert all(any(0 <= t - shown < 2.0 for shown in hides) for t in changed)
    beside = {names for *_, names in played.log.sizes}
    assert beside == {(("game.sensors-journal", 0),)}, "what is beside it is empty between two commits"


@pytest.fixture
def table(tmp_path):
    from pi_controller.rules import registry

    with Simulation(5, tmp_path / "j.sqlite", registry.game("dakota", {"points": "1"}), mischief=Mischief(0, 0)) as sim:
        yield sim


def play_until(table, phase, hide=1, limit=4000):
    for _ in range(limit):
        if table.view.phase == phase and table.view.hide == hide:
            return
        table.tick()
    raise AssertionError(f"no {phase} in hide {hide}")


def test_recorder_closed_in_mid_hide_drops_that_hide(table, tmp_path):
    path = tmp_path / "x.sensors"
    recorder = Recorder(create_recording(path, Header(0.0)), table.daemon.table)
    table.daemon.observers.append(recorder)
    play_until(table, "show")
    shown = table.t
    play_until(table, "hit", hide=2)
    assert "pad" not in repr(recorder)
    recorder.close()
    recorder.close()
    assert max(entry.t for entry in readings(path)) <= shown + CLOCKS_S
    *_, last = [entry for entry in Recording(path).entries() if isinstance(entry, RecordingGap)]
    assert last.why == "the hide was not over"
    assert last.until == pytest.approx(table.t, abs=0.1)


def test_hide_exceeding_memory_loses_its_beginning(table, tmp_path):
    path = tmp_path / "x.sensors"
    recorder = Recorder(create_recording(path, Header(0.0)), table.daemon.table, hold=60_000)
    table.daemon.observers.append(recorder)
    play_until(table, "hit")
    assert recorder.held_bytes <= 60_000
    play_until(table, "show")
    for _ in range(10):
        table.tick()
    recorder.close()
    lost = next(entry for entry in Recording(path).entries() if isinstance(entry, RecordingGap))
    assert lost.why == "the hide outgrew the memory"
    assert 0.0 < lost.until < readings(path)[0].t + 0.1


def test_full_disk_ends_recording_but_not_game(table, tmp_path, caplog):
    file = create_recording(tmp_path / "x.sensors", Header(0.0))
    file._db.execute("PRAGMA max_page_count = 20")
    recorder = Recorder(file, table.daemon.table)
    table.daemon.observers.append(recorder)
    play_until(table, "hide", hide=2)
    assert "disk is full" in caplog.text
    assert repr(recorder) == "<Recorder, stopped>"
    recorder.close()


def test_recording_stops_at_its_size_limit(table, tmp_path, caplog):
    retention = Retention(tmp_path, "*.sensors", 30, 10_000)
    recorder = Recorder(create_recording(tmp_path / "x.sensors", Header(0.0), retention), table.daemon.table)
    table.daemon.observers.append(recorder)
    play_until(table, "hide", hide=2)
    assert "reached its size limit" in caplog.text
    assert readings(tmp_path / "x.sensors") == []


def test_old_and_excess_files_are_deleted(tmp_path):
    folder, begun = tmp_path / "a" / "b", 1_700_000_000.0
    paths = []
    for n in range(5):
        paths.append(new_path(folder, begun + n * DAY_S))
        paths[-1].write_bytes(bytes(100))
        os.utime(paths[-1], times=(begun + n * DAY_S,) * 2)
        journal_path(paths[-1]).write_bytes(b"")
    assert paths[0].name == "20231114T221320Z.sensors"
    assert new_path(folder, begun).name == "20231114T221320Z-2.sensors"
    for name in ("notes.txt", "quiet.sensors"):
        (folder / name).write_text("mine")
        os.utime(folder / name, times=(0, 0))
    now, pattern = begun + 4 * DAY_S, RECORDINGS
    clock = {"wall": lambda: now, "steady": lambda: 0.0, "clock_set": lambda _: True}
    assert Retention(folder, pattern, 3, 10_000, **clock).make_room(paths[-1], 100)
    assert [path.exists() for path in paths] == [False, True, True, True, True]
    assert [journal_path(path).exists() for path in paths] == [False, True, True, True, True]
    assert Retention(folder, pattern, 30, 310, **clock).make_room(paths[-1], 120)
    assert [path.exists() for path in paths] == [False, False, False, True, True]
    assert not Retention(folder, pattern, 30, 310, **clock).make_room(paths[-1], 400)
    assert paths[-1].exists()
    assert (folder / "notes.txt").exists()
    assert (folder / "quiet.sensors").exists()

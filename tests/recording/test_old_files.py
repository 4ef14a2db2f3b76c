"""Recordings and hits written before both were block stores; `old/` was made by the last version that wrote them."""

import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pi_controller.board.messages import Piezo
from pi_controller.cli.replay import replay
from pi_controller.cli.sensors import review
from pi_controller.recording.format import RecordingError
from pi_controller.recording.hits import HitStore, ReviewError, stored_hits, stroke, strokes
from pi_controller.recording.replaying import replay_events
from pi_controller.recording.store import Recording, is_recording

OLD = Path(__file__).parent / "old" / "game.sensors"
HITS = OLD.with_name("game.sqlite.hits")
TOLD = [
    (1, 1, 4.0429312360406735, 3.84292742974586, 4000.0, 2048, (1,), 27.0, True, (1600, 4), 962065801),
    (2, 1, 4.433923665255113, 4.233919897439595, 4000.0, 2048, (3,), 16.3, True, (1600, 4), 693736694),
]
"""What the last version that wrote these hits read from them; the last number is a CRC of the samples."""


def told(path):
    return [
        (
            hit.id, one.hide, one.t, one.start, one.rate, one.full_scale, one.pads, one.margin_db, one.sure,
            one.samples.shape, zlib.crc32(one.samples.tobytes()),
        )
        for hit, one in zip(stored_hits(path), strokes(path), strict=True)
    ]  # fmt: skip


def test_old_recording_is_read_and_replays_the_same(capsys):
    recording = Recording(OLD)
    entries = list(recording.entries())
    assert is_recording(OLD)
    assert (recording.header.game, recording.header.table) == ("dakota", "Table 1")
    assert (len(entries), recording.damaged) == (888, 0)
    samples = b"".join(entry.samples.tobytes() for entry in entries if isinstance(entry, Piezo))
    assert zlib.crc32(samples) == 65351290
    replayed = replay_events(recording.header, entries)
    assert (replayed.same, replayed.other, len(replayed.events)) == (5, 0, 16)
    assert replay([str(OLD)]) == 0
    assert "same strikes as at the table: yes, 5 of 5 checkpoints" in capsys.readouterr().out


def test_damaged_old_recording_is_read_around_the_damage(tmp_path):
    data, path = OLD.read_bytes(), tmp_path / "x.sensors"
    whole = len(list(Recording(OLD).entries()))
    path.write_bytes(data[:-1] + bytes(4096))
    torn = Recording(path)
    assert 0 < len(list(torn.entries())) < whole
    assert torn.damaged > 4096
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 0x41
    path.write_bytes(damaged)
    recording = Recording(path)
    left = list(recording.entries())
    assert whole * 0.6 < len(left) < whole
    assert 1000 < recording.damaged < 12_000
    path.write_bytes(data[:8] + b"MMD" + (10).to_bytes(4, "little") + bytes(14) + data[8:])
    recording = Recording(path)
    assert (len(list(recording.entries())), recording.damaged) == (whole, 21), "its CRC is wrong"
    for bad in (data[:8], data[:8] + b"MM", data[:30]):
        path.write_bytes(bad)
        with pytest.raises(RecordingError, match="header is lost"):
            Recording(path)


def test_old_hits_are_read_without_conversion(tmp_path, capsys):
    path = tmp_path / HITS.name
    shutil.copy(HITS, path)
    assert told(path) == TOLD
    assert stroke(path, 2).pads == (3,)
    assert [one.pads for one in strokes(path, 1)] == [(1,), (3,)]
    assert strokes(path, 2) == []
    with pytest.raises(ReviewError, match="not stored"):
        stroke(path, 3)
    assert review([str(tmp_path / "game.sqlite")]) == 0
    assert "Hide 1" in capsys.readouterr().out
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM hits").fetchone() == (2,)


def test_table_adds_hits_after_old_hit_numbers(tmp_path):
    path = tmp_path / HITS.name
    shutil.copy(HITS, path)
    for _ in range(2):
        HitStore(path).close()
        assert told(path) == TOLD
    first = stroke(path, 1)
    store = HitStore(path, most=2)
    store.add_strokes([first])
    store.close()
    assert [hit.id for hit in stored_hits(path)] == [2, 3]
    assert np.array_equal(stroke(path, 3).samples, first.samples)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("blocks",)]


def test_unconvertible_old_hits_stay_unchanged(tmp_path):
    path = tmp_path / HITS.name
    shutil.copy(HITS, path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE hits SET samples = x'00' WHERE id = 2")
    with pytest.raises(ReviewError):
        HitStore(path)
    assert [hit.id for hit in stored_hits(path)] == [1, 2]
    assert stroke(path, 1).pads == (1,)

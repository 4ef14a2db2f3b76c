"""Hits kept beside the journal: bounded, only read when looked at, and never another program's file."""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from pi_controller.board.messages import Piezo
from pi_controller.host.retention import Retention
from pi_controller.recording.entries import Header, RecordingError
from pi_controller.recording.hits import RecordedStroke, hits_path, open_hits, pack_stroke, strokes
from pi_controller.recording.store import Recording, is_recording, read_blocks
from pi_controller.sensing.events import Strike
from pi_controller.sensing.strikes import StrikeSettings


def stroke(hide=1, seed=0, **changed):
    samples = np.random.default_rng(seed).integers(-2048, 2048, (1600, 4)).astype(np.int16)
    one = RecordedStroke(hide, 10.0, 9.8, 4000.0, 2048, (2, 3), 4.2, True, StrikeSettings(peak_db=14.0), samples)
    return replace(one, **changed)


def store(path, *kept):
    with closing(open_hits(path)) as file:
        file.add(map(pack_stroke, kept))


def same(a, b):
    names = [name for name in a.__slots__ if name not in ("samples", "id")]
    return np.array_equal(a.samples, b.samples) and all(getattr(a, name) == getattr(b, name) for name in names)


def test_stored_strokes_are_read_back(tmp_path):
    path = hits_path(tmp_path / "table.sqlite")
    assert path.name == "table.sqlite.hits"
    kept = [stroke(1), stroke(1, 1, sure=False, margin_db=None), stroke(2, 2, pads=(4,))]
    with closing(open_hits(path)) as file:
        file.add(map(pack_stroke, kept[:2]))
        assert file.commit()
        file.add(map(pack_stroke, kept[2:]))
        assert len(strokes(path)) == 2  # while the table goes on writing
        assert file.commit()
        found = strokes(path)
    assert len(found) == 3
    assert all(map(same, found, kept))
    assert [one.id for one in found] == [1, 2, 3]
    assert [one.pads for one in strokes(path, hide=2)] == [(4,)]
    assert [one.id for one in strokes(path, number=2)] == [2]
    assert strokes(path, hide=9) == strokes(path, number=9) == strokes(path, number=0) == []


def test_hit_store_continues_after_restart(tmp_path):
    for hide in (1, 2):
        store(tmp_path / "x.hits", stroke(hide))
    assert [one.hide for one in strokes(tmp_path / "x.hits")] == [1, 2]


def test_hits_follow_the_rule_of_recordings(tmp_path):
    clock = {"wall": lambda: 2 * 86_400.0, "steady": lambda: 0.0, "clock_set": lambda _: True}
    retention = Retention(tmp_path, "*.hits", keep_days=1, max_bytes=40_000, **clock)
    store(tmp_path / "old.hits", stroke())
    os.utime(tmp_path / "old.hits", times=(0, 0))
    store(tmp_path / "new.hits", stroke())
    os.utime(tmp_path / "new.hits", times=(2 * 86_400.0,) * 2)
    with closing(open_hits(tmp_path / "x.hits", retention)) as file:
        file.add([pack_stroke(stroke())])
        assert not (tmp_path / "old.hits").exists()
        with pytest.raises(RecordingError, match="size limit"):
            file.add([pack_stroke(stroke())] * 10)
    assert len(strokes(tmp_path / "x.hits")) == 1


def test_stored_hit_has_no_bead_field(tmp_path):
    store(tmp_path / "x.hits", stroke())
    ((_, parts),) = read_blocks(tmp_path / "x.hits")
    assert parts[0] == Header(10.0, strikes=parts[0].strikes, hide=1)
    assert parts[0].strike_settings() == stroke().strikes
    assert parts[1] == Strike(10.0, (2, 3), 4.2)
    assert [type(part) for part in parts[2:]] == [Piezo]


def test_stored_hits_are_no_whole_recording(tmp_path):
    store(tmp_path / "x.hits", stroke())
    assert is_recording(tmp_path / "x.hits")
    with pytest.raises(RecordingError, match="stored hits"):
        Recording(tmp_path / "x.hits")


def test_missing_or_foreign_hit_store_is_refused(tmp_path):
    with pytest.raises(RecordingError, match="no stored hits"):
        strokes(tmp_path / "none")
    (tmp_path / "text").write_text("no database at all, but long enough to be taken for the header of one" * 10)
    for refuse in (strokes, open_hits):
        with pytest.raises(RecordingError):
            refuse(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE mine(x)")
    other.close()
    with pytest.raises(RecordingError, match="another program"):
        open_hits(tmp_path / "other")
    with pytest.raises(RecordingError):
        open_hits(tmp_path / "no" / "folder" / "x.hits")


def test_damaged_row_raises_recording_error(tmp_path):
    store(tmp_path / "x.hits", stroke())
    with closing(sqlite3.connect(tmp_path / "x.hits")) as db, db:
        db.execute("UPDATE blocks SET data = x'00'")
    with pytest.raises(RecordingError, match=r"x\.hits, block 1"):
        strokes(tmp_path / "x.hits")

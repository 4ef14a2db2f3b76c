"""Hits kept beside the journal: bounded, only read when looked at, and never another program's file."""

import json
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from pi_controller.board.messages import Piezo
from pi_controller.recording.format import unpack
from pi_controller.recording.hits import HitStore, ReviewError, Stroke, hits_path, strokes
from pi_controller.sensing.strikes import StrikeSettings


def stroke(hide=1, seed=0, **changed):
    samples = np.random.default_rng(seed).integers(-2048, 2048, (1600, 4)).astype(np.int16)
    one = Stroke(hide, 10.0, 9.8, 4000.0, 2048, (2, 3), 4.2, True, StrikeSettings(peak_db=14.0), samples)
    return replace(one, **changed)


def same(a, b):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        if name == "samples"
        else getattr(a, name) == getattr(b, name)
        for name in a.__slots__
    )


def test_stored_strokes_are_read_back(tmp_path):
    path = hits_path(tmp_path / "table.sqlite")
    assert path.name == "table.sqlite.hits"
    kept = [stroke(1), stroke(1, 1, sure=False, margin_db=None), stroke(2, 2, pads=(4,))]
    review = HitStore(path)
    review.add_strokes(kept[:2])
    review.add_strokes(kept[2:])
    found = strokes(path)  # while the table goes on writing
    assert len(found) == 3
    assert all(map(same, found, kept))
    assert [one.pads for one in strokes(path, hide=2)] == [(4,)]
    assert strokes(path, hide=9) == []
    review.close()


def test_hit_store_continues_after_restart(tmp_path):
    for hide in (1, 2):
        review = HitStore(tmp_path / "x.hits")
        review.add_strokes([stroke(hide)])
        review.close()
    assert [one.hide for one in strokes(tmp_path / "x.hits")] == [1, 2]


def test_the_oldest_go(tmp_path):
    review = HitStore(tmp_path / "x.hits", most=3)
    for hide in range(1, 8):
        review.add_strokes([stroke(hide)])
    assert [one.hide for one in strokes(tmp_path / "x.hits")] == [5, 6, 7]
    review.close()


def test_hit_store_has_no_bead_field(tmp_path):
    review = HitStore(tmp_path / "x.hits")
    review.add_strokes([stroke()])
    review.close()
    with sqlite3.connect(tmp_path / "x.hits") as db:
        ((about, data),) = db.execute("SELECT about, data FROM blocks").fetchall()
    db.close()
    assert set(json.loads(about)) == {"hide", "t", "pads", "margin_db", "sure", "strikes"}
    assert [type(entry) for entry in unpack(data)] == [Piezo]


def test_missing_or_foreign_hit_store_is_refused(tmp_path):
    with pytest.raises(ReviewError, match="no stored hits"):
        strokes(tmp_path / "none")
    (tmp_path / "text").write_text("no database at all, but long enough to be taken for the header of one" * 10)
    with pytest.raises(ReviewError):
        strokes(tmp_path / "text")
    with pytest.raises(ReviewError):
        HitStore(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE mine(x)")
    other.close()
    with pytest.raises(ReviewError, match="another program"):
        HitStore(tmp_path / "other")
    with pytest.raises(ReviewError):
        HitStore(tmp_path / "no" / "folder" / "x.hits")


def test_damaged_row_raises_review_error(tmp_path):
    review = HitStore(tmp_path / "x.hits")
    review.add_strokes([stroke()])
    review.close()
    db = sqlite3.connect(tmp_path / "x.hits")
    db.execute("UPDATE blocks SET data = x'00'")
    db.commit()
    db.close()
    with pytest.raises(ReviewError):
        strokes(tmp_path / "x.hits")


def test_failed_disk_stores_no_partial_strokes(tmp_path):
    review = HitStore(tmp_path / "x.hits")
    review.add_strokes([stroke(1)])
    full = "BEFORE INSERT ON blocks WHEN (SELECT count(*) FROM blocks) > 1 BEGIN SELECT RAISE(ABORT, 'full'); END"
    review._db.execute(f"CREATE TRIGGER no_room {full}")
    with pytest.raises(ReviewError):
        review.add_strokes([stroke(2), stroke(2)])
    review._db.execute("DROP TRIGGER no_room")
    review.add_strokes([stroke(3)])
    assert [one.hide for one in strokes(tmp_path / "x.hits")] == [1, 3]
    review.close()

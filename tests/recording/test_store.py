"""A recording survives what happens to files: killed programs, readers meanwhile, damaged bytes, other programs."""

import os
import sqlite3
from contextlib import closing, suppress

import pytest

from pi_controller.recording.entries import Header, RecordingError, RecordingGap, StepBegan, StepEnded, pack
from pi_controller.recording.store import Recording, create_recording, is_recording, journal_path

BLOCKS = [pack([StepBegan(float(n)), StepEnded()]) for n in range(5)]


@pytest.fixture
def path(tmp_path):
    file = create_recording(tmp_path / "x.sensors", Header(7.0, table="Table 1"))
    file.add(BLOCKS)
    file.close()
    file.close()
    assert [one.name for one in tmp_path.iterdir()] == ["x.sensors"]
    return file.path


def begun(recording):
    return [entry.t for entry in recording.entries() if isinstance(entry, StepBegan)]


def begun_before_damage(path):
    """Return the times read from a damaged file, and the error that ended them."""
    entries, read = Recording(path).entries(), []
    while True:
        try:
            entry = next(entries)
        except RecordingError as error:
            return read, error
        read += [entry.t] if isinstance(entry, StepBegan) else []


def test_written_blocks_are_read_back(path):
    recording = Recording(path)
    assert (recording.header.t, recording.header.table) == (7.0, "Table 1")
    assert begun(recording) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert is_recording(path)


def test_a_file_is_never_written_over(path):
    with pytest.raises(FileExistsError):
        create_recording(path, Header(0.0))


def test_block_is_in_the_file_after_its_commit(tmp_path):
    with closing(create_recording(tmp_path / "x.sensors", Header(7.0))) as file:
        before = file.path.read_bytes()
        file.add(BLOCKS[:1])
        assert begun(Recording(file.path)) == []
        assert file.path.read_bytes() == before
        assert file.commit()
        assert begun(Recording(file.path)) == [0.0]


def test_open_reader_delays_commit_without_blocking_writer(tmp_path):
    with closing(create_recording(tmp_path / "x.sensors", Header(7.0))) as file:
        file.add(BLOCKS[:1])
        assert file.commit()
        with closing(sqlite3.connect(file.path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM blocks").fetchall()
            file.add(BLOCKS[1:2])
            assert file._db.execute("PRAGMA busy_timeout").fetchone() == (0,)
            assert not file.commit()
            reader.execute("COMMIT")
        assert file.commit()
        entries = Recording(file.path).entries()
        next(entries)  # a recording that is being read keeps no lock
        file.add(BLOCKS[2:3])
        assert file.commit()
        assert begun(Recording(file.path)) == [0.0, 1.0, 2.0]


def test_kill_inside_a_commit_rolls_it_back(tmp_path):
    """The journal of an unfinished commit is rolled back by whoever opens the file next."""
    with closing(create_recording(tmp_path / "x.sensors", Header(7.0))) as file:
        file.add(BLOCKS[:1])
        file.commit()
        file._db.execute("PRAGMA cache_size = 5")
        file.add(BLOCKS[1:2])
        file.add([bytes(200_000)])  # more than the cache: part of it is in the file before the commit
        copy = tmp_path / "copy.sensors"
        copy.write_bytes(file.path.read_bytes())
        journal_path(copy).write_bytes(journal_path(file.path).read_bytes())
        assert journal_path(copy).stat().st_size > 512
        assert copy.stat().st_size > 10_000
    assert begun(Recording(copy)) == [0.0]
    assert copy.stat().st_size < 10_000


def test_truncated_file_is_read_up_to_the_cut(path, tmp_path):
    cut = tmp_path / "cut.sensors"
    with closing(create_recording(cut, Header(7.0))) as file:
        for n in range(40):
            filler = RecordingGap(0.0, 0.0, os.urandom(5000).hex())
            file.add([pack([StepBegan(float(n)), filler])])
    data = cut.read_bytes()
    for part in (0.3, 0.6, 0.9):
        cut.write_bytes(data[: int(len(data) * part)])
        read, _ = begun_before_damage(cut)
        assert read == [float(n) for n in range(len(read))]
        assert abs(len(read) - 40 * part) < 3


def test_file_is_read_up_to_a_damaged_byte(path):
    data = path.read_bytes()
    first = data.index(BLOCKS[1])
    for at in range(first, first + len(BLOCKS[1])):
        damaged = bytearray(data)
        damaged[at] ^= 0x41
        path.write_bytes(damaged)
        read, error = begun_before_damage(path)
        assert read == [0.0]
        assert "x.sensors, block 3" in error.message


def test_damaged_byte_loses_blocks_or_raises_recording_error(path):
    data = path.read_bytes()
    for at in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[at] ^= 0x41
        path.write_bytes(damaged)
        with suppress(RecordingError):
            assert set(begun(Recording(path))) <= {0.0, 1.0, 2.0, 3.0, 4.0}


def test_invalid_recordings_are_refused(path, tmp_path):
    other = tmp_path / "other"
    for bad in (b"", b"RIFF0000", b"SQLite format 3\0", path.read_bytes()[:100]):
        other.write_bytes(bad)
        with pytest.raises(RecordingError):
            Recording(other)
    with pytest.raises(RecordingError, match="cannot be read"):
        Recording(tmp_path / "none")
    assert not is_recording(tmp_path / "none")
    for first in (pack([]), pack([StepEnded()]), b"", pack([StepEnded(), Header(1.0)])):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE blocks SET data = ? WHERE id = 1", (first,))
        with pytest.raises(RecordingError):
            Recording(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA user_version = 2")
    with pytest.raises(RecordingError, match="another version"):
        Recording(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA application_id = 5")
    with pytest.raises(RecordingError, match="no sensor recording"):
        Recording(path)
    assert not is_recording(path)

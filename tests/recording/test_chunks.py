"""The file survives what happens to files: power cuts, damaged bytes, other programs."""

import pytest

from pi_controller.recording.format import (
    MAGIC,
    ChunkFile,
    Header,
    Recording,
    RecordingError,
    StepBegan,
    StepEnded,
    encode_chunk,
    is_recording,
    pack,
)

BLOCKS = [encode_chunk(b"D", pack([StepBegan(float(n)), StepEnded()], 30.0)) for n in range(5)]


@pytest.fixture
def path(tmp_path):
    file = ChunkFile(tmp_path / "x.sensors", Header(7.0, table="Table 1"))
    for block in BLOCKS:
        file.add(block)
    file.sync()
    file.close()
    assert file.size == file.path.stat().st_size
    return file.path


def begun(recording):
    return [entry.t for entry in recording.entries() if isinstance(entry, StepBegan)]


def test_what_was_written_is_read(path):
    recording = Recording(path)
    assert (recording.header.t, recording.header.table) == (7.0, "Table 1")
    assert begun(recording) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert recording.damaged == 0


def test_a_file_is_never_written_over(path):
    with pytest.raises(FileExistsError):
        ChunkFile(path, Header(0.0))


def test_cut_anywhere_all_whole_blocks_are_read(path):
    data = path.read_bytes()
    first = len(data) - sum(map(len, BLOCKS))
    for end in range(first, len(data)):
        path.write_bytes(data[:end])
        whole = sum(first + sum(map(len, BLOCKS[: n + 1])) <= end for n in range(5))
        assert begun(Recording(path)) == [float(n) for n in range(whole)]


def test_zeros_where_the_disk_had_not_got_to_are_left_out(path):
    path.write_bytes(path.read_bytes() + bytes(4096))
    recording = Recording(path)
    assert len(begun(recording)) == 5
    assert recording.damaged == 4096


def test_a_damaged_byte_costs_its_block_alone(path):
    data = bytearray(path.read_bytes())
    first = len(data) - sum(map(len, BLOCKS))
    for at in range(first + len(BLOCKS[0]), first + len(BLOCKS[0]) + len(BLOCKS[1])):
        damaged = data.copy()
        damaged[at] ^= 0x41
        path.write_bytes(damaged)
        recording = Recording(path)
        assert begun(recording) == [0.0, 2.0, 3.0, 4.0]
        assert recording.damaged == len(BLOCKS[1])


def test_what_is_no_recording_is_refused(path, tmp_path):
    data = path.read_bytes()
    other = tmp_path / "other"
    for bad in (
        b"",
        b"RIFF0000",
        MAGIC,
        MAGIC + BLOCKS[0],
        MAGIC + encode_chunk(b"H", b"{}"),
        MAGIC + encode_chunk(b"H", b"no"),
    ):
        other.write_bytes(bad)
        with pytest.raises(RecordingError):
            Recording(other)
    with pytest.raises(RecordingError, match="cannot read"):
        Recording(tmp_path / "none")
    other.write_bytes(data.replace(data[len(MAGIC) :], encode_chunk(b"H", b'{"t":0,"format":2}')))
    with pytest.raises(RecordingError, match="newer"):
        Recording(other)
    assert is_recording(path)
    assert not is_recording(tmp_path / "none")

"""Entries packed and unpacked are the same to the last bit."""

import math
import zlib

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_controller.board.messages import BoardHealth, Field, Gap, LinkDown, LinkUp, Piezo, Touch
from pi_controller.recording.entries import (
    Batch,
    Checkpoint,
    RecordingError,
    RecordingGap,
    ReportingChange,
    StepBegan,
    StepEnded,
    pack,
    unpack,
)
from pi_controller.sensing.events import Button

times = st.floats(allow_nan=False)
int16 = st.integers(-32768, 32767)


def arrays(rows, columns, element):
    return st.lists(st.lists(element, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


piezo = st.builds(
    lambda t, index, rows: Piezo(t, index, 4000.0, np.array(rows, np.int16).reshape(-1, 4), 2048),
    times,
    st.integers(0, 2**40),
    st.integers(1, 20).flatmap(lambda n: arrays(n, 4, int16)),
)
touch = st.builds(lambda t, rows: Touch(t, np.array(rows, np.int16)), times, arrays(4, 3, int16))
ut = st.one_of(st.integers(-30000, 30000).map(lambda n: n / 30.0), st.floats(-1e6, 1e6))
field = st.builds(
    lambda t, rows, ok: Field(t, np.array(rows, np.float64), np.array(ok)),
    times,
    arrays(6, 3, ut),
    st.lists(st.booleans(), min_size=6, max_size=6),
)
rare = st.one_of(
    st.builds(StepBegan, times),
    st.builds(Batch, st.booleans()),
    st.builds(ReportingChange, st.booleans()),
    st.just(StepEnded()),
    st.builds(Checkpoint, st.integers(0, 10**6), st.integers(0, 2**32 - 1)),
    st.builds(RecordingGap, times, times, st.text()),
    st.builds(Gap, times, times, st.integers(0, 10**6)),
    st.builds(BoardHealth, times, times, *[st.integers(0, 10**9)] * 4),
    st.builds(LinkUp, times, st.text(), st.text(), st.integers(0, 99), st.text(), st.integers(1, 8)),
    st.builds(LinkDown, times, st.text()),
    st.builds(Button, times, st.sampled_from(["ready", "shown"])),
)


def bits(entry):
    """Everything in an entry, as something that tells -0.0 from 0.0."""
    out = [type(entry)]
    for name in getattr(entry, "__struct_fields__", None) or entry.__slots__:
        value = getattr(entry, name)
        if isinstance(value, np.ndarray):
            out.append((value.dtype, value.shape, value.tobytes()))
        else:
            out.append(value.hex() if isinstance(value, float) else value)
    return out


@given(st.lists(st.one_of(piezo, touch, field, rare), max_size=12))
def test_there_and_back_to_the_last_bit(entries):
    again = unpack(pack(entries))
    assert list(map(bits, again)) == list(map(bits, entries))


@given(st.binary(max_size=60))
def test_other_bytes_are_refused(data):
    for block in (data, zlib.compress(data)):
        with pytest.raises(RecordingError):
            unpack(block)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=5),
            st.dictionaries(st.sampled_from(["event", "t"]), st.one_of(st.text(), st.integers(-(2**60), 2**60))),
            st.lists(st.one_of(st.sampled_from(["Piezo", "Nothing", "LinkDown"]), st.integers(0, 9)), max_size=4),
            st.binary(max_size=20).map(lambda data: ["LinkDown", 1.0, msgspec.msgpack.Ext(1, data)]),
        ),
        max_size=3,
    )
)
def test_wrong_content_is_read_or_refused(parts):
    try:
        entries = unpack(zlib.compress(msgspec.msgpack.encode(parts)))
    except RecordingError:
        return
    assert len(entries) == len(parts)


def test_cut_block_is_refused():
    block = pack([StepBegan(1.0), Piezo(2.0, 5, 4000.0, np.ones((3, 4), np.int16))])
    for end in range(len(block)):
        with pytest.raises(RecordingError):
            unpack(block[:end])


def test_block_larger_than_memory_limit_is_refused(monkeypatch):
    monkeypatch.setattr("pi_controller.recording.entries.MAX_BLOCK_BYTES", 1000)
    with pytest.raises(RecordingError, match="too large"):
        unpack(zlib.compress(msgspec.msgpack.encode([{"event": "step", "t": 1.0}] * 1000)))


def test_zero_and_minus_zero_stay_apart():
    ut = np.zeros((6, 3))
    ut[0, 0] = -0.0
    (again,) = unpack(pack([Field(0.0, ut, np.ones(6, bool))]))
    assert math.copysign(1.0, again.ut[0, 0]) == -1.0

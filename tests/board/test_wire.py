"""Frames: what goes in comes out, and whatever is damaged does not."""

import binascii
import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from load_file import load_file

from pi_controller.board import wire

u8, u16, u32, u64 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32, 64))


def ears():
    return wire.Decoder(wire.TO_HOST, wire.WELCOME)


def open_body():
    return wire.welcome_body(
        firmware=(1, 2, 3), board=b"12345678", boots=7, reason=1, features=7, pads=4, sample_hz=4000, block_samples=32
    )


def stream(count, first=1, kind="mixed", seed=3):
    """`count` frames of all sorts after a WELCOME; returns them as a list of byte strings."""
    rng = random.Random(seed)
    frames = [wire.seal(open_body(), first - 1)]
    body = wire.piezo_body(32)
    for i in range(count):
        if kind == "piezo" or i % 4:
            body[3 + wire.PIEZO_HEAD : -2] = struct.pack(
                "<128H", *(wire.REST + rng.randint(-99, 99) for _ in range(128))
            )
            wire.piezo_number(body, i, 32, 8000, 0)
            frames.append(wire.seal(body, first + i))
        else:
            frames.append(wire.seal(wire.touch_body(i * 8000, bytearray(rng.randbytes(24))), first + i))
    return frames


def test_crc_is_ccitt_false():
    assert wire.crc16(b"123456789", 9) == 0x29B1
    assert wire.crc16(b"123456789junk", 9) == 0x29B1


@pytest.mark.parametrize(
    ("plain", "stuffed"),
    [
        ("", "01"),
        ("00", "0101"),
        ("0000", "010101"),
        ("11220033", "0311220233"),
        ("11000000", "0211010101"),
        ("01" * 253, "fe" + "01" * 253),
        ("01" * 254, "ff" + "01" * 254 + "01"),
        ("01" * 255, "ff" + "01" * 254 + "0201"),
        ("00" + "02" * 254 + "00", "01ff" + "02" * 254 + "0101"),
    ],
)
def test_cobs(plain, stuffed):
    assert wire.stuff(bytes.fromhex(plain)).hex() == stuffed
    assert wire.unstuff(bytes.fromhex(stuffed)).hex() == plain


def test_cobs_accepts_short_form_of_full_last_group():
    assert wire.unstuff(b"\xff" + b"\x01" * 254) == b"\x01" * 254


@given(st.lists(st.one_of(st.binary(max_size=300), st.integers(0, 600).map(lambda n: b"\x05" * n))).map(b"".join))
def test_cobs_round_trip(data):
    stuffed = wire.stuff(data)
    assert 0 not in stuffed
    assert len(stuffed) <= len(data) + len(data) // 254 + 1
    assert wire.unstuff(stuffed) == data


@given(st.binary(min_size=1).map(lambda b: b.replace(b"\0", b"\x01")))
def test_unstuff_never_raises(data):
    plain = wire.unstuff(data)
    assert plain is None or len(plain) <= len(data)


@given(u16, st.tuples(u8, u8, u8), st.binary(min_size=8, max_size=8), st.tuples(u32, u8, u32, u8, u16, u16))
def test_welcome_round_trip(number, firmware, board, rest):
    names = ("boots", "reason", "features", "pads", "sample_hz", "block_samples")
    body = wire.welcome_body(firmware=firmware, board=board, **dict(zip(names, rest, strict=True)))
    [(kind, got, payload)] = ears().feed(wire.seal(body, number))
    assert (kind, got) == (wire.WELCOME, number)
    assert wire.welcome(payload) == (*wire.PROTOCOL, *firmware, board, *rest)


@given(st.integers(0, 2**30 - 1), u16, st.binary(min_size=256, max_size=256))
def test_piezo_round_trip(block, overflows, samples):
    body = wire.piezo_body(32)
    wire.piezo_number(body, block, 32, 8000, overflows)
    body[3 + wire.PIEZO_HEAD : -2] = samples
    [_, (kind, number, payload)] = ears().feed(wire.seal(open_body(), 65535) + wire.seal(body, 65536))
    assert (kind, number) == (wire.PIEZO, 0)
    assert wire.piezo(payload) == (32 * block & 0xFFFFFFFF, overflows, 8000 * block)
    assert payload[wire.PIEZO_HEAD :] == samples


@given(u32, u64, st.binary(min_size=24, max_size=24), st.binary(min_size=144, max_size=144))
def test_the_other_round_trips(word, us, counts, field):
    decoder = ears()
    decoder.feed(wire.seal(open_body(), 0))
    bodies = [
        wire.pong_body(word, us),
        wire.touch_body(us, bytearray(counts)),
        wire.field_body(us, word, bytearray(field)),
        wire.health_body(uptime_ms=word, overflows=1, i2c_errors=2, bad_frames=3, worst_us=4, us=us),
    ]
    pong, touch, fields, health = (
        payload for _, _, payload in decoder.feed(b"".join(wire.seal(b, i + 1) for i, b in enumerate(bodies)))
    )
    assert wire.pong(pong) == (word, us)
    assert wire.touch(touch) == (us, *struct.unpack("<12H", counts))
    assert wire.field(fields) == (us, word, *struct.unpack("<72h", field))
    assert wire.health(health) == (word, 1, 2, 3, 4, us)


@pytest.mark.parametrize(
    ("microamps", "time", "count", "pf"),
    [
        (16, 1, 724, 3.4),  # 8 pC at 2.333 V
        (63, 3, 700, 55.9),  # 126 pC at 2.256 V
        (63, 7, 200, 204.6),  # 3.1 nF: the most that is told
        (16, 0, 700, 0.0),
        (16, 1, 0, 0.0),
    ],
)
def test_strip_capacitance_follows_charge_and_counts(microamps, time, count, pf):
    charge = bytearray((16,) * 13 + (0x11,) * 6)
    counts = bytearray(struct.pack("<12H", *[724] * 12))
    charge[7], charge[13 + 3] = microamps, 0x01 | time << 4
    struct.pack_into("<H", counts, 14, count)
    found = [wire.strips_pf(wire.pack_strips(charge, counts, pad)) for pad in range(4)]
    assert found[2] == (pytest.approx(3.4, abs=0.2), pytest.approx(pf, abs=0.2), pytest.approx(3.4, abs=0.2))
    assert found[0] == found[1] == found[3] == pytest.approx([3.4] * 3, abs=0.2)


@given(u32)
def test_hello_ping_and_bye_round_trip(mark):
    decoder = wire.Decoder(wire.TO_BOARD, wire.HELLO)
    said = wire.seal(wire.hello_body(), 0) + wire.seal(wire.ping_body(mark), 1) + wire.seal(wire.bye_body(), 2)
    hello, ping, bye = decoder.feed(said)
    assert wire.hello(hello[2]) == wire.PROTOCOL
    assert wire.ping(ping[2]) == (mark,)
    assert bye == (wire.BYE, 2, b"")


def test_counters_that_outgrow_the_wire_wrap():
    body = wire.health_body(uptime_ms=2**32 + 5, overflows=2**32, i2c_errors=0, bad_frames=0, worst_us=2**40, us=1)
    assert wire.health(bytes(body[3:-2]))[:2] == (5, 0)
    assert wire.health(bytes(body[3:-2]))[4] == 2**32 - 1


@settings(max_examples=30)
@given(st.lists(st.integers(1, 700), max_size=30))
def test_chunks_do_not_matter(cuts):
    data = b"".join(stream(12))
    whole = ears().feed(data)
    decoder, pieces = ears(), []
    for cut in cuts:
        pieces += decoder.feed(data[:cut])
        data = data[cut:]
    assert pieces + decoder.feed(data) == whole
    assert len(whole) == 13


def test_frames_before_opener_are_bad():
    decoder = ears()
    assert decoder.feed(b"".join(stream(5)[1:])) == []
    assert decoder.bad == 5


def test_a_repeat_is_dropped():
    frames = stream(3)
    decoder = ears()
    got = decoder.feed(b"".join(frames[:2]) + frames[1] * 3 + b"".join(frames[2:]))
    assert len(got) == 4
    assert (decoder.repeated, decoder.bad, decoder.lost) == (3, 0, 0)


def test_lost_frames_are_counted_across_the_wrap():
    frames = stream(20, first=65530)
    decoder = ears()
    decoder.feed(b"".join(frames[:3] + frames[12:]))
    assert decoder.lost == 9
    assert decoder.bad == 0


def test_frame_number_out_of_range_is_bad():
    frames = stream(2)
    decoder = ears()
    decoder.feed(frames[0])
    assert decoder.feed(stream(1, first=5000)[1]) == []
    assert decoder.bad == 1


@given(st.integers(0, 277), st.integers(1, 255))
def test_one_changed_byte_is_always_noticed(at, flip):
    frames = stream(4, kind="piezo")
    hurt = bytearray(frames[2])
    hurt[at % len(hurt)] ^= flip
    decoder = ears()
    got = decoder.feed(b"".join([*frames[:2], bytes(hurt), *frames[3:]]))
    assert decoder.bad >= 1
    assert {number for _, number, _ in got} <= {0, 1, 3, 4}


@given(st.integers(1, 277))
def test_a_torn_frame_costs_no_other(at):
    frames = stream(5, kind="piezo")
    decoder = ears()
    got = decoder.feed(b"".join([*frames[:2], frames[2][: at % (len(frames[2]) - 2) + 1], b"\0", *frames[3:]]))
    assert [number for _, number, _ in got] == [0, 1, 3, 4, 5]
    assert decoder.bad == 1
    assert decoder.lost == 1


def test_after_damage_a_frame_needs_the_next_one():
    frames = stream(6, kind="piezo")
    decoder = ears()
    assert len(decoder.feed(frames[0] + frames[1] + b"junk\0")) == 2
    assert decoder.feed(frames[3]) == []
    assert decoder.feed(b"more\0") == []
    assert decoder.feed(frames[4]) == []
    assert [number for _, number, _ in decoder.feed(frames[5])] == [4, 5]
    assert decoder.bad == 3


def test_lengths_are_exact():
    decoder = ears()
    decoder.feed(wire.seal(open_body(), 0))
    for i, (kind, size) in enumerate(
        ((wire.TOUCH, 33), (wire.TOUCH, 31), (wire.PIEZO, 14), (wire.PIEZO, 23), (0x77, 4))
    ):
        assert decoder.feed(wire.seal(bytearray([kind, 0, 0, *range(size), 0, 0]), i + 1)) == []
        assert decoder.bad == i + 1


def test_welcome_of_other_major_decodes_at_any_length():
    [(kind, _, payload)] = ears().feed(wire.seal(bytearray([wire.WELCOME, 0, 0, 9, 4, *b"new things", 0, 0]), 0))
    assert kind == wire.WELCOME
    assert payload[:2] == b"\x09\x04"


def test_an_endless_frame_is_dropped_and_memory_bounded():
    decoder = ears()
    for _ in range(1000):
        assert decoder.feed(b"x" * 500) == []
        assert len(decoder.unfinished) <= wire.LONGEST
    assert decoder.bad == 1
    frames = stream(3)
    assert len(decoder.feed(b"tail\0" + b"".join(frames))) == 4


def test_the_python_crc_is_the_same(monkeypatch):
    monkeypatch.delattr(binascii, "crc_hqx")
    slow = load_file("pi_controller/board/frames.py")
    rng = random.Random(1)
    for n in (0, 1, 2, 9, 300):
        data = rng.randbytes(n)
        assert slow.crc16(data, n) == wire.crc16(data, n)

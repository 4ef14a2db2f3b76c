"""The talk with the board: the real firmware's sampler in virtual time, and everything that goes wrong on the way."""

import struct

import numpy as np
import pytest

from pi_controller.board import wire
from pi_controller.board.messages import BoardEvent, BoardHealth, Field, Gap, LinkDown, LinkUp, Piezo, Touch
from pi_controller.board.session import FLASH_HINT


def of(messages, *kinds):
    return [m for m in messages if isinstance(m, kinds)]


def blocks_follow(messages):
    """All piezo blocks are in order, none overlaps the one before, and a jump in the index has its Gap."""
    last = None
    for m in of(messages, Piezo, Gap, LinkDown):
        if isinstance(m, LinkDown):
            last = None
        elif isinstance(m, Gap):
            last = last and (last[0] + m.samples, last[1] + m.samples / 4000)
        else:
            if last is not None:
                assert m.index == last[0]
                assert m.t >= last[1] - 0.5 / 4000
            last = (m.index + len(m.samples), m.t + len(m.samples) / m.rate)


def test_connect(rig):
    [up, *rest] = rig.connect()
    assert up == LinkUp(up.t, "0100020003000400", "0.6.0", 1, "power", 4)
    assert rig.session.up
    assert {type(m) for m in rest} == {Piezo, Touch, Field, BoardHealth, BoardEvent}


def test_pinging_is_true_until_pong_arrives(rig):
    rig.connect()
    assert not rig.session.pinging
    rig.plugged = False
    rig.run(0.6)
    assert rig.session.pinging
    rig.plugged = True
    rig.run(0.6)
    assert not rig.session.pinging


def test_board_sends_no_data_before_hello(rig):
    for _ in range(200):
        rig.board.us += 8000
        rig.sampler.step()
    assert not rig.board.sent
    assert rig.board.fed == 200


def test_the_readings(rig):
    rig.board.silent = {5}
    messages = rig.connect() + rig.run(1.0)
    piezo = of(messages, Piezo)
    assert piezo[0].samples.shape == (32, 4)
    assert piezo[0].samples.dtype == np.int16
    expected = (np.arange(128) + piezo[3].index * 4 & 0xFFF) - wire.REST
    assert (piezo[3].samples == expected.reshape(32, 4)).all()
    assert (piezo[0].rate, piezo[0].full_scale) == (4000.0, 32768)
    touch = of(messages, Touch)[0]
    assert touch.counts.tolist() == [[700, 701, 702], [703, 704, 705], [706, 707, 708], [709, 710, 711]]
    field = of(messages, Field)[-1]
    assert field.ut[7].tolist() == [7.0, -10.0, 100.0]
    assert not field.ok[5]
    assert field.ok.sum() == 23
    assert field.ut[5].tolist() == [0, 0, 0]
    blocks_follow(messages)


def test_rates(rig):
    rig.connect()
    messages = rig.run(10.0)
    assert len(of(messages, Piezo)) == pytest.approx(1250, abs=2)
    assert len(of(messages, Touch)) == pytest.approx(500, abs=10)
    assert len(of(messages, Field)) == pytest.approx(200, abs=3)
    assert len(of(messages, BoardHealth)) == pytest.approx(10, abs=1)
    assert rig.session.stats.bad == rig.session.stats.lost == rig.session.stats.refused == 0


def test_coarse_passes_still_read_every_magnetometer(rig):
    rig.connect()
    messages = [m for _ in range(125) for m in rig.step(0.032)]
    assert len(of(messages, Piezo)) == 500
    assert len(of(messages, Field)) == pytest.approx(80, abs=3)
    blocks_follow(messages)


def test_samples_before_link_are_no_gap(rig):
    rig.session.start(rig.t)
    rig.plugged = False
    rig.run(5.0)
    rig.plugged = True
    messages = rig.run(1.0)
    assert of(messages, Piezo)[0].index > 4.9 * 4000
    assert of(messages, Gap) == []


def test_board_stops_sending_to_silent_host(rig):
    rig.connect()
    rig.plugged = False
    rig.run(3.2)
    rig.board.sent = bytearray()
    rig.run(3.0)
    assert not rig.board.sent
    assert rig.board.lit == ["wait", "run", "wait"]


def test_bye(rig):
    rig.connect()
    rig.session.close()
    rig.step()
    rig.board.sent = bytearray()
    assert rig.run(3.0) == []
    assert not rig.board.sent


def test_bye_and_hello_in_one_read_keep_link(rig):
    rig.connect()
    rig.session.close()
    rig.session.start(rig.t)  # before the board has read either
    messages = rig.run(5.0)
    assert of(messages, LinkDown) == []
    assert rig.session.clock.pings > 5


def test_silence_is_noticed_within_a_second_and_mended(rig):
    rig.connect()
    rig.plugged = False
    messages = []
    for _ in range(130):
        messages += rig.step()
    [down] = messages
    assert down.why == "The board has stopped answering."
    assert rig.session.up is False
    assert rig.run(5.0) == []
    rig.plugged = True
    messages = rig.run(1.0)
    assert isinstance(messages[0], LinkUp)
    assert of(messages, LinkDown) == []
    blocks_follow(messages)


def test_unanswering_board_is_reported_once(rig):
    rig.plugged = False
    rig.session.start(rig.t)
    messages = rig.run(10.0)
    assert [m.why for m in messages] == ["The board does not answer."]
    assert rig.said.count(b"\0") >= 40 / 2


def test_a_restart_is_noticed(rig):
    rig.connect()
    rig.run(2.0)
    rig.power_up(boots=2)
    messages = rig.run(2.0)
    down, up = of(messages, LinkDown, LinkUp)
    assert isinstance(down, LinkDown)
    assert up.boot_count == 2
    assert of(messages, Piezo)[0].index < 8000
    blocks_follow(messages)


def test_a_new_welcome_from_a_restarted_board(rig):
    rig.connect()
    rig.run(1.0)
    rig.power_up(boots=9)
    rig.sampler.frame_number = 4000  # so that it is no repeat
    rig.board.heard += wire.seal(wire.hello_body(), 0)
    down, up = of(rig.step(), LinkDown, LinkUp)
    assert down.why == "The board restarted."
    assert up.boot_count == 9


def test_an_index_that_jumps_back_is_a_restart(rig):
    rig.connect()
    rig.run(1.0)
    rig.board.taken -= 100
    messages = rig.run(1.0)
    assert [type(m) for m in of(messages, LinkDown, LinkUp)] == [LinkDown, LinkUp]
    assert of(messages, LinkDown)[0].why == "The board lost count of its samples."


def flap(rig, seconds):
    """Have the board restart at every step; return the changes of the link."""
    messages, end, boots = [], rig.t + seconds, 1
    while rig.t < end:
        boots += 1
        rig.power_up(boots=boots)
        rig.sampler.frame_number = boots * 100 % 65536
        rig.board.heard += wire.seal(wire.hello_body(), 0)
        messages += of(rig.step(), LinkDown, LinkUp)
    return messages


def test_board_that_keeps_restarting_changes_the_link_rarely(rig):
    rig.connect()
    messages = flap(rig, 6.0)
    assert 3 <= len(of(messages, LinkDown)) <= 6
    assert len(messages) <= 12
    assert [type(m) for m in messages[:2]] == [LinkDown, LinkUp]
    rig.run(3.0)
    assert rig.session.up


def test_changing_refusal_reasons_are_reported_once_a_second(rig):
    rig.session.start(rig.t)
    said = []
    for n in range(600):
        body = wire.welcome_body(
            firmware=(9, 0, 0), board=b"12345678", boots=1, reason=1, features=7, pads=4, sample_hz=4000,
            block_samples=32,
        )  # fmt: skip
        body[3] = 2 + n % 200
        said += of(rig.session.feed(wire.seal(body, n), rig.t + n / 100), LinkDown)
    assert 5 <= len(said) <= 7


def test_the_same_welcome_twice_is_one_link(rig):
    rig.connect()
    rig.board.heard += wire.seal(wire.hello_body(), 77)
    messages = rig.step() + rig.run(0.5)
    assert of(messages, LinkUp, LinkDown, Gap) == []
    assert isinstance(messages[0], Piezo)  # the stream goes on


def test_a_magnetometer_that_falls_silent(rig):
    rig.connect()
    rig.run(0.2)
    rig.board.silent = {2, 23}
    field = of(rig.run(0.3), Field)[-1]
    assert field.ok.sum() == 22
    assert rig.session.stats.refused == 0


def test_another_major_is_refused_with_the_way_out(rig):
    body = wire.welcome_body(
        firmware=(9, 0, 0), board=b"12345678", boots=1, reason=1, features=7, pads=4, sample_hz=4000, block_samples=32
    )
    body[3] = 2
    messages = rig.session.feed(wire.seal(body, 0), rig.t) + rig.session.feed(wire.seal(body, 1), rig.t)
    [down] = messages
    assert down.why == f"The board speaks protocol 2.0, this program 1.0: {FLASH_HINT}."
    assert not rig.session.up


def test_the_board_does_not_stream_to_another_major(rig):
    body = wire.hello_body()
    body[3] = 2
    rig.board.heard += wire.seal(body, 0)
    rig.board.us += 100_000
    rig.sampler.step()
    assert bytes(rig.board.sent).count(b"\0") == 1
    rig.board.sent = bytearray()
    rig.board.us += 100_000
    rig.sampler.step()
    assert not rig.board.sent


def test_another_number_of_pads_is_refused(rig):
    rig.board.PADS = 3
    rig.session.start(rig.t)
    [down] = rig.run(0.3)
    assert "3 pads" in down.why
    assert "flash" in down.why


def test_lost_frames_are_a_gap(rig):
    rig.connect()
    spoiled = iter(range(1000))
    rig.spoil = lambda data: b"" if next(spoiled) in {5, 6, 7} else data
    messages = rig.run(0.5)
    [gap] = of(messages, Gap)
    assert gap.samples == 96
    assert gap.until - gap.t == pytest.approx(0.024)
    after = messages[messages.index(gap) + 1]
    assert isinstance(after, Piezo)
    assert after.t == gap.until
    assert rig.session.stats.lost >= 3
    assert rig.session.stats.missing_samples == 96
    blocks_follow(messages)


def test_an_overflow_on_the_board_is_a_gap(rig):
    rig.connect()
    rig.board.us += 80_000
    rig.board.overrun(4)
    rig.t += 0.08
    messages = rig.run(1.5)
    [gap] = of(messages, Gap)
    assert gap.samples == 128
    assert of(messages, BoardHealth)[-1].overflows == 4
    blocks_follow(messages)


def test_repeats_and_flips_make_no_event(rig):
    rig.connect()

    def twice(data):
        return b"".join(2 * (frame + b"\0") for frame in data.split(b"\0") if frame)

    rig.spoil = twice
    messages = rig.run(1.0)
    assert len(of(messages, Piezo)) == pytest.approx(125, abs=1)
    assert rig.session.stats.repeated >= 190
    assert rig.session.stats.bad == 0

    def flip(data):
        data = bytearray(data)
        if data and rig.random.random() < 0.2:
            data[rig.random.randrange(len(data))] ^= 1 << rig.random.randrange(8)
        return bytes(data)

    rig.spoil = flip
    messages = rig.run(5.0)
    assert rig.session.stats.bad > 50
    assert of(messages, Gap)
    blocks_follow(messages)
    for m in of(messages, Piezo):
        assert (m.samples.reshape(-1) == (np.arange(128) + m.index * 4 & 0xFFF) - wire.REST).all()


def test_garbage_while_the_link_is_up_costs_little(rig):
    rig.connect()
    rig.spoil = lambda data: rig.random.randbytes(20) + b"\0" + data if rig.random.random() < 0.05 else data
    messages = rig.run(5.0)
    assert of(messages, LinkDown) == []
    assert len(of(messages, Piezo)) > 600
    blocks_follow(messages)


@pytest.mark.parametrize("fault", ["touch", "samples", "time", "mask", "uptime", "index"])
def test_whole_frames_that_cannot_be_true_are_refused(rig, fault):
    rig.connect()
    us = rig.board.us
    body = wire.piezo_body(32)
    body[3 + wire.PIEZO_HEAD : -2] = b"\0\x08" * 128
    index = rig.session.next_index
    wire.piezo_number(body, index, 1, 250, 0)
    if fault == "touch":
        body = wire.touch_body(us, bytearray(b"\xff\x07" * 12))
    elif fault == "samples":
        body[-4:-2] = (wire.TOP + 1).to_bytes(2, "little")
    elif fault == "time":
        body = wire.touch_body(us + 60_000_000, bytearray(24))
    elif fault == "mask":
        body = wire.field_body(us, 1 << 24, bytearray(144))
    elif fault == "uptime":
        body = wire.health_body(uptime_ms=1, overflows=0, i2c_errors=0, bad_frames=0, worst_us=0, us=us)
    else:
        struct.pack_into("<I", body, 3, index + 1)
    assert rig.session.feed(wire.seal(body, rig.sampler.frame_number), rig.t) == []
    assert rig.session.stats.refused == 1
    assert rig.session.stats.bad == 0


def test_the_port_fails_and_comes_back(rig):
    rig.connect()
    assert [m.why for m in rig.session.report_port_loss(rig.t, "Unplugged.")] == ["Unplugged."]
    rig.plugged = False
    assert rig.run(2.0) == []
    rig.plugged = True
    messages = rig.connect()
    assert isinstance(messages[0], LinkUp)


def test_an_error_of_the_port_passes_through(rig):
    def fail(data):
        raise OSError("gone")

    rig.session._write = fail
    with pytest.raises(OSError, match="gone"):
        rig.session.start(rig.t)


def test_the_same_run_twice_is_the_same(rig):
    other = type(rig)()
    for one in (rig, other):
        one.spoil = lambda data, one=one: data[: len(data) - 9] if one.random.random() < 0.1 else data
    ours, theirs = ([repr(m) for m in one.connect() + one.run(3.0)] for one in (rig, other))
    assert ours == theirs


def test_indexes_run_on_past_32_bits(rig):
    rig.board.us = 2**32 * 250 - 400_000
    rig.board.taken = rig.board.us // 8000
    rig.sampler = rig.sampler_module.Sampler(rig.board)
    messages = rig.connect() + rig.run(1.0)
    assert of(messages, Gap, LinkDown) == []
    assert of(messages, Piezo)[-1].index > 2**32
    blocks_follow(messages)


@pytest.mark.parametrize(("kind", "counts_per_ut"), [(wire.QMC5883L, 30.0), (wire.QMC5883P, 37.5)])
def test_field_counts_follow_magnetometer_model(rig, kind, counts_per_ut):
    rig.board.magnets = kind
    rig.sampler = rig.sampler_module.Sampler(rig.board)
    field = of(rig.connect() + rig.run(0.3), Field)[-1]
    assert field.ut[5].tolist() == [30 * 5 / counts_per_ut, -300 / counts_per_ut, 3000 / counts_per_ut]


def test_late_magnetometers_are_announced_without_dropping_link(rig):
    rig.board.magnets = 0
    rig.sampler = rig.sampler_module.Sampler(rig.board)
    rig.connect()
    assert not rig.session.board.features & (wire.QMC5883L | wire.QMC5883P)
    rig.board.magnets = wire.QMC5883P
    messages = rig.run(1.0)
    assert rig.session.board.features & wire.QMC5883P
    assert of(messages, LinkUp, LinkDown, Gap) == []
    assert of(messages, Field)[-1].ut[0].tolist() == [0.0, -8.0, 80.0]
    assert rig.session.stats.refused == rig.session.stats.lost == 0


def test_long_uptime_causes_no_gaps(rig):
    for days in (0.1, 13, 60, 200):
        rig.board.us = round(days * 86_400e6)
        rig.board.taken = rig.board.us // 8000
        rig.sampler = rig.sampler_module.Sampler(rig.board)
        rig.session = type(rig.session)(rig.write)
        messages = rig.connect() + rig.run(3.0)
        assert of(messages, Gap, LinkDown) == []
        assert len(of(messages, Touch)) == pytest.approx(155, abs=2)
        assert of(messages, BoardHealth)[-1].uptime_s == pytest.approx(rig.board.us * 1e-6, abs=1.1)
        assert rig.session.stats.refused == rig.session.stats.bad == 0
        blocks_follow(messages)

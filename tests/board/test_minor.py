"""A newer minor adds types and sends none of them to an older end: both ways."""

import numpy as np
import pytest

from pi_controller.board import wire
from pi_controller.board.interfaces import StripError
from pi_controller.board.messages import BoardEvent, Field, Gap, Health, LinkUp, Piezo, Touch
from pi_controller.board.strips import BoardStrip

OLD_TO_BOARD = {kind: wire.TO_BOARD[kind] for kind in (wire.HELLO, wire.PING, wire.BYE)}
OLD_TO_HOST = {
    kind: wire.TO_HOST[kind] for kind in (wire.WELCOME, wire.PONG, wire.PIEZO, wire.TOUCH, wire.FIELD, wire.HEALTH)
}


@pytest.fixture
def old_board(rig):
    """A board of 1.0: it says so, knows three types, and tells of nothing."""
    rig.sampler.decoder = wire.Decoder(OLD_TO_BOARD, wire.HELLO)
    rig.sampler.events.send = lambda now, send, newest_kind: None
    ears = wire.Decoder(wire.TO_HOST, wire.WELCOME)

    def aged(data):
        out = []
        for frame in (part + b"\0" for part in data.split(b"\0")[:-1]):
            for kind, number, payload in ears.feed(frame):
                body = bytearray((kind, 0, 0)) + payload + bytes(2)
                if kind == wire.WELCOME:
                    body[4] = 0
                    body[21:25] = bytes((7, 0, 0, 0))
                out.append(wire.seal(body, number))
        return b"".join(out)

    rig.spoil = aged
    return rig


def test_a_new_host_at_an_old_board(old_board):
    rig = old_board
    strip = BoardStrip(69, rig.session)
    strip.show([(1, 1, 1)] * 69)
    rig.session.request_self_test()
    messages = rig.connect() + rig.run(5.0)
    assert isinstance(messages[0], LinkUp)
    assert {type(m) for m in messages} == {LinkUp, Piezo, Touch, Field, Health}
    assert rig.sampler.decoder.bad == 0  # nothing came that it does not know
    assert rig.sampler.decoder.frames > 10
    assert rig.session.stats.bad == rig.session.stats.refused == 0
    assert rig.board.painted == []
    with pytest.raises(StripError, match="drives no light strip"):
        strip.show([(2, 2, 2)] * 69)


def test_reflashed_old_board_runs_pending_self_test(old_board):
    rig = old_board
    rig.session.request_self_test()
    rig.connect()
    rig.spoil = lambda data: data
    rig.power_up(boots=2)
    messages = rig.run(4.0)
    tested = [m for m in messages if isinstance(m, BoardEvent) and m.kind == "tested"]
    assert len(tested) == 1  # the one ordered took the place of that at the start


def test_an_old_host_at_a_new_board(rig):
    body = wire.hello_body()
    body[4] = 0
    ears = wire.Decoder(OLD_TO_HOST, wire.WELCOME)
    rig.board.heard += wire.seal(body, 0)
    kinds = set()
    for n in range(1, 1000):
        rig.board.us += 8000
        rig.sampler.step()
        if n % 60 == 0:
            rig.board.heard += wire.seal(wire.ping_body(n), n // 60)
            rig.sampler.add_event(wire.LATE, 0, 1)
        if n == 500:
            rig.board.overrun(3)
        kinds |= {kind for kind, _, _ in ears.feed(bytes(rig.board.sent))}
        rig.board.sent = bytearray()
    assert kinds == set(OLD_TO_HOST)
    assert ears.bad == ears.lost == 0
    assert rig.sampler.running


def test_new_host_receives_events_stored_under_old_host(rig):
    test_an_old_host_at_a_new_board(rig)
    rig.board.heard += wire.seal(wire.bye_body(), 900)
    messages = rig.connect() + rig.run(1.0)
    told = [m for m in messages if isinstance(m, BoardEvent)]
    assert [m.number for m in told] == list(range(1, len(told) + 1))
    assert len(told) > 10
    assert [m for m in messages if isinstance(m, Gap)] == []


def test_host_1_1_receives_no_1_2_messages(rig, monkeypatch):
    rig.board.magnets = wire.QMC5883P
    rig.power_up = None
    rig.sampler = rig.sampler_module.Sampler(rig.board)
    monkeypatch.setattr(wire, "PROTOCOL", (1, 1))
    rig.session.start(rig.t)
    monkeypatch.setattr(wire, "PROTOCOL", (1, 2))
    messages = rig.run(2.0)
    rig.sampler.add_event(wire.LATE, 0, 1)
    rig.sampler.add_event(wire.SLOW, 0, 40)
    rig.sampler.add_event(wire.SLOW, 0, 41)
    rig.sampler.add_event(wire.LATE, 0, 2)
    messages += rig.run(2.0)
    told = [m for m in messages if isinstance(m, BoardEvent)]
    assert [m.kind for m in told] == ["started", "tested", "late", "late"]
    assert [m.number for m in told] == [1, 2, 3, 6]
    assert sum(m.lost for m in told) == 0
    assert rig.session.stats.refused == 0
    assert not [m for m in messages if isinstance(m, Field)], "it would take 37.5 counts a microtesla for 30"


def samples(messages):
    return np.concatenate([m.samples.astype(int) + m.full_scale for m in messages if isinstance(m, Piezo)]).ravel()


def test_host_1_2_receives_upper_12_sample_bits(rig, monkeypatch):
    monkeypatch.setattr(wire, "PROTOCOL", (1, wire.SUMS - 1))  # it takes the board for one of its own kind
    messages = rig.connect() + rig.run(1.0)
    got = samples(messages)
    assert {m.full_scale for m in messages if isinstance(m, Piezo)} == {2048}
    first = next(m.index for m in messages if isinstance(m, Piezo)) * 4
    assert got[:4096].tolist() == [(first + n & 0xFFF) >> 4 for n in range(4096)]
    assert rig.session.stats.refused == 0


def test_samples_of_board_1_2_have_12_bits(rig):
    def say_1_2(body, number):
        if body[0] == wire.WELCOME:
            body[4] = wire.SUMS - 1
        send(body, number)

    send, rig.board.send = rig.board.send, say_1_2
    messages = rig.connect() + rig.run(1.0)
    assert {m.full_scale for m in messages if isinstance(m, Piezo)} == {2048}
    first = next(m.index for m in messages if isinstance(m, Piezo)) * 4
    assert samples(messages)[:8192].tolist() == [first + n & 0xFFF for n in range(8192)]
    assert rig.session.stats.refused == 0

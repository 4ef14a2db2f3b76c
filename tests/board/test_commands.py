"""Orders: done once, acknowledged each time, sent again until they are, and given up with the link."""

from itertools import pairwise

import pytest

from pi_controller.board import wire
from pi_controller.board.board_commands import MAX_RETRY_S, RETRY_S, BoardCommand, BoardCommands
from pi_controller.board.board_strip import BoardStrip, encode_changes

DARK, RED, BLUE = (0, 0, 0), (255, 0, 0), (0, 0, 255)


def lights(runs, told=None):
    told = [] if told is None else told
    return BoardCommand(lambda number: wire.lights_body(number, runs), told.append)


def test_order_is_executed_and_its_result_reported(rig):
    rig.connect()
    told = []
    rig.session.commands.enqueue(lights(b"\x03\x02\x01\x02\x03\x04\x05\x06", told))
    rig.session.commands.enqueue(lights(b"\x44\x81\x07\x08\x09", told))
    rig.run(0.1)
    assert told == [wire.OBEYED, wire.OBEYED]
    assert rig.board.painted == [(3, b"\1\2\3\4\5\6"), (68, b"\7\x08\x09")]
    assert rig.board.strip[2:6] == [(9, 9, 9), (1, 2, 3), (4, 5, 6), (9, 9, 9)]
    assert rig.session.commands.repeated == 0


@pytest.mark.parametrize(
    "runs",
    [
        b"\x44\x02\1\2\3\4\5\6",  # beyond the last pixel
        b"\x44\x82\1\2\3",
        b"\x00\x02\1\2\3\4\5",  # cut short
        b"\x00\x00\1\2\3",  # no pixels
        b"\x00\x81\1\2\3\x01",  # something over
    ],
)
def test_unpaintable_order_is_refused_and_not_painted(rig, runs):
    rig.connect()
    told = []
    rig.session.commands.enqueue(lights(b"\x00\x81\5\5\5" + runs, told))
    rig.run(0.1)
    assert told == [wire.REFUSED]
    assert rig.board.painted == []


def test_order_with_lost_answers_is_executed_once(rig):
    rig.connect()
    told = []
    rig.spoil = lambda data: b""
    rig.session.commands.enqueue(lights(b"\x00\x81\1\2\3", told))
    rig.run(0.5)
    assert rig.session.commands.repeated >= 2
    rig.spoil = lambda data: data
    rig.run(0.5)
    assert told == [wire.OBEYED]
    assert len(rig.board.painted) == 1


def test_it_is_sent_again_ever_more_rarely():
    sent = []
    orders = BoardCommands(sent.append)
    orders.begin()
    orders.enqueue(BoardCommand(wire.test_body))
    at = []
    for ms in range(2000):
        before = len(sent)
        orders.tick(ms / 1000)
        if len(sent) > before:
            at.append(ms / 1000)
    gaps = [later - earlier for earlier, later in pairwise(at)]
    assert gaps == [
        pytest.approx(gap, abs=0.0015)
        for gap in (RETRY_S, 0.1, 0.2, MAX_RETRY_S, MAX_RETRY_S, MAX_RETRY_S, MAX_RETRY_S)
    ]
    assert {bytes(body) for body in sent} == {bytes(wire.test_body(1))}


def test_orders_are_sent_singly_while_linked():
    sent = []
    orders = BoardCommands(sent.append)
    told = []
    orders.enqueue(lights(b"a", told))
    orders.enqueue(lights(b"b", told))
    orders.tick(0.0)
    assert sent == []
    orders.begin()
    orders.tick(0.0)
    orders.tick(0.01)
    assert len(sent) == 1
    assert orders.take_result(1, wire.OBEYED)
    assert orders.take_result(1, wire.OBEYED)  # once more, because it was sent twice
    assert not orders.take_result(9, wire.OBEYED)
    orders.tick(0.02)
    assert [wire.order(body[3:]) for body in sent] == [1, 2]
    orders.end()
    assert told == [wire.OBEYED, None]
    orders.begin()
    orders.tick(9.0)
    assert len(sent) == 2


def test_orders_are_counted_round():
    sent = []
    orders = BoardCommands(sent.append)
    orders.begin()
    orders.number = 0xFFFE
    for number in (0xFFFF, 0, 1):
        orders.enqueue(BoardCommand(wire.test_body))
        orders.tick(0.0)
        assert wire.order(sent[-1][3:]) == number
        assert orders.take_result(number, wire.OBEYED)


def test_the_board_counts_round_too(rig):
    rig.connect()
    rig.session.commands.number = 0xFFFE
    told = []
    for n in range(3):
        rig.session.commands.enqueue(lights(bytes((n, 0x81, 1, 2, 3)), told))
    rig.run(0.2)
    assert told == [wire.OBEYED] * 3
    assert [first for first, _ in rig.board.painted] == [0, 1, 2]


def test_stale_welcome_does_not_confuse_order_numbers(rig):
    # the host believes a start that is over, orders, and the board that came after does that order and the next
    rig.connect()
    told = []
    rig.session.commands.enqueue(lights(b"\x00\x81\1\1\1", told))
    rig.run(0.1)
    rig.power_up(boots=2)
    rig.session.commands.enqueue(lights(b"\x01\x81\2\2\2", told))
    rig.run(3.0)
    rig.session.commands.enqueue(lights(b"\x02\x81\3\3\3", told))
    rig.run(0.2)
    assert told[-1] == wire.OBEYED
    assert rig.board.painted[-1] == (2, b"\3\3\3")


# the strip on the board


def strip_on(rig, **settings):
    return BoardStrip(69, rig.session, **settings)


def test_unchanged_pixels_are_not_sent(rig):
    strip = strip_on(rig)
    rig.connect()
    frame = [(i, 0, 0) for i in range(69)]
    strip.show(frame)
    rig.run(0.1)
    assert rig.board.strip == frame
    rig.board.painted.clear()
    frame = list(frame)
    frame[7] = frame[9] = BLUE
    frame[20:60] = [RED] * 40
    strip.show(frame)
    rig.run(0.1)
    assert rig.board.strip == frame
    assert rig.board.painted == [(7, bytes(BLUE)), (9, bytes(BLUE)), (20, bytes(RED) * 40)]
    rig.board.painted.clear()
    strip.show(frame)
    rig.run(0.5)
    assert rig.board.painted == []


def test_the_newest_frame_wins(rig):
    strip = strip_on(rig)
    rig.connect()
    for n in range(50):
        strip.show([(n, n, n)] * 69)
    rig.run(0.1)
    assert rig.board.strip == [(49, 49, 49)] * 69
    assert len(rig.board.painted) <= 2


def test_whole_frame_is_resent_after_board_restart(rig):
    strip = strip_on(rig)
    rig.connect()
    frame = [RED, BLUE, DARK] * 23
    strip.show(frame)
    rig.run(0.2)
    rig.power_up(boots=2)
    rig.run(2.0)
    assert rig.board.strip == frame


def test_strip_is_dark_without_host_and_restored_after(rig):
    strip = strip_on(rig)
    rig.connect()
    strip.show([RED] * 69)
    rig.run(0.2)
    rig.plugged = False
    rig.run(2.4)
    assert rig.board.strip == [RED] * 69
    rig.run(0.8)
    assert rig.board.strip == [DARK] * 69
    strip.show([BLUE] * 69)
    rig.plugged = True
    rig.run(1.0)
    assert rig.board.strip == [BLUE] * 69


def test_board_start_clears_pixels_left_on(rig):
    rig.board.pixels = [DARK] * 69
    rig.step()
    assert rig.board.strip == [DARK] * 69


def test_changes_are_short():
    assert encode_changes(None, [RED] * 69) == bytes((0, 69 | wire.SAME, *RED))
    assert encode_changes([RED] * 69, [RED] * 69) == b""
    assert len(encode_changes(None, [(i, i, i) for i in range(69)])) == 2 + 3 * 69


def painted(old, runs):
    new = list(old)
    for first, colours in wire.runs(b"\0\0" + runs, len(old)):
        for i in range(0, len(colours), 3):
            new[first + i // 3] = tuple(colours[i : i + 3])
    return new


@pytest.mark.parametrize("count", [1, 69, 127, 128, 256])
def test_changes_make_one_frame_of_another(rig, count):
    random = rig.random
    colours = (DARK, RED, BLUE, (1, 2, 3))
    old = [DARK] * count
    for _ in range(300):
        new = list(old)
        for _ in range(random.randint(0, 4)):
            at, length = random.randrange(count), random.choice((1, 2, 3, 10, 200))
            stretch = [random.choice(colours)] * length if random.random() < 0.5 else random.choices(colours, k=length)
            new[at : at + length] = stretch[: count - at]
        assert painted(old, encode_changes(old, new)) == new
        assert painted([(7, 7, 7)] * count, encode_changes(None, new)) == new
        old = new

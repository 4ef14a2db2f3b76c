"""What the board tells about itself: what it notices, and that each event comes once and in order."""

import pytest

from pi_controller.board import wire
from pi_controller.board.board_events import BoardEvents
from pi_controller.board.messages import WORDS, BoardEvent, Gap, LinkUp, Piezo

ALL = (1 << 24) - 1


@pytest.fixture
def linked(rig):
    """The rig when the board's start and its self test were told."""
    rig.connect()
    rig.run(2.0)
    return rig


def events(messages, *, but=("started", "tested")):
    return [m for m in messages if isinstance(m, BoardEvent) and m.kind not in but]


def said(messages, **but):
    return [(m.kind, m.part, m.value) for m in events(messages, **but)]


def test_start_and_self_test_are_reported(rig):
    messages = rig.connect() + rig.run(2.0)
    assert said(messages, but=()) == [("started", 1, 0), ("tested", 0b11111, ALL)]
    assert [m.number for m in events(messages, but=())] == [1, 2]
    assert [m.line for m in events(messages, but=())] == [
        "The board started (power).",
        "The board's self test found no faults.",
    ]


def test_events_before_link_keep_their_time(rig):
    rig.run(20.0)  # nobody listens
    began = rig.t
    [started, tested] = events(rig.connect(), but=())
    assert started.t == pytest.approx(began - 20.0, abs=0.01)
    assert tested.t == pytest.approx(began - 20.0 + 1.3, abs=0.03)


def test_a_test_that_is_ordered(linked):
    linked.board.silent = {4, 23}
    linked.board.touched = False
    linked.session.request_self_test()
    [tested] = [m for m in linked.run(2.0) if isinstance(m, BoardEvent) and m.kind == "tested"]
    assert (tested.part, tested.value) == (0b1111, ALL & ~(1 << 4 | 1 << 23))
    assert tested.line == "The board's self test got no answer from the touch chip."
    assert tested.detailed_line == (
        "The board's self test got no answer from the touch chip, magnetometer 5, magnetometer 24."
    )


def test_ordered_self_test_switches_bias_and_reports_pads(rig):
    switched = []
    rig.board.bias = switched.append
    rig.connect()
    rig.run(2.0)
    assert switched == [], "a start alone does not switch it"
    rig.session.request_self_test()
    told = [m for m in rig.run(2.0) if isinstance(m, BoardEvent) and m.kind == "discs"]
    assert switched == [0, 1]
    assert [m.part for m in told] == [1, 2, 3, 4]
    assert BoardEvent(0.0, 1, "discs", 1, wire.NOT_SWITCHED).line == "Pad 1 does not follow the board's bias pin."
    assert BoardEvent(0.0, 1, "discs", 2, 0).line == "Pad 2 does not rise when its bias is switched on."
    assert BoardEvent(0.0, 1, "discs", 3, 276).line == "Pad 3 rises in 2.8 ms when its bias is switched on."


def test_a_dead_piezo_fails_the_test(rig):
    stuck(rig, 2, 2048)
    [_, tested] = events(rig.connect() + rig.run(2.0), but=())
    assert tested.line == "The board's self test got no answer from the piezo of pad 3."


def test_a_chip_that_falls_silent_and_comes_back(linked):
    linked.board.touched = False
    linked.board.silent = {16}
    assert said(linked.run(0.9)) == []
    told = events(linked.run(0.5))
    assert sorted(m.kind for m in told) == ["magnetometer silent", "touch silent"]
    assert linked.board.lit[-1] == "fault"
    linked.board.touched = True
    linked.board.silent = set()
    told = events(linked.run(0.5))
    assert sorted(m.kind for m in told) == ["magnetometer back", "touch back"]
    assert all(1000 < m.value < 1800 for m in told)
    assert linked.board.lit[-1] == "run"


def test_magnetometer_events_are_not_public(linked):
    linked.board.silent = set(range(6))
    silent = events(linked.run(1.5))
    linked.board.silent = set()
    back = events(linked.run(1.0))
    assert len(silent) == len(back) == 6
    assert [m.line for m in silent + back] == [""] * 12
    assert not any(m.is_public for m in silent + back)
    assert silent[0].detailed_line.startswith("Magnetometer ")
    assert "fault" not in linked.board.lit  # nor for those who see the board's lamp


def test_a_saturated_magnetometer_is_not_silent(linked):
    linked.board.saturated = {3}
    assert said(linked.run(5.0)) == []


def stuck(rig, pad, value):
    read = rig.board.piezo

    def piezo(buf):
        index = read(buf)
        if index >= 0:
            for i in range(2 * pad, 256, 8):
                buf[i : i + 2] = (value * wire.READINGS).to_bytes(2, "little")
        return index

    rig.board.piezo = piezo
    return lambda: setattr(rig.board, "piezo", read)


@pytest.mark.parametrize(("value", "within"), [(0, 0.9), (3, 0.9), (4095, 0.9), (4092, 0.9)])
def test_a_piezo_at_its_rail(linked, value, within):
    mend = stuck(linked, 1, value)
    assert said(linked.run(within)) == [("piezo rail", 2, value)]
    assert said(linked.run(5.0)) == []
    assert linked.board.lit[-1] == "fault"
    mend()
    [good] = events(linked.run(2.0))
    assert (good.kind, good.part) == ("piezo good", 2)
    assert good.line == "The piezo of pad 2 works again, after 6 s."


def test_a_piezo_that_does_not_move(linked):
    stuck(linked, 3, 2000)
    assert said(linked.run(3.8)) == []
    [one] = events(linked.run(0.6))
    assert one.line == "The piezo of pad 4 has given no signal for 4 s."


def test_a_stroke_that_clips_is_no_fault(linked):
    mend = stuck(linked, 0, 4095)
    messages = linked.run(0.1)
    mend()
    assert said(messages + linked.run(5.0)) == []


def test_lost_samples_are_reported_once_a_second(rig):
    rig.connect()
    rig.run(1.0)
    messages = []
    for _ in range(100):
        rig.board.us += 16_000
        rig.board.overrun(2)
        rig.t += 0.016
        messages += rig.run(0.024)
    told = events(messages)
    assert {m.kind for m in told} == {"lost"}
    assert 3 <= len(told) <= 5
    assert sum(m.value for m in told) >= 150
    assert len([m for m in messages if isinstance(m, Gap)]) == 100


def test_late_passes_are_reported_at_limited_rate(rig):
    rig.connect()
    for _ in range(10):
        rig.step(0.15)
        rig.run(0.2)
    [late] = events(rig.run(0.3), but=("started", "tested", "lost")) or [None]
    assert late is None or late.kind == "late"
    assert rig.sampler.events.newest <= 5


def test_late_passes_say_how_late(rig):
    rig.connect()
    rig.run(1.5)
    messages = rig.step(0.15) + rig.run(0.3)
    assert said(messages) == [("late", 0, 150_000)]
    assert events(messages)[0].line == "One pass of the board's main loop took 150 ms."


def test_slow_board_reports_its_scan_rate(rig):
    rig.connect()
    messages = rig.run(12.0, 0.05)  # a touch scan each 50 ms, not 20
    told = [m for m in messages if isinstance(m, BoardEvent) and m.kind == "slow"]
    assert len(told) == 2  # once in ten seconds
    assert told[0].t == pytest.approx(rig.t - 12.0 + 2.0, abs=0.3)
    assert told[1].line == "The board completes only 40 % of its scans."
    assert not told[0].is_good
    assert "slow" not in {m.kind for m in events(rig.run(12.0))[1:]}


@pytest.mark.parametrize("dt", [0.001, 0.008, 0.017])
def test_board_at_full_rate_sends_no_events(rig, dt):
    rig.connect()
    assert said(rig.run(8.0, dt)) == []


def test_a_host_that_fell_silent_and_came_back(linked):
    linked.plugged = False
    linked.run(6.0)
    linked.plugged = True
    messages = linked.run(1.5)
    assert [kind for kind, _, _ in said(messages)] == ["host silent", "host back"]
    assert 3000 <= events(messages)[0].value < 3100
    assert 6000 <= events(messages)[1].value < 7000
    assert lost(messages) == 0


def test_a_goodbye_is_no_silence(linked):
    linked.session.close()
    linked.run(5.0)
    assert said(linked.connect() + linked.run(1.0)) == []


def test_the_bus(linked):
    linked.board.news += [(wire.BUS_STUCK, 8)]
    messages = linked.run(0.2)
    assert linked.board.lit[-1] == "fault"
    linked.board.news += [(wire.BUS_STUCK, 16), (wire.BUS_STUCK, 24), (wire.BUS_FREE, 5)]
    messages += linked.run(0.2)
    assert said(messages) == [("bus stuck", 0, 8), ("bus free", 0, 5)]
    assert linked.board.lit[-1] == "run"


@pytest.mark.parametrize(("early", "reason", "told"), [(2, 1, False), (3, 1, True), (9, 3, False)])
def test_starts_from_power_in_short_order_are_doubted(rig, early, reason, told):
    rig.board = type(rig.board)(5)
    rig.board.early, rig.board.boot_reason = early, reason
    rig.sampler = rig.sampler_module.Sampler(rig.board)
    messages = rig.connect()
    assert said(messages) == ([("brown-out", 0, early)] if told else [])


def test_early_start_counter_clears_after_time_without_host(rig):
    rig.board.early = 2
    rig.run(9.9)
    assert rig.board.early == 2
    rig.run(0.2)
    assert rig.board.early == 0


def test_early_start_counter_clears_when_host_says_bye(rig):
    rig.board.early = 2
    rig.connect()
    rig.run(30.0)
    assert rig.board.early == 2  # writing it would stop the samples for a moment
    rig.session.close()
    rig.run(0.1)
    assert rig.board.early == 0


# once, and in order


def happen(rig, count):
    for _ in range(count):
        rig.sampler.add_event(wire.LOST, 0, rig.sampler.events.newest)


def lost(messages):
    """How many events the board had to drop, by those that came."""
    return sum(message.lost for message in messages if isinstance(message, BoardEvent))


def numbers(messages):
    return [m.number for m in messages if isinstance(m, BoardEvent)]


def test_events_arrive_once_in_order_over_lossy_wire(linked):
    linked.spoil = lambda data: b"" if linked.random.random() < 0.3 else data
    linked.spoil_said = lambda data: b"" if linked.random.random() < 0.3 else data
    messages = []
    for _ in range(40):
        happen(linked, 3)
        messages += linked.run(1.0)
    linked.spoil = linked.spoil_said = lambda data: data
    messages += linked.run(3.0)
    got = numbers(messages)
    assert got == sorted(set(got))
    assert len(got) >= 120
    assert linked.sampler.events.confirmed == linked.sampler.events.newest == got[-1]
    assert lost(messages) == linked.sampler.events.newest - 2 - len(got)


def test_full_ring_drops_oldest_events_and_counts_them(linked):
    linked.plugged = False
    linked.run(2.0)
    happen(linked, 50)
    linked.plugged = True
    messages = linked.run(2.0)
    assert numbers(messages) == list(range(21, 53))
    first = next(m for m in messages if isinstance(m, BoardEvent))
    assert first.lost == 18
    assert lost(messages) == 18


def test_new_session_receives_unacknowledged_events_and_lost_count(linked):
    linked.session.close()
    linked.run(0.1)
    happen(linked, 40)
    linked.session = type(linked.session)(linked.write)
    messages = linked.connect() + linked.run(0.5)
    assert numbers(messages) == list(range(11, 43))
    assert lost(messages) == 8


def test_reopened_port_repeats_no_events(linked):
    linked.spoil_said = lambda data: b""  # the last ACK does not arrive
    happen(linked, 2)
    messages = linked.run(0.2)
    assert numbers(messages) == [3, 4]
    linked.session.report_port_loss(linked.t, "Unplugged.")
    linked.spoil_said = lambda data: data
    messages = linked.connect() + linked.run(1.0)
    assert numbers(messages) == []
    assert any(isinstance(m, LinkUp) for m in messages)
    assert linked.sampler.events.confirmed == 4


def test_each_start_restarts_event_numbers(linked):
    linked.power_up(boots=2)
    messages = linked.run(3.0)
    assert said(messages, but=()) == [("started", 1, 0), ("tested", 31, ALL)]
    assert lost(messages) == 0


def test_many_events_do_not_keep_the_samples_waiting(linked):
    happen(linked, 32)
    linked.board.us += 8000
    linked.sampler.step()
    kinds = [kind for kind, _, _ in decoded(linked)]
    assert kinds.count(wire.EVENT) == 8
    assert kinds.count(wire.PIEZO) == 1


def decoded(rig):
    ears = wire.Decoder(wire.TO_HOST, wire.WELCOME)
    ears.last_number = rig.sampler.frame_number - 100
    return ears.feed(bytes(rig.board.sent))


def test_events_that_cannot_be_true_are_refused(linked):
    us = linked.board.us
    for number, before, dropped, when, kind, part in (
        (3, 0, 0, us + 60_000_000, wire.LATE, 0),
        (3, 0, 0, us, 0, 0),
        (3, 0, 0, us, wire.KINDS + 1, 0),
        (3, 0, 0, us, wire.PIEZO_RAIL, 5),
        (3, 0, 0, us, wire.MAGNET_SILENT, 25),
        (3, 0, 0, us, wire.LATE, 1),
        (3, 3, 0, us, wire.LATE, 0),
        (3, 1, 2, us, wire.LATE, 0),
        (40, 33, 0, us, wire.LATE, 0),
        (2**31, 0, 0, us, wire.LATE, 0),
        (3, 0, 0, 1000, wire.LATE, 0),  # before the one before it
        (0, 0, 0, us, wire.LATE, 0),
    ):
        body = wire.event_body(number, before, dropped, when, kind, part, 7)
        before_it = linked.session.stats.refused
        messages = linked.session.feed(wire.seal(body, linked.sampler.frame_number), linked.t)
        linked.sampler.frame_number += 1
        assert messages == []
        assert linked.session.stats.refused == before_it + 1
    assert numbers(linked.run(0.5)) == []


def test_boards_in_turn_are_remembered():
    told = BoardEvents()

    def take(board, boots, number, before=0):
        told.begin(board, boots)
        told.take(bytes(wire.event_body(number, before, 0, 5, wire.LATE, 0, 1)[3:-2]), 0.0)
        return told.fresh

    assert take(b"a", 1, 1)
    assert take(b"b", 1, 1)
    assert not take(b"a", 1, 1)
    assert take(b"a", 1, 2)
    assert take(b"a", 2, 1)
    assert not take(b"b", 1, 1)


def test_every_kind_has_a_line():
    assert len(WORDS) == wire.KINDS
    for kind in WORDS:
        event = BoardEvent(0.0, 1, kind, 1, 1)
        assert event.detailed_line.endswith(".")
        assert "{" not in event.detailed_line
        assert bool(event.line) == event.is_public


def test_many_events_cause_no_sample_gap(rig):
    rig.connect()
    happen(rig, 200)
    messages = rig.run(5.0)
    assert len([m for m in messages if isinstance(m, Piezo)]) == 625
    assert not [m for m in messages if isinstance(m, Gap)]

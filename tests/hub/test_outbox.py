"""What a table sends when: window, sending again, and which of its games."""

import random

from pi_controller.hub.messages import Ack, Hello, SentGame
from pi_controller.hub.outbox import HELLO_RETRY_S, MAX_UNACKED_RECORDS, REFUSED_RETRY_S, RESEND_S, Outbox, RecordRange

A, B = "aa" * 16, "bb" * 16


def asked(games=((A, 200),), released=None, t=0.0, seq=0, epoch=None, refused=""):
    """Return an outbox whose hello was answered."""
    box = Outbox("s")
    box.set_available([SentGame(*one) for one in games], games[-1][1] if released is None else released)
    box.start_hello(t)
    hello = box.next_message(t)
    assert isinstance(hello, Hello)
    box.on_ack(t, Ack(epoch or games[0][0], seq, hello.ask, refused))
    return box


def test_no_records_are_sent_before_hello_answer():
    box = Outbox("s")
    assert box.next_message(0.0) is None
    box.set_available([SentGame(A, 5)], 5)
    assert box.next_message(0.0) is None
    box.start_hello(0.0)
    assert isinstance(box.next_message(0.0), Hello)
    assert box.next_message(HELLO_RETRY_S / 2) is None
    assert isinstance(box.next_message(HELLO_RETRY_S), Hello)


def test_no_more_than_the_window_is_under_way():
    box = asked(seq=10)
    assert box.next_message(0.0) == RecordRange(A, 11, 10 + MAX_UNACKED_RECORDS)
    assert box.next_message(0.5) is None
    box.on_ack(0.5, Ack(A, 30))
    assert box.next_message(0.5) == RecordRange(A, 11 + MAX_UNACKED_RECORDS, 30 + MAX_UNACKED_RECORDS)


def test_unacknowledged_records_are_resent_then_hello_follows():
    box = asked(seq=10)
    box.next_message(0.0)
    assert box.wait(0.0) == RESEND_S
    assert box.next_message(RESEND_S) == RecordRange(A, 11, 10 + MAX_UNACKED_RECORDS)
    assert isinstance(box.next_message(2 * RESEND_S), Hello)


def test_stale_ack_and_stale_hello_answer_are_ignored():
    box = asked(seq=50)
    box.on_ack(0.0, Ack(A, 10))
    assert box.acked == 50
    box.start_hello(1.0)
    box.next_message(1.0)
    box.on_ack(1.0, Ack(A, 3, "s-1"))
    assert box.epoch == ""
    box.on_ack(1.0, Ack(A, 3, "s-2"))
    assert (box.epoch, box.acked) == (A, 3)


def test_hub_with_fewer_records_gets_them_again():
    box = asked(seq=200)
    assert box.done
    box.start_hello(5.0)
    box.next_message(5.0)
    box.on_ack(5.0, Ack(A, 120, "s-2"))
    assert box.next_message(5.0) == RecordRange(A, 121, 120 + MAX_UNACKED_RECORDS)


def test_unreleased_records_are_not_sent():
    box = asked(released=4)
    assert box.next_message(0.0) == RecordRange(A, 1, 4)
    box.on_ack(0.1, Ack(A, 4))
    assert box.next_message(0.1) is None
    box.set_available([SentGame(A, 250)], 20)
    assert box.next_message(0.2) == RecordRange(A, 5, 20)


def test_next_game_follows_whole_finished_game():
    box = asked(games=((A, 3), (B, 2)))
    assert box.next_message(0.0) == RecordRange(A, 1, 3)
    box.on_ack(0.1, Ack(A, 3))
    hello = box.next_message(0.1)
    assert isinstance(hello, Hello)
    box.on_ack(0.1, Ack(B, 0, hello.ask))
    assert box.next_message(0.1) == RecordRange(B, 1, 2)


def test_new_game_after_full_ack_sends_hello():
    box = asked(games=((A, 3),), seq=3)
    assert box.next_message(0.0) is None
    box.set_available([SentGame(A, 3), SentGame(B, 1)], 1)
    assert isinstance(box.next_message(0.1), Hello)


def test_refused_table_sends_hello_at_long_intervals():
    box = asked(refused="replaced")
    assert box.next_message(0.1) is None
    assert box.wait(0.0) == REFUSED_RETRY_S
    assert isinstance(box.next_message(REFUSED_RETRY_S), Hello)


def test_lossy_duplicating_delayed_line_delivers_all_records():
    rng = random.Random(7)
    for _ in range(30):
        total, held, wire, back, t = 300, 0, [], [], 0.0
        box = Outbox("s")
        box.set_available([SentGame(A, total)], total)
        box.start_hello(0.0)
        while held < total:
            t += 0.05
            assert t < 600, "it does not come to its end"
            while (out := box.next_message(t)) is not None:
                wire += [out] * rng.choice((0, 1, 1, 1, 2))
            rng.shuffle(wire)
            for out in wire:
                if isinstance(out, Hello):
                    back.append(Ack(A, held, out.ask))
                else:
                    held = max(held, out.last) if out.first <= held + 1 else held
                    back.append(Ack(A, held))
            wire = []
            back = [ack for ack in back if rng.random() > 0.3]
            for ack in back[: rng.randrange(len(back) + 1)]:
                box.on_ack(t, ack)
            back = back[1:]
            if rng.random() < 0.01:
                box.start_hello(t)
            assert box.acked <= held

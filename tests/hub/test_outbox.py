"""What a table sends next, by the hub's answers."""

import random

import pytest

from pi_controller.hub.messages import MAX_RECORDS, Ack, Events, Hello, SentGame, SentRecord
from pi_controller.hub.outbox import HELLO_RETRY_S, REFUSED_RETRY_S, Outbox, RecordRange

A, B = "aa" * 16, "bb" * 16
PART = Events(A, (SentRecord(1, 1, 0.0, "x", "{}", "0" * 64),))


def asked(games=((A, 200),), released=None, seq=0, epoch=None, refused=""):
    """Return an outbox whose hello was answered."""
    box = Outbox()
    box.set_available([SentGame(*one) for one in games], games[-1][1] if released is None else released)
    hello = box.next_message(0.0)
    assert isinstance(hello, Hello)
    box.on_answer(0.0, hello, Ack(epoch or games[0][0], seq, refused))
    return box


def test_no_records_are_sent_before_hello_answer():
    box = Outbox()
    assert box.next_message(0.0) is None
    box.set_available([SentGame(A, 5)], 5)
    hello = box.next_message(0.0)
    assert isinstance(hello, Hello)
    box.on_answer(0.0, hello, None)
    assert box.next_message(HELLO_RETRY_S / 2) is None
    assert isinstance(box.next_message(HELLO_RETRY_S), Hello)


def test_next_part_follows_the_acknowledged_record():
    box = asked(seq=10)
    assert box.next_message(0.0) == RecordRange(A, 11, 10 + MAX_RECORDS)
    box.on_answer(0.5, PART, Ack(A, 30))
    assert box.next_message(0.5) == RecordRange(A, 31, 30 + MAX_RECORDS)


@pytest.mark.parametrize("ack", [None, Ack(A, 10), Ack(A, 3), Ack(B, 99)])
def test_records_without_progress_lead_to_a_hello(ack):
    box = asked(seq=10)
    box.on_answer(0.5, PART, ack)
    assert box.next_message(0.5) is None
    assert box.wait(0.5) == HELLO_RETRY_S
    assert isinstance(box.next_message(0.5 + HELLO_RETRY_S), Hello)


def test_hub_with_fewer_records_gets_them_again():
    box = asked(seq=200)
    assert box.done
    box.ask()
    box.on_answer(5.0, box.next_message(5.0), Ack(A, 120))
    assert box.next_message(5.0) == RecordRange(A, 121, 120 + MAX_RECORDS)


def test_unreleased_records_are_not_sent():
    box = asked(released=4)
    assert box.next_message(0.0) == RecordRange(A, 1, 4)
    box.on_answer(0.1, PART, Ack(A, 4))
    assert box.next_message(0.1) is None
    box.set_available([SentGame(A, 250)], 20)
    assert box.next_message(0.2) == RecordRange(A, 5, 20)


def test_next_game_follows_whole_finished_game():
    box = asked(games=((A, 3), (B, 2)))
    assert box.next_message(0.0) == RecordRange(A, 1, 3)
    box.on_answer(0.1, PART, Ack(A, 3))
    hello = box.next_message(0.1)
    assert isinstance(hello, Hello)
    box.on_answer(0.1, hello, Ack(B, 0))
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


def test_all_records_arrive_although_answers_are_lost():
    rng = random.Random(7)
    for _ in range(30):
        total, held, t = 300, 0, 0.0
        box = Outbox()
        box.set_available([SentGame(A, total)], total)
        while not box.done:
            t += 0.05
            assert t < 600, "it does not come to its end"
            if (out := box.next_message(t)) is None:
                continue
            if isinstance(out, RecordRange):
                held = max(held, rng.randint(out.first, out.last)) if out.first <= held + 1 else held
            if rng.random() < 0.3:
                box.ask(t)  # as the link does after a failure
            else:
                box.on_answer(t, out if isinstance(out, Hello) else PART, Ack(A, held))
            assert box.acked <= held
        assert held == total

"""The copy of a game's records that its new table gets, and the messages from which it is made."""

import zlib

import msgspec
import pytest
from inbox_messages import A, records

from pi_controller.hub import messages
from pi_controller.hub.messages import GameCopy, HubAnswer, MessageError, Order, decode, encode
from pi_controller.hub.outbox import RecordRange
from pi_controller.hub.table_link import next_events
from pi_controller.journal.chain import JournalRow


def made(count=9):
    return [record.row() for record in records(A, count)]


class Rows:
    """Records of a journal, `sizes` are the records of each batch."""

    def __init__(self, sizes):
        batches = [n for n, size in enumerate(sizes, 1) for _ in range(size)]
        self.all = [JournalRow(seq, batch, 0.0, "ready", "{}", "ab" * 32) for seq, batch in enumerate(batches, 1)]

    def rows(self, wanted):
        return [row for row in self.all if wanted.first <= row.seq <= wanted.last]


def test_copy_comes_as_it_was_sent():
    order = Order("o-1", copied=GameCopy.pack(A, made()))
    assert decode(encode(HubAnswer("a", 0.0, order=order)), HubAnswer).order.copied.rows() == made()


@pytest.mark.parametrize(
    "change",
    [
        lambda copy: {"hash": "00" * 32},
        lambda copy: {"seq": copy.seq - 1},
        lambda copy: {"epoch": "cd" * 16},
        lambda copy: {"data": copy.data[:-9]},
        lambda copy: {"data": b""},
        lambda copy: {"data": zlib.compress(b"[]")},
        lambda copy: {"data": zlib.compress(b'[[1,0.0,"ready","{}"]]')},
    ],
)
def test_copy_that_is_not_the_journal_is_refused(change):
    copy = GameCopy.pack(A, made())
    with pytest.raises(MessageError):
        msgspec.structs.replace(copy, **change(copy)).rows()


def test_copy_that_unpacks_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(messages, "MAX_UNPACKED_BYTES", 1_000)
    with pytest.raises(MessageError):
        GameCopy.pack(A, made(100)).rows()


def test_journal_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(messages, "MAX_COPY_BYTES", 10)
    with pytest.raises(MessageError, match="too long"):
        GameCopy.pack(A, made())


def send_up_to(last, journal):
    """Return the messages by which the records up to `last` are sent, each after the answer to the one before."""
    sent, acked = [], 0
    while acked < min(last, len(journal.all)):
        sent.append(next_events(RecordRange(A, acked + 1, last), journal))
        acked = sent[-1].records[-1].seq
    return sent


@pytest.mark.parametrize("sizes", [(3,) * 60, (1, 7) * 20, (64, 1, 63, 2), (5,) * 13])
@pytest.mark.parametrize("last", [1, 10, 64, 90])
def test_each_message_ends_with_a_whole_batch(sizes, last):
    journal = Rows(sizes)
    sent = send_up_to(last, journal)
    batches = [row.batch for row in journal.all]
    ends = {n for n, (batch, after) in enumerate(zip(batches, [*batches[1:], 0], strict=True), 1) if batch != after}
    assert {one.records[-1].seq for one in sent} <= ends
    every = [record.seq for one in sent for record in one.records]
    assert every == list(range(1, every[-1] + 1))
    assert every[-1] >= min(last, len(journal.all))
    assert all(len(one.records) <= messages.MAX_RECORDS for one in sent)


def test_batch_too_long_for_a_message_is_split():
    assert [len(one.records) for one in send_up_to(131, Rows((130, 1)))] == [64, 64, 3]

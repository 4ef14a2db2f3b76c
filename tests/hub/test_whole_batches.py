"""The messages by which a journal's records are sent: each ends with a whole batch."""

import pytest
from inbox_messages import A

from pi_controller.hub import messages
from pi_controller.hub.outbox import RecordRange
from pi_controller.hub.table_link import next_events
from pi_controller.journal.chain import JournalRow


class Rows:
    """Records of a journal, `sizes` are the records of each batch."""

    def __init__(self, sizes):
        batches = [n for n, size in enumerate(sizes, 1) for _ in range(size)]
        self.all = [JournalRow(seq, batch, 0.0, "ready", "{}", "ab" * 32) for seq, batch in enumerate(batches, 1)]

    def rows(self, wanted):
        return [row for row in self.all if wanted.first <= row.seq <= wanted.last]


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

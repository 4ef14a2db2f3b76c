"""Messages of a table that sends its journal to the hub, and the answer of the inbox to one."""

from pi_controller.hub.messages import Events, SentRecord
from pi_controller.journal.chain import JournalRow, chain_rows, genesis

A, B, C = "aa" * 16, "bb" * 16, "cc" * 16


def records(epoch, count, body="{}"):
    return [
        SentRecord(*row)
        for row in chain_rows(genesis(epoch), (JournalRow(n, n, n / 4, "ready", body) for n in range(1, count + 1)))
    ]


def events(epoch, first, last, body="{}"):
    return Events(epoch, tuple(records(epoch, last, body)[first - 1 :]))


def take(inbox, message, table="t01", t=1.0):
    """Return the one answer to one message, or None."""
    return dict(inbox.store_messages(t, [(table, message)])).get(table)

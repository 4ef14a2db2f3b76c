"""The hub takes each record once and only if it follows, keeps it through a kill, and mixes no two journals."""

from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest
from inbox_messages import A, B, C, events, records, take

from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Ack, Events, Hello, SentGame, SentRecord
from pi_controller.hub.store import StoreError, open_store
from pi_controller.journal.chain import JournalRow, chain_rows, genesis


@pytest.fixture
def inbox(where):
    with Inbox(where) as made:
        assert take(made, Hello((SentGame(A, 20),))) == Ack(A, 0)
        yield made


def test_records_are_taken_in_order_with_cumulative_ack(inbox):
    assert take(inbox, events(A, 1, 5)) == Ack(A, 5)
    assert take(inbox, events(A, 3, 8)) == Ack(A, 8)
    assert take(inbox, events(A, 11, 12)) == Ack(A, 8)
    assert (inbox.duplicates, inbox.gaps) == (3, 2)
    assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 8)]


def test_messages_that_come_together_get_one_answer(inbox):
    together = [("t01", events(A, 1, 2)), ("t01", events(A, 3, 4)), ("t02", Hello((SentGame(B, 1),)))]
    assert inbox.store_messages(1.0, together) == [("t01", Ack(A, 4)), ("t02", Ack(B, 0))]


def test_records_of_unannounced_game_or_table_are_ignored(inbox):
    assert take(inbox, events(B, 1, 2)) is None
    assert take(inbox, events(A, 1, 2), "t02") is None
    assert inbox.record_counts() == {"t01": {A: 0}}


def test_finished_game_precedes_next_game_without_alarm(inbox):
    take(inbox, events(A, 1, 5))
    assert take(inbox, Hello((SentGame(A, 7), SentGame(B, 2)))) == Ack(A, 5)
    take(inbox, events(A, 6, 7))
    assert take(inbox, Hello((SentGame(A, 7), SentGame(B, 2)))) == Ack(B, 0)
    assert take(inbox, events(B, 1, 2)) == Ack(B, 2)
    assert inbox.alarms() == []


def test_discarded_journal_without_records_raises_no_alarm(inbox):
    assert take(inbox, Hello((SentGame(B, 2),))) == Ack(B, 0)
    assert inbox.alarms() == []


def test_what_follows_a_refused_journal_is_refused_too(inbox):
    take(inbox, events(A, 1, 5))
    take(inbox, Hello((SentGame(B, 3),)))
    assert take(inbox, Hello((SentGame(B, 3), SentGame(C, 1)))) == Ack(C, 0, "replaced")
    assert take(inbox, Hello((SentGame(B, 3), SentGame(C, 1)))) == Ack(C, 0, "replaced")
    assert [(one.about, one.epoch) for one in inbox.alarms()] == [("replaced", C), ("replaced", B)]
    assert inbox.accept("t01") == 2
    assert take(inbox, Hello((SentGame(B, 3), SentGame(C, 1)))) == Ack(B, 0)


def test_another_journal_is_refused_until_somebody_accepts_it(inbox, where):
    take(inbox, events(A, 1, 5))
    assert take(inbox, Hello((SentGame(C, 3),))) == Ack(C, 0, "replaced")
    assert take(inbox, Hello((SentGame(C, 3),))) == Ack(C, 0, "replaced")
    assert take(inbox, events(C, 1, 3)) == Ack(C, 0, refused="replaced")
    assert [(one.about, one.table, one.epoch, one.open) for one in inbox.alarms()] == [("replaced", "t01", C, True)]
    with Inbox(where) as other:  # as another program does it
        assert other.accept("t01") == 1
    assert take(inbox, Hello((SentGame(C, 3),))) == Ack(C, 0)
    assert take(inbox, events(C, 1, 3)) == Ack(C, 3)
    assert inbox.record_counts() == {"t01": {A: 5, C: 3}}
    assert not inbox.alarms()[0].open


def test_late_report_counts_once_after_other_hub(inbox, where):
    """A hub that was stopped for a while gets to reports that its table has sent to another one since."""
    take(inbox, events(A, 1, 5))
    with Inbox(where) as other:
        take(other, Hello((SentGame(A, 8),)))
        take(other, events(A, 6, 8))
    assert take(inbox, events(A, 6, 7)) == Ack(A, 8)
    assert take(inbox, events(A, 8, 9)) == Ack(A, 9)
    assert inbox.alarms() == []
    assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 9)]


@pytest.mark.parametrize("first", [2, 5, 6])
def test_changed_journal_raises_alarm_and_is_not_merged(inbox, first):
    """A record that the hub has, with another hash; and one that follows records the hub never saw."""
    take(inbox, events(A, 1, 5))
    changed = events(A, first, 8, '{"changed": true}')
    assert take(inbox, changed) == Ack(A, 5, refused="tampered")
    assert take(inbox, events(A, 6, 8)) == Ack(A, 5, refused="tampered")
    assert [alarm.about for alarm in inbox.alarms()] == ["tampered"]
    assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 5)]
    assert take(inbox, Hello((SentGame(A, 8), SentGame(B, 2)))) == Ack(B, 0), "the next game is another"


def test_older_journal_copy_raises_tampered_alarm(inbox):
    take(inbox, events(A, 1, 5))
    older = [("t01", Hello((SentGame(A, 4),)))]
    assert inbox.store_messages(10.0, older) == []
    assert inbox.store_messages(12.0, older) == [("t01", Ack(A, 5, "tampered"))]
    assert "ends with record 4, and the hub has 5" in inbox.alarms()[0].message


def test_late_questions_raise_no_alarm(inbox):
    """They were sent before records that took another way: to another hub, or by a new connection."""
    take(inbox, events(A, 1, 5))
    late = [("t01", Hello((SentGame(A, 4),)))]
    for t in (10.0, 10.2, 20.0, 20.1):
        assert inbox.store_messages(t, late) == []
        if t == 10.2:
            assert take(inbox, Hello((SentGame(A, 5),))) == Ack(A, 5)
    assert inbox.alarms() == []


def test_failed_write_is_not_acknowledged(inbox, where):
    with closing(open_store(where)) as other:
        other.execute("ALTER TABLE records RENAME TO away")
        with pytest.raises(StoreError):
            take(inbox, events(A, 1, 5))
        other.execute("ALTER TABLE away RENAME TO records")
    assert take(inbox, events(A, 1, 5)) == Ack(A, 5)


BIG = 2**40


@pytest.mark.parametrize("number", [2**31, BIG, 2**53 - 1])
def test_large_batch_numbers_are_stored_exactly(inbox, number):
    row = JournalRow(1, number, 1.0, "ready", "{}")
    record = SentRecord(*next(chain_rows(genesis(A), [row])))
    assert take(inbox, Events(A, (record,))) == Ack(A, 1)
    assert [one.batch for one in inbox.rows("t01", A)] == [number]


@pytest.mark.parametrize("t", [1e308, -1e308, 5e-324, -0.0, 1e-300])
def test_extreme_times_are_stored_and_acknowledged(inbox, t):
    record = SentRecord(*next(chain_rows(genesis(A), [JournalRow(1, 1, t, "ready", "{}")])))
    assert take(inbox, Events(A, (record,))) == Ack(A, 1)
    assert [one.t for one in inbox.rows("t01", A)] == [t]


@pytest.mark.parametrize(("kind", "body"), [("re\0ady", "{}"), ("ready", '{"a":"\0"}'), ("ready", "\0")])
def test_record_with_nul_is_refused_without_affecting_others(inbox, kind, body):
    bad = SentRecord(*next(chain_rows(genesis(A), [JournalRow(1, 1, 1.0, kind, body)])))
    together = [
        ("t02", Hello((SentGame(B, 5),))),
        ("t01", Events(A, (bad,))),
        ("t02", events(B, 1, 5)),
    ]
    answers = inbox.store_messages(1.0, together)
    assert ("t01", Ack(A, 0, refused="tampered")) in answers
    assert ("t02", Ack(B, 5)) in answers
    assert "NUL" in inbox.alarms()[0].message
    assert inbox.record_counts() == {"t01": {A: 0}, "t02": {B: 5}}


def refuse_kind(where, kind):
    """Have the store itself refuse records of this kind."""
    with closing(open_store(where)) as store:
        if isinstance(where, Path):
            refuse = f"CREATE TRIGGER strict BEFORE INSERT ON records WHEN NEW.kind = '{kind}'"
            store.execute(f"{refuse} BEGIN SELECT RAISE(ABORT, 'no such kind'); END")
        else:
            store.execute(f"ALTER TABLE records ADD CHECK (kind <> '{kind}')")


def test_record_refused_by_store_blocks_its_table_alone(inbox, where):
    """As one that a later schema or a database's encoding does not take: 255 messages of others are with it."""
    refuse_kind(where, "bad")
    names = [f"t{n:02d}" for n in range(2, 10)]
    for name in names:
        take(inbox, Hello((SentGame(B, 40),)), name)
    rows = [JournalRow(n, n, 1.0, "bad" if n == 3 else "ready", "{}") for n in range(1, 6)]
    bad = [SentRecord(*row) for row in chain_rows(genesis(A), rows)]
    together = [(name, events(B, n, n)) for n in range(1, 33) for name in names]
    together[100:100] = [("t01", Events(A, (record,))) for record in bad]
    answers = dict(inbox.store_messages(1.0, together))
    assert answers == {"t01": Ack(A, 2, refused="tampered"), **dict.fromkeys(names, Ack(B, 32))}
    (alarm,) = inbox.alarms()
    assert (alarm.table, alarm.epoch, alarm.about) == ("t01", A, "tampered")
    assert "record 3 cannot be kept" in alarm.message
    assert inbox.record_counts() == {"t01": {A: 2}, **{name: {B: 32} for name in names}}
    assert take(inbox, Hello((SentGame(A, 5), SentGame(C, 2)))) == Ack(C, 0), "the next game is another"


def test_write_failure_of_one_table_delays_no_other(inbox, where):
    """For a reason that is not known to be the record's: it is not accused, and sends it again."""
    take(inbox, Hello((SentGame(B, 5),)), "t02")
    add, failing = Inbox._keep, {1}

    def fails(self, held, new):
        if new and held.id in failing:
            raise StoreError("the disk fails there")
        add(self, held, new)

    with patch.object(Inbox, "_keep", fails):
        assert inbox.store_messages(1.0, [("t01", events(A, 1, 5)), ("t02", events(B, 1, 5))]) == [("t02", Ack(B, 5))]
    assert inbox.alarms() == []
    assert take(inbox, events(A, 1, 5)) == Ack(A, 5)


def test_failing_store_raises_no_tampered_alarm(inbox, where):
    take(inbox, Hello((SentGame(B, 5),)), "t02")
    with closing(open_store(where)) as other:
        other.execute("ALTER TABLE records RENAME TO away")
        with pytest.raises(StoreError):
            inbox.store_messages(1.0, [("t01", events(A, 1, 5)), ("t02", events(B, 1, 5))])
        other.execute("ALTER TABLE away RENAME TO records")
    assert inbox.alarms() == []
    assert take(inbox, events(A, 1, 5)) == Ack(A, 5)


def test_another_programs_file_is_left_alone(tmp_path):
    path = tmp_path / "hub.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError):
        Inbox(path)
    assert path.read_bytes() == b"not a database at all" * 100


def test_no_record_is_ever_changed_or_removed(inbox, where):
    take(inbox, events(A, 1, 5))
    with closing(open_store(where)) as other:
        for query in ("UPDATE records SET t = 0", "DELETE FROM records"):
            with pytest.raises(StoreError, match="never changed or removed"):
                other.execute(query)
    assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 5)]


def test_full_disk_is_logged_once(inbox, caplog):
    messages = [(f"t{n:02d}", Hello((SentGame(f"{n:016x}", 1),))) for n in range(64)]
    together = inbox._store_together

    def full(t, of):
        raise StoreError("the disk is full")

    def full_for_one(t, of):
        return full(t, of) if any(table == "t07" for table, _ in of) else together(t, of)

    for _ in range(3):
        with patch.object(inbox, "_store_together", full), pytest.raises(StoreError):
            inbox.store_messages(1.0, messages)
    assert caplog.messages == [], "the hub says it"
    for _ in range(3):
        with patch.object(inbox, "_store_together", full_for_one):
            assert len(inbox.store_messages(1.0, messages)) == 63
    assert ["t07" in message for message in caplog.messages] == [True]

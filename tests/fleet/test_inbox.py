"""The hub takes each record once and only if it follows, keeps it through a kill, and mixes no two journals."""

import signal
import subprocess
import sys
from contextlib import closing

import pytest

from pi_controller.fleet.inbox import Inbox
from pi_controller.fleet.messages import Ack, Events, Game, Hello, Record
from pi_controller.fleet.store import StoreError, open_store
from pi_controller.table.chain import Row, chained, genesis

A, B, C = "aa" * 16, "bb" * 16, "cc" * 16


def records(epoch, count, body="{}"):
    return [
        Record(*row) for row in chained(genesis(epoch), (Row(n, n, n / 4, "ready", body) for n in range(1, count + 1)))
    ]


def events(epoch, first, last, body="{}"):
    return Events(epoch, tuple(records(epoch, last, body)[first - 1 :]))


def take(inbox, message, table="t01", t=1.0):
    """Return the one answer to one message, or None."""
    return dict(inbox.take(t, [(table, message)])).get(table)


@pytest.fixture
def inbox(where):
    with Inbox(where) as made:
        assert take(made, Hello("a", (Game(A, 20),))) == Ack(A, 0, "a")
        yield made


def test_only_what_comes_next_is_taken_and_the_answer_is_cumulative(inbox):
    assert take(inbox, events(A, 1, 5)) == Ack(A, 5)
    assert take(inbox, events(A, 3, 8)) == Ack(A, 8)
    assert take(inbox, events(A, 11, 12)) == Ack(A, 8)
    assert (inbox.duplicates, inbox.gaps) == (3, 2)
    assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 8)]


def test_messages_that_come_together_get_one_answer(inbox):
    together = [("t01", events(A, 1, 2)), ("t01", events(A, 3, 4)), ("t02", Hello("b", (Game(B, 1),)))]
    assert inbox.take(1.0, together) == [("t01", Ack(A, 4)), ("t02", Ack(B, 0, "b"))]


def test_nobody_is_taken_who_was_not_introduced(inbox):
    assert take(inbox, events(B, 1, 2)) is None
    assert take(inbox, events(A, 1, 2), "t02") is None
    assert inbox.held() == {"t01": {A: 0}}


def test_a_next_game_is_no_alarm_and_the_finished_one_comes_first(inbox):
    take(inbox, events(A, 1, 5))
    assert take(inbox, Hello("b", (Game(A, 7), Game(B, 2)))) == Ack(A, 5, "b")
    take(inbox, events(A, 6, 7))
    assert take(inbox, Hello("c", (Game(A, 7), Game(B, 2)))) == Ack(B, 0, "c")
    assert take(inbox, events(B, 1, 2)) == Ack(B, 2)
    assert inbox.alarms() == []


def test_a_journal_that_was_put_away_before_its_first_record_is_missed_by_nobody(inbox):
    assert take(inbox, Hello("b", (Game(B, 2),))) == Ack(B, 0, "b")
    assert inbox.alarms() == []


def test_another_journal_is_refused_until_somebody_accepts_it(inbox, where):
    take(inbox, events(A, 1, 5))
    assert take(inbox, Hello("b", (Game(C, 3),))) == Ack(C, 0, "b", "replaced")
    assert take(inbox, Hello("c", (Game(C, 3),))) == Ack(C, 0, "c", "replaced")
    assert take(inbox, events(C, 1, 3)) == Ack(C, 0, refused="replaced")
    assert [(one.about, one.table, one.epoch, one.open) for one in inbox.alarms()] == [("replaced", "t01", C, True)]
    with Inbox(where) as other:  # as another program does it
        assert other.accept("t01") == 1
    assert take(inbox, Hello("e", (Game(C, 3),))) == Ack(C, 0, "e")
    assert take(inbox, events(C, 1, 3)) == Ack(C, 3)
    assert inbox.held() == {"t01": {A: 5, C: 3}}
    assert not inbox.alarms()[0].open


@pytest.mark.parametrize("first", [2, 5, 6])
def test_a_journal_that_was_changed_is_told_and_never_merged(inbox, first):
    """A record that the hub has, with another hash; and one that follows records the hub never saw."""
    take(inbox, events(A, 1, 5))
    changed = events(A, first, 8, '{"changed": true}')
    assert take(inbox, changed) == Ack(A, 5, refused="tampered")
    assert take(inbox, events(A, 6, 8)) == Ack(A, 5, refused="tampered")
    assert [alarm.about for alarm in inbox.alarms()] == ["tampered"]
    assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 5)]
    assert take(inbox, Hello("b", (Game(A, 8), Game(B, 2)))) == Ack(B, 0, "b"), "the next game is another"


def test_an_older_copy_of_the_journal_is_told(inbox):
    take(inbox, events(A, 1, 5))
    assert take(inbox, Hello("b", (Game(A, 4),))) == Ack(A, 5, "b", "tampered")
    assert "ends with record 4, and the hub has 5" in inbox.alarms()[0].what


def test_what_cannot_be_written_is_not_acknowledged(inbox, where):
    with closing(open_store(where)) as other:
        other.execute("ALTER TABLE records RENAME TO away")
        with pytest.raises(StoreError):
            take(inbox, events(A, 1, 5))
        other.execute("ALTER TABLE away RENAME TO records")
    assert take(inbox, events(A, 1, 5)) == Ack(A, 5)


def test_another_programs_file_is_left_alone(tmp_path):
    path = tmp_path / "hub.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError):
        Inbox(path)
    assert path.read_bytes() == b"not a database at all" * 100


WRITER = """
import sys
sys.path.insert(0, {folder!r})
from pathlib import Path
from test_inbox import A, Events, Game, Hello, Inbox, records
inbox = Inbox(Path(sys.argv[1]))
inbox.take(0.0, [("t01", Hello("a", (Game(A, 2000),)))])
held = inbox.held()["t01"][A]
for record in records(A, 2000)[held:]:
    ((_, ack),) = inbox.take(0.0, [("t01", Events(A, (record,)))])
    print(ack.seq, flush=True)
"""


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path, request):
    path, acknowledged = tmp_path / "hub.sqlite", 0
    program = WRITER.format(folder=str(request.path.parent))
    for after in (1, 40, 7, 150, 3):
        with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True) as writer:
            for _ in range(after):
                line = writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
            rest = [one for one in writer.stdout.read().split("\n")[:-1] if one]
        assert int(line) > acknowledged
        acknowledged = int((rest or [line])[-1])
        with Inbox(path) as inbox:
            held = inbox.held()["t01"][A]
            assert held >= acknowledged
            assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, held)]


def test_no_record_is_ever_changed_or_removed(inbox, where):
    take(inbox, events(A, 1, 5))
    with closing(open_store(where)) as other:
        for query in ("UPDATE records SET t = 0", "DELETE FROM records"):
            with pytest.raises(StoreError, match="never changed or removed"):
                other.execute(query)
    assert list(inbox.rows("t01", A)) == [record.row() for record in records(A, 5)]

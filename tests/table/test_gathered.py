"""What promises nothing is written together with the next event: what a power cut may take, and what it may not."""

import random

from pi_controller.errors import JournalError
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.facts import HandPass
from pi_controller.referee.history import fold
from pi_controller.referee.selection import referee_for
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike
from pi_controller.table.table import BUFFERED_FACTS, Table, commitment_context

DAKOTA = game("dakota", {"points": 50})
GATHER_S = 3.0


def sit(journal, gather_s=GATHER_S):
    referee = referee_for(DAKOTA, None, random.Random(1).randbytes, commitment_context(journal, "t"))
    return Table(journal, DAKOTA, {"A": "Red", "B": "Blue"}, referee, 0.0, gather_s=gather_s)


def events(hides):
    """Yield what a mat feels in some hides, each with its time."""
    yield Link(1.0, up=True)
    yield Button(2.0, "toss_a")
    chance, t = random.Random(3), 3.0
    for _ in range(hides):
        for pad in (1, 2, 3, 4):
            yield HandIn(t, pad)
            yield HandOut(t + 0.2, pad)
            t += 0.5
        pad = chance.randint(1, 4)
        yield BeadsAtRest(t, (Bead(pad),))
        yield Button(t, "ready")
        for n, hit in enumerate(chance.sample([1, 2, 3, 4], 2)):
            yield Strike(t + 1 + n, (hit,))
        yield BeadsAtRest(t + 4, ())
        t += 5


def play(table, hides=6):
    """Play, and yield after each step what was felt and the facts of it."""
    for event in events(hides):
        facts = table.mat_event(event)
        facts += table.tick(event.t + 0.01)
        yield event, facts


def on_disk(path):
    with Journal(path, read_only=True) as journal:
        return [fact for _, fact in journal.read()]


def test_promised_facts_are_on_disk_before_release(tmp_path):
    path, told, waited = tmp_path / "j.sqlite", [], 0
    with Journal(path) as journal:
        table = sit(journal)
        for _, facts in play(table):
            told += facts
            kept = on_disk(path)
            waited += len(kept) < len(told) + 1
            lacking = told[len(kept) - 1 :]
            assert all(isinstance(fact, BUFFERED_FACTS) for fact in lacking)
            assert all(fact.t > table.story.clocks.last_t - GATHER_S - 1 for fact in lacking)
    assert waited > 20
    assert on_disk(path)[1:] == told, "closing writes the rest"
    assert verify_journal(path).whole


def test_gathered_facts_are_written_after_their_time(tmp_path):
    path = tmp_path / "j.sqlite"
    with Journal(path) as journal:
        table = sit(journal)
        table.mat_event(Button(1.0, "toss_a"))
        table.mat_event(HandIn(2.0, 1))
        table.mat_event(HandOut(2.2, 1))
        assert not [fact for fact in on_disk(path) if isinstance(fact, HandPass)]
        table.tick(2.2 + GATHER_S - 0.1)
        assert not [fact for fact in on_disk(path) if isinstance(fact, HandPass)]
        table.tick(2.3 + GATHER_S)
        assert [fact for fact in on_disk(path) if isinstance(fact, HandPass)]
        assert fold(DAKOTA, journal.read()) == table.story


def test_gathering_changes_no_record(tmp_path):
    stories = []
    for gather_s in (0.0, GATHER_S):
        with Journal(tmp_path / f"{gather_s}.sqlite", token=bytes) as journal:
            table = sit(journal, gather_s)
            list(play(table))
            journal.flush()
            stories.append((list(journal.rows()), table.story))
    assert stories[0] == stories[1]


def test_failed_flush_halts_play_until_retry(tmp_path, monkeypatch):
    with Journal(tmp_path / "j.sqlite") as journal:
        table = sit(journal)
        table.mat_event(Button(1.0, "toss_a"))
        table.mat_event(HandIn(2.0, 1))
        table.mat_event(HandOut(2.2, 1))
        seq = journal.seq
        with monkeypatch.context() as patch:
            patch.setattr(journal, "_write", refuse)
            table.tick(20.0)
        assert table.halted is not None
        assert table.retry(21.0)
        assert journal.seq >= seq
        assert fold(DAKOTA, journal.read()) == table.story


def refuse(*_):
    raise JournalError("the disk fails")

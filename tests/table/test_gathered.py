"""What promises nothing is written together with the next event: what a power cut may take, and what it may not."""

import random
import shutil

import pytest

from pi_controller.errors import JournalError
from pi_controller.journal import file
from pi_controller.journal.journal import Journal
from pi_controller.journal.verify import verify_journal
from pi_controller.referee.base import referee_for
from pi_controller.referee.facts import HandPass
from pi_controller.referee.history import fold
from pi_controller.rules.registry import game
from pi_controller.sensing.events import Bead, BeadsAtRest, Button, HandIn, HandOut, Link, Strike
from pi_controller.table.table import Table, commitment_context

DAKOTA = game("dakota", {"points": 50})
GATHER_S = 3.0
FRAME = 24 + 4096


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
            assert all(isinstance(fact, file.BUFFERED_FACTS) for fact in lacking)
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


@pytest.mark.parametrize("hole", [False, True], ids=["cut", "hole"])
@pytest.mark.parametrize("witness", [True, False], ids=["with lock", "without lock"])
def test_power_cut_loses_no_promised_fact(tmp_path, witness, hole):
    """The log is cut at every frame of the transaction that was being written, and in the middle; or lacks a frame."""
    path, copy = tmp_path / "j.sqlite", tmp_path / "copy" / "j.sqlite"
    copy.parent.mkdir()
    cuts = alarms = 0
    with Journal(path) as journal:
        table = sit(journal)
        log = path.with_name("j.sqlite-wal")
        before, acknowledged = log.stat().st_size, journal.seq
        for _, _ in play(table, 3):
            if (size := log.stat().st_size) == before:
                continue
            seq = journal.seq
            for cut in range(before, size, FRAME // 2):
                for ending in ("", "-wal", ".lock")[: 2 + witness]:
                    shutil.copy(path.with_name(f"j.sqlite{ending}"), copy.with_name(f"j.sqlite{ending}"))
                if witness:  # the acknowledgement is written after the flush
                    with copy.with_name("j.sqlite.lock").open("r+b") as lock:
                        file.acknowledge(lock.fileno(), journal.meta, acknowledged)
                with copy.with_name("j.sqlite-wal").open("r+b") as torn:
                    if hole:
                        torn.seek(cut)
                        torn.write(bytes(min(FRAME // 2, size - cut)))
                    else:
                        torn.truncate(cut)
                found = verify_journal(copy)
                assert found.whole or hole, (found.wrong, cut)
                alarms += not found.whole
                assert acknowledged <= found.records <= seq
                cuts += 1
            before, acknowledged = size, seq
    assert cuts > 20
    assert alarms <= 2, "a hole in a transaction of two pages may look like a lost event, which errs to the safe side"


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


def test_log_knows_the_kinds_that_a_table_gathers():
    kinds = sorted(fact.__struct_config__.tag for fact in file.BUFFERED_FACTS)
    assert kinds == ["hand_pass", "link", "ready", "round", "sensors", "shown"]

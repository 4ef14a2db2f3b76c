"""Records and messages of a newer version: the director is told, other tables go on, and an update follows again."""

from __future__ import annotations

import random
from contextlib import closing
from itertools import count

import msgspec
import pytest
from inbox_messages import take

from pi_controller.errors import JournalError, MatError
from pi_controller.hub.director import MAX_NOTES_OF_TABLE, Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.join import is_newer_version
from pi_controller.hub.messages import MAX_RECORDS, Events, Game, Hello, MessageError, Record, View, decode
from pi_controller.hub.store import TournamentLog
from pi_controller.journal import file
from pi_controller.journal.file import Row, chain_rows, genesis
from pi_controller.journal.journal import Journal
from pi_controller.referee.base import referee_for
from pi_controller.referee.facts import GameOpened, MatchGiven
from pi_controller.referee.settings import RefereeSettings
from pi_controller.rules.registry import game
from pi_controller.runtime.console import execute_line
from pi_controller.table.table import Table
from pi_controller.tournament import decisions as d

TEAMS = ("Big Coulee", "Long Hollow", "Buffalo Lake", "Enemy Swim")
UNKNOWN = '{"kind":"fact_of_next_version","t":0.0}'
EPOCHS = (f"{n:032x}" for n in count(1))


class Venue:
    """An inbox and a director with a plan of four teams; what tables send goes straight into the inbox."""

    def __init__(self, where):
        self.where = where
        self.inbox, self.log = Inbox(where), TournamentLog(where)
        self.director = Director(self.log, self.inbox)
        plan = d.Planned("cup", options={"points": 2}, results="at_once", calling="director")
        entered = d.Entered(tuple(d.Entry(team) for team in TEAMS))
        for fact in (plan, entered, d.TeamsDrawn(order=TEAMS)):
            self.director.decide(1.0, "Ann", fact)

    def call(self, match, table, order):
        self.director.decide(2.0, "Ann", d.Assigned(match, table, order))

    def send(self, table, rows):
        """Take these records of a new journal at `table` into the inbox; return its epoch."""
        epoch = next(EPOCHS)
        records = [Record(*row) for row in chain_rows(genesis(epoch), rows)]
        assert take(self.inbox, Hello("a", (Game(epoch, len(records)),)), table).refused == ""
        for n in range(0, len(records), MAX_RECORDS):
            some = records[n : n + MAX_RECORDS]
            assert take(self.inbox, Events(epoch, tuple(some)), table).seq == some[-1].seq
        return epoch

    def restart(self):
        """Return a director as the next start of the program has it."""
        self.director = Director(self.log, self.inbox)
        self.director.catch_up(9.0)
        return self.director

    def close(self):
        self.log.close()
        self.inbox.close()


@pytest.fixture
def venue(where):
    made = Venue(where)
    yield made
    made.close()


def rows_of(facts, batch=1):
    return [(batch, fact.__struct_config__.tag, msgspec.json.encode(fact).decode()) for fact in facts]


def numbered(parts):
    return [Row(n, batch, 0.0, kind, body) for n, (batch, kind, body) in enumerate(parts, 1)]


def opening(match, order, teams, options=None):
    rules = game("dakota", {"points": 2})
    opened = GameOpened(
        0.0, "dakota", rules.version, rules.source, options or dict(rules.settings), dict(zip("AB", teams, strict=True))
    )
    return [opened, MatchGiven(0.0, "cup", match, f"{order}-1")]


def played(folder, match, order, teams):
    """Return the records of a whole game of this match that the first team wins."""
    rules = game("dakota", {"points": 2})
    referee = referee_for(rules, RefereeSettings(), random.Random(1).randbytes)
    with closing(Journal(folder / f"{match}.sqlite", created=0.0)) as journal:
        journal.append(opening(match, order, teams))
        table = Table(journal, rules, {}, referee, 0.0)
        for line in ("toss A", "close B forfeit gone"):
            execute_line(table, line, 1.0)
        return [(row.batch, row.kind, row.body) for row in journal.rows()]


@pytest.mark.parametrize(
    "body",
    [
        UNKNOWN,
        "[" * 5000,
        '{"kind":"ready","t":' + "9" * 5000 + "}",
        '{"kind":"ready","t":"soon"}',
        '{"kind":"ready"}',
        "null",
        "",
        "\udcff",
        7,
    ],
)
def test_undecodable_body_is_a_journal_error(body):
    with pytest.raises(JournalError) as caught:
        file.decode(body)
    assert "update the program" in caught.value.hint


@pytest.mark.parametrize("in_first_batch", [True, False])
def test_unknown_record_is_noted_and_other_tables_continue(venue, tmp_path, in_first_batch):
    venue.call("W1-1", "t01", "a" * 16)
    venue.call("W1-2", "t02", "b" * 16)
    first = rows_of(opening("W1-1", "a" * 16, (TEAMS[0], TEAMS[3])))
    venue.send("t01", numbered([*first, (1 if in_first_batch else 2, "fact_of_next_version", UNKNOWN)]))
    venue.send("t02", numbered(played(tmp_path, "W1-2", "b" * 16, TEAMS[1:3])))
    for restarts in (False, True):
        director = venue.restart() if restarts else venue.director
        director.catch_up(5.0)
        (note,) = director.notes.values()
        assert "W1-1 at t01" in note
        assert "record 3" in note
        assert "by hand" in note
        assert "update the hub" in note
        assert "W1-2" in director.now.sources
        assert "W1-1" in director.now.calls


def test_result_by_hand_settles_a_game_not_followed(venue):
    venue.call("W1-1", "t01", "a" * 16)
    parts = [*rows_of(opening("W1-1", "a" * 16, (TEAMS[0], TEAMS[3]))), (2, "fact_of_next_version", UNKNOWN)]
    venue.send("t01", numbered(parts))
    venue.director.catch_up(5.0)
    assert venue.director.notes
    venue.director.decide(6.0, "Ann", d.Result("W1-1", TEAMS[0]))
    assert venue.director.now.state.games["W1-1"][0].winner == TEAMS[0]
    assert not venue.director.notes
    venue.call("W1-2", "t01", "c" * 16)  # the table is free for another match


def test_updated_hub_follows_the_game_again(venue, tmp_path, monkeypatch):
    venue.call("W1-1", "t01", "a" * 16)
    parts = played(tmp_path, "W1-1", "a" * 16, (TEAMS[0], TEAMS[3]))
    at = next(n for n, part in enumerate(parts) if part[0] > 1)
    known = parts[at]
    parts[at] = (known[0], "fact_of_next_version", UNKNOWN)
    venue.send("t01", numbered(parts))
    venue.director.catch_up(5.0)
    assert "W1-1" not in venue.director.now.sources
    before = file.decode
    monkeypatch.setattr(file, "decode", lambda body: before(known[2] if body == UNKNOWN else body))
    assert "W1-1" in venue.restart().now.sources
    assert not venue.director.notes


def test_fact_raising_an_error_is_noted_by_hub(venue, monkeypatch):
    def fails(*_):
        raise OverflowError("int too large to convert to float")

    venue.call("W1-1", "t01", "a" * 16)
    monkeypatch.setattr("pi_controller.referee.history.History.add", fails)
    epoch = venue.send("t01", numbered(rows_of(opening("W1-1", "a" * 16, (TEAMS[0], TEAMS[3])))))
    venue.director.process_records(5.0, "t01", epoch)
    (note,) = venue.director.notes.values()
    assert "W1-1 at t01" in note
    assert "OverflowError" in note


def test_game_of_unknown_options_is_noted(venue):
    epoch = venue.send("t01", numbered(rows_of(opening("W1-1", "a" * 16, TEAMS[:2], {"points": "many"}))))
    venue.director.process_records(5.0, "t01", epoch)
    assert "W1-1 at t01" in "".join(venue.director.notes.values())


def test_notes_are_bounded_and_without_control_characters(venue):
    venue.director.note("ours", "what another table needs", "t02")
    for n in range(3 * MAX_NOTES_OF_TABLE):
        venue.director.note(str(n), f"\x1b[2J\u202e{n}" + "x" * 5000, "t01")
    assert len(venue.director.notes) == MAX_NOTES_OF_TABLE + 1
    assert "ours" in venue.director.notes
    assert all(note.isprintable() and len(note) < 1000 for note in venue.director.notes.values())


def test_deeply_nested_view_is_a_message_error():
    nested = b'{"sheet":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    with pytest.raises(MessageError):
        decode(nested, View)
    assert issubclass(MessageError, MatError)


@pytest.mark.parametrize(
    ("program", "other", "newer"),
    [("0.2.0", "0.1.0", True), ("0.1.0", "0.1.0", False), ("0.1.0", "0.10.0", False), ("\x1b", "0.1.0", False)],
)
def test_versions_are_compared_by_number(program, other, newer):
    assert is_newer_version(program, other) is newer

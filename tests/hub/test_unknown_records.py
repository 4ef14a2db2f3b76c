"""Records and messages of a newer version: the director is told, other tables go on, and an update follows again."""

from __future__ import annotations

import pytest
from hub_venue import TEAMS, Venue, numbered, opening, played, rows_of

from pi_controller.errors import JournalError, MatError
from pi_controller.hub.director import MAX_NOTES_OF_TABLE
from pi_controller.hub.join import is_newer_version
from pi_controller.hub.messages import MessageError, View, decode
from pi_controller.journal import file
from pi_controller.tournament import decisions as d

UNKNOWN = '{"kind":"fact_of_next_version","t":0.0}'


@pytest.fixture
def venue(where):
    made = Venue(where)
    yield made
    made.close()


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

"""A match that has begun goes on at another table: with its score, and so that it counts once."""

import pytest
from hub_hall import TEAMS

from pi_controller.journal.verify import verify_journal
from pi_controller.referee.judge import MatchCall
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.tournament import decisions as d

PLAY = ("toss A", "found", "missed", "missed", "found")


def move(hall, match, table, order="d", **more):
    able = {name: one.table.view.free is not False for name, one in hall.tables.items()}
    return hall.director.move(hall.clock(), "Ann", d.Moved(match, table, order * 16, **more), able)


def begin(hall, *lines, **plan):
    """Play W1-1 at t01; return its table and another one."""
    first, second = hall.table("t01"), hall.table("t02")
    hall.plan(**{"options": {"points": 9}, **plan})
    hall.do(d.Assigned("W1-1", "t01", "a" * 16))
    hall.until(lambda: first.match == "W1-1")
    first.do(*lines)
    hall.await_records(first)
    hall.until(lambda: hall.now.calls["W1-1"].started and hall.director.replies.get("t01"))
    return first, second


def end(table, winner):
    loser = next(side for side, name in table.table.view.teams.items() if name != winner)
    table.do(f"close {loser} forfeit gone")


def sheet(table):
    return table.table.game.sheet(table.table.story.state)


@pytest.mark.parametrize("kind", ["dakota", "slahal", "ojibwe"])
def test_moved_game_continues_in_the_same_state(hall, kind):
    lines = {"dakota": PLAY, "slahal": ("duo A yes B no", "guess left actual right"), "ojibwe": ("toss A", "found")}
    first, second = hall.table("t01", kind), hall.table("t02", kind)
    hall.plan(game=kind, options={})
    hall.do(d.Assigned("W1-1", "t01", "a" * 16))
    hall.until(lambda: first.match == "W1-1")
    first.do(*lines[kind])
    hall.await_records(first)
    hall.until(lambda: hall.now.calls["W1-1"].started)
    move(hall, "W1-1", "t02")
    hall.until(lambda: second.match == "W1-1")
    assert (sheet(second), second.table.view.teams) == (sheet(first), first.table.view.teams)
    assert second.table.story.phase == "hide"


def test_moved_game_is_whole_after_restart(hall):
    first, second = begin(hall, *PLAY)
    move(hall, "W1-1", "t02")
    hall.until(lambda: second.match == "W1-1")
    second.do("missed", "undo")
    second.close()
    assert verify_journal(second.path).whole
    second.start()
    assert (second.table.story.order, sheet(second)) == ("d" * 16 + "-1", sheet(first))


def test_match_moved_before_its_toss_begins_with_it(hall):
    first, second = begin(hall, "toss A")
    first.do("undo")
    hall.await_records(first)
    move(hall, "W1-1", "t02")
    hall.until(lambda: second.match == "W1-1")
    assert second.table.story.phase == "toss"


def test_impossible_score_of_moved_match_is_refused(hall):
    table = hall.table("t01").table
    call = MatchCall(0.0, "cup", "W1-1", "o-1", "dakota", table.game.version, {}, {"A": "X", "B": "Y"}, {"long": 7})
    with pytest.raises(InvalidActionError):
        table.judge(call)
    assert not table.story.order


def test_moved_match_counts_once_at_its_new_table(hall):
    first, second = begin(hall, *PLAY)
    move(hall, "W1-1", "t02")
    hall.until(lambda: first.table.view.void == "moved" and second.match == "W1-1")
    end(second, TEAMS[3])
    hall.until(lambda: "W1-1" in hall.now.sources)
    end(first, TEAMS[0])
    hall.await_records(first)
    hall.until(lambda: any(about.startswith("moved ") for about in hall.director.notes))
    assert [(one.table, one.epoch) for one in hall.now.sources["W1-1"]] == [("t02", second.epoch)]
    assert [one.winner for one in hall.now.state.games["W1-1"]] == [TEAMS[3]]
    assert not hall.now.reports


@pytest.mark.parametrize("hub_restarts", [False, True])
def test_match_moves_from_a_table_without_power(hall, hub_restarts):
    first, second = begin(hall, *PLAY)
    before = sheet(first)
    first.close()
    move(hall, "W1-1", "t02", unused=True)
    if hub_restarts:
        hall.stop()
        hall.start()
    del hall.tables["t01"]
    hall.until(lambda: second.match == "W1-1")
    assert sheet(second) == before
    end(second, TEAMS[0])
    hall.until(lambda: "W1-1" in hall.now.sources)
    first.start()
    hall.tables["t01"] = first
    hall.until(lambda: first.table.view.void == "moved")
    end(first, TEAMS[3])
    hall.await_records(first)
    assert [one.winner for one in hall.now.state.games["W1-1"]] == [TEAMS[0]]
    assert "t01" in hall.now.unused


def test_hide_in_progress_restarts_at_new_table(hall):
    first, second = begin(hall, "toss A", "found")
    at_pause = sheet(first)
    first.do("missed")
    assert first.table.view.phase == "hit"
    move(hall, "W1-1", "t02")
    hall.until(lambda: second.match == "W1-1")
    assert (second.table.view.phase, sheet(second)) == ("hide", at_pause)


def test_match_moves_on_from_table_without_it(hall):
    first, second = begin(hall, *PLAY)
    second.close()
    del hall.tables["t02"]
    hall.director.move(1.0, "Ann", d.Moved("W1-1", "t02", "d" * 16), {"t02": True})
    hall.until(lambda: first.table.view.void)
    first.do("close void")
    hall.until(lambda: first.table.view.free)
    move(hall, "W1-1", "t01", "e")
    hall.until(lambda: first.match == "W1-1" and first.table.view.phase != "over")
    assert first.table.story.order == "e" * 16 + "-1"
    second.start()
    hall.tables["t02"] = second
    end(first, TEAMS[0])
    hall.until(lambda: "W1-1" in hall.now.sources)
    assert second.match is None


def test_next_game_of_a_moved_match_starts_afresh(hall):
    _, second = begin(hall, *PLAY, best_of=3)
    move(hall, "W1-1", "t02")
    hall.until(lambda: second.match == "W1-1")
    moved = second.epoch
    end(second, TEAMS[0])
    hall.until(lambda: second.match == "W1-1" and second.epoch != moved)
    assert second.table.story.phase == "toss"


def test_move_that_cannot_be_is_refused(hall):
    first, second = begin(hall, "toss A", results="confirm")
    with pytest.raises(IllegalActionError, match="not connected"):
        hall.director.move(1.0, "Ann", d.Moved("W1-1", "t09", "d" * 16), {"t01": True})
    with pytest.raises(IllegalActionError, match="in progress"):
        hall.director.move(1.0, "Ann", d.Moved("W1-1", "t02", "d" * 16), {"t02": False})
    hall.do(d.Assigned("W1-2", "t02", "b" * 16))
    with pytest.raises(IllegalActionError, match="W1-2 is at t02"):
        move(hall, "W1-1", "t02")
    with pytest.raises(IllegalActionError, match="not begun"):
        hall.director.move(1.0, "Ann", d.Moved("W1-2", "t03", "d" * 16), {"t03": True})
    end(first, TEAMS[0])
    hall.until(lambda: hall.now.reports)
    with pytest.raises(IllegalActionError, match="is over"):
        hall.director.move(1.0, "Ann", d.Moved("W1-1", "t03", "d" * 16), {"t03": True})
    assert not hall.now.moved
    assert second.match in {None, "W1-2"}


def test_move_is_not_undone_but_made_back(hall):
    first, second = begin(hall, *PLAY)
    move(hall, "W1-1", "t02")
    hall.until(lambda: second.match == "W1-1")
    with pytest.raises(IllegalActionError, match="goes on at its new table"):
        hall.director.undo(1.0, "Ann")
    second.do("missed", "missed")
    hall.await_records(second)
    first.do("close void")
    hall.until(lambda: first.table.view.free)
    move(hall, "W1-1", "t01", "e")
    hall.until(lambda: first.table.story.order == "e" * 16 + "-1")
    assert sheet(first) == sheet(second)

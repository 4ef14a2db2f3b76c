"""What the director is warned of: only what the hub knows to be so, and as long as it is so."""

import pytest
from hub_hall import TEAMS

from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.hub.boards import Boards
from pi_controller.hub.hub import TableStatus
from pi_controller.hub.table_cards import format_judge_requests, tables_markup
from pi_controller.hub.table_names import name_tables
from pi_controller.tournament import decisions as d

LATE_S = 3600.0


def alerts(hall, later=0.0):
    boards = Boards(hall.director, lambda: hall.clock() + later, ENGLISH)
    boards.tables = hall.statuses
    return boards._alerts()


def call(hall, *lines, **plan):
    """Call W1-1 to t01 and play these lines there; return the table."""
    table = hall.at_match(**plan)
    table.do(*lines)
    hall.await_records(table)
    return table


def end(table):
    table.do("forfeit B")


@pytest.mark.parametrize("lines", [(), ("toss A", "found")])
def test_manual_result_of_unfinished_game_is_not_undone(hall, lines):
    table = call(hall, *lines)
    hall.until(lambda: bool(lines) == hall.now.calls["W1-1"].started)
    hall.do(d.Result("W1-1", TEAMS[0]))
    hall.until(lambda: table.table.view.void == "decided")
    (game,) = hall.director.games_at_tables()
    assert (game.void, game.undone, game.begun) == ("decided", False, bool(lines))
    assert not hall.director.notes
    assert len(alerts(hall)) == len(lines[:1]), "people who play on must be told; nobody plays a game without an action"


def test_undone_end_alerts_until_game_ends_again(hall):
    table = call(hall, "toss A", results="at_once")
    end(table)
    hall.until(lambda: "W1-1" in hall.now.sources)
    assert not alerts(hall)
    table.do("undo")
    hall.until(lambda: any(game.undone for game in hall.director.games_at_tables()))
    (alert,) = alerts(hall)
    assert "after its result counted: Winners' side, round 1, match 1" in alert
    end(table)
    hall.until(lambda: not hall.director.games_at_tables())
    assert not alerts(hall)


def test_corrected_result_clears_undone_end_alert(hall):
    table = call(hall, "toss A", results="at_once")
    end(table)
    hall.until(lambda: "W1-1" in hall.now.sources)
    table.do("undo")
    hall.until(lambda: any(game.undone for game in hall.director.games_at_tables()))
    hall.do(d.Corrected("W1-1", TEAMS[3]))
    (game,) = hall.director.games_at_tables()
    assert not game.undone


def test_lost_table_raises_no_late_start_alert(hall):
    table = call(hall, grace_s=60.0)
    assert "have not started in time" in "".join(alerts(hall, LATE_S))
    table.close()
    del hall.tables["t01"]
    hall.until(lambda: hall.statuses[0].state != "ready")
    (alert,) = alerts(hall, LATE_S)
    assert "not started" not in alert
    assert "Winners' side, round 1, match 1" in alert


def test_pending_result_of_lost_table_raises_no_alert(hall):
    table = call(hall, "toss A", results="confirm")
    end(table)
    hall.until(lambda: hall.now.reports)
    table.close()
    del hall.tables["t01"]
    hall.until(lambda: hall.statuses[0].state != "ready")
    assert not alerts(hall, LATE_S)


@pytest.mark.parametrize("why", ["changed", "decided", "moved", "recalled"])
def test_void_match_says_stop_during_play_alone(view, why):
    playing, waiting = (Phrases(ENGLISH).sentence(view(void=why, free=free)) for free in (False, True))
    over = Phrases(ENGLISH).sentence(view(void=why, phase="over", free=True))
    assert playing.startswith("Stop playing")
    assert waiting == over != playing
    assert ("counts" in playing) == (why in {"changed", "recalled"})


def test_equal_table_names_have_their_accounts(view):
    asked = view(protest="A")
    tables = [
        TableStatus(f"t{n:02}", name, "ready", asked) for n, name in enumerate(["Table 1", "Door", "table  1"], 1)
    ]
    assert name_tables(tables) == {"t01": "Table 1 (t01)", "t02": "Door", "t03": "table  1 (t03)"}
    for shown in (tables_markup(tables, ENGLISH), format_judge_requests(tables, ENGLISH)):
        assert "Table 1 (t01)" in shown
        assert "Door (t02)" not in shown


def test_equal_table_names_are_one_alert(site, view):
    site.drawn()
    tables = tuple(TableStatus(f"t{n:02}", "Table 1", "ready", view()) for n in (1, 2, 3))
    site.pages.publish(tables)
    boards = site.pages._boards
    assert [alert.count("t03") for alert in boards._alerts()] == [1]
    site.decide(do="assign", match="W1-1", table="t03")
    for page in ("/director", "/", "/hall", "/announcer", "/start-list", "/team/1", "/tables.json"):
        assert "Table 1 (t03)" in site.web.get(page).text, page
    site.pages.publish(tuple(TableStatus(one.table, one.table.upper(), "ready", one.view) for one in tables))
    assert not boards._alerts()

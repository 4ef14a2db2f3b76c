"""Matches given to tables: taken, refused, played, reported; whoever is killed meanwhile."""

import shutil
from functools import partial
from unittest.mock import patch

import msgspec
import pytest
from hub_hall import TEAMS

from pi_controller import __version__
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.terminal import render_text
from pi_controller.hub.boards import Boards
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import MAX_OPEN_REPORTS, MAX_UNANSWERED_S, Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.messages import Reply
from pi_controller.hub.store import StoreError
from pi_controller.referee.facts import GameOpened
from pi_controller.runtime.console import execute_line
from pi_controller.tournament import decisions as d


def test_assigned_match_sets_up_table_and_counts(hall):
    table = hall.at_match()
    opened = table.journal.read_opening()
    assert isinstance(opened, GameOpened)
    assert (opened.teams, opened.options["points"]) == ({"A": TEAMS[0], "B": TEAMS[3]}, 2)
    assert table.table.game.settings["points"] == 2
    table.do("toss A")
    hall.until(lambda: hall.now.calls["W1-1"].started)
    table.do("close B forfeit gone")
    hall.until(lambda: "W1-1" in hall.now.sources)
    assert hall.now.state.games["W1-1"][0].winner == TEAMS[0]
    assert hall.now.sources["W1-1"][0].table == "t01"
    hall.do(d.Assigned("W1-2", "t01", "b" * 16))
    hall.until(lambda: table.match == "W1-2")
    assert hall.inbox.alarms() == []


def test_busy_table_refuses_with_reason_until_free(hall):
    table = hall.table("t01")
    table.do("toss A", "found")
    hall.plan()
    hall.do(d.Assigned("W1-1", "t01", "a" * 16))
    hall.until(lambda: "game is in progress" in hall.director.notes.get("t01", ""))
    assert table.match is None
    table.do("close B forfeit gone")
    hall.until(lambda: table.match == "W1-1")
    hall.until(lambda: "t01" not in hall.director.notes)


def test_table_of_another_game_refuses_with_hint(hall):
    table = hall.table("t01")
    hall.plan(game="slahal", options={})
    hall.do(d.Assigned("W1-1", "t01", "a" * 16))
    hall.until(lambda: "this table plays dakota" in hall.director.notes.get("t01", ""))
    assert "[game] name" in hall.director.notes["t01"]
    assert table.match is None


def test_repeated_order_starts_no_second_game(hall):
    table = hall.at_match(results="confirm")
    order = hall.director.orders(["t01"])["t01"]
    table.do("toss A", "close B forfeit gone")
    hall.until(lambda: hall.now.reports)
    epoch = table.epoch
    hall.director.orders = lambda tables: dict.fromkeys(tables, order)  # replayed
    hall.director.changed()
    hall.until(lambda: hall.director.replies["t01"].order == order.order)
    table.close()
    table.start()
    hall.pass_time(1.0)
    assert table.epoch == epoch


def test_result_awaits_confirmation_and_undo_withdraws_it(hall):
    table = hall.at_match(results="confirm")
    table.do("toss A", "forfeit B")
    hall.until(lambda: hall.now.reports)
    assert not hall.now.state.games
    table.do("undo")
    hall.until(lambda: not hall.now.reports)
    table.do("forfeit A")
    (order,) = hall.until(lambda: list(hall.now.reports))
    hall.do(d.Confirmed(order))
    assert hall.now.state.games["W1-1"][0].winner == TEAMS[3]


def test_match_counts_once_despite_kills(hall):
    table = hall.table("t01")
    hall.plan()
    hall.do(d.Assigned("W1-1", "t01", "a" * 16))
    hall.stop()  # it may have been given or not
    table.step()
    hall.start()
    hall.until(lambda: table.match == "W1-1")
    epoch = table.epoch
    hall.line.cut.add("all")
    table.do("toss A", "forfeit B")
    table.close()
    hall.stop()
    hall.line.cut.clear()
    table.start()
    hall.start()
    hall.until(lambda: "W1-1" in hall.now.sources)
    assert table.epoch == epoch
    assert len(hall.now.state.games["W1-1"]) == 1
    assert [one.fact for one in hall.director.history.effective_decisions if isinstance(one.fact, d.Reported)][1:] == []


@pytest.mark.parametrize("killed", [True, False])
def test_reported_result_counts_although_store_failed_then(hall, killed):
    table = hall.at_match()
    append, failed = hall.log.append, []

    def fail(decision, key=""):
        if isinstance(decision.fact, d.Confirmed) and (killed or not failed):
            failed.append(decision)
            raise StoreError("the disk is full")
        append(decision, key)

    hall.log.append = fail
    table.do("toss A", "forfeit B")
    hall.until(lambda: failed)
    if killed:
        hall.kill()
        hall.start()
    hall.until(lambda: "W1-1" in hall.now.sources)
    assert len(hall.now.state.games["W1-1"]) == 1
    assert not hall.now.reports


def test_hub_restored_from_older_copy_gets_results_again(hall):
    """The tables still have their games: they come as reports, and wait for the director."""
    table = hall.table("t01")
    hall.plan(calling="director")
    with_draw = hall.folder / "yesterday"
    hall.stop()
    with_draw.write_bytes((hall.folder / "hub.sqlite").read_bytes())
    hall.start()
    hall.do(d.Assigned("W1-1", "t01", "a" * 16))
    hall.until(lambda: table.match == "W1-1")
    table.do("toss A", "forfeit B")
    hall.until(lambda: "W1-1" in hall.now.sources)
    hall.stop()
    for path in hall.folder.glob("hub.sqlite*"):
        path.unlink()
    with_draw.rename(hall.folder / "hub.sqlite")
    hall.start()
    hall.until(lambda: hall.now.reports)
    (report,) = hall.now.reports.values()
    assert (report.fact.winner, report.expected) == (TEAMS[0], False)
    assert not hall.now.state.games


def test_round_clock_ends_games_despite_table_clock_offsets(hall):
    tables = [hall.table("t01", "slahal", 0.0), hall.table("t02", "slahal", 5_000.0)]
    hall.plan(game="slahal", format="round_robin", clock="round", options={"minutes": 1}, calling="automatic")
    hall.until(lambda: all(table.match for table in tables))
    for table in tables:
        table.do("duo A yes B no")

    def shown(table):
        return table.table.view.ends, table.table.view.ends_stood

    hall.until(lambda: all(shown(table)[1] for table in tables))
    assert all(ends - stood == pytest.approx(60.0) for ends, stood in map(shown, tables)), "it stands before its start"
    hall.do(d.MatchClockSet(1, running=True))
    hall.until(lambda: all(shown(table)[0] and shown(table)[1] is None for table in tables))
    ends = hall.now.clock_of(1).ends
    assert all(shown(table)[0] + table.slow == pytest.approx(ends, abs=2.0) for table in tables)
    tables[1].close()
    tables[1].start()  # it has the clock in its journal, and hears of it anew
    hall.until(lambda: tables[1].link._clocked[1] == ends)
    assert shown(tables[1])[0] + tables[1].slow == pytest.approx(ends, abs=2.0)
    tables[0].do("guess left actual right")
    hall.do(d.MatchClockSet(1, running=False))
    hall.until(lambda: all(shown(table)[1] for table in tables))
    hall.do(d.MatchClockSet(1, running=True))
    hall.until(lambda: all(shown(table)[1] is None for table in tables))
    for table in tables:
        table.slow -= 61.0
    hall.until(lambda: all(table.table.view.question for table in tables))
    assert {table.table.view.question.about for table in tables} == {"time"}, "a table without a mat: its judge says it"
    for table in tables:
        table.do("answer time")
    hall.until(lambda: len(hall.now.sources) == 2)
    finished = [games[0] for games in hall.now.state.games.values()]
    assert all(sum(game.sticks.values()) == 11 and not game.sweep for game in finished)


def test_duo_after_round_time_starts_own_clock(hall):
    table = hall.table("t01", "slahal", 0.0)
    hall.plan(game="slahal", format="round_robin", clock="round", options={"minutes": 1})
    hall.do(d.Assigned("R1-1", "t01", "a" * 16), d.MatchClockSet(1, running=True))
    hall.until(lambda: table.match and table.table.view.ends and table.table.view.ends_stood is None)
    table.slow = -61.0
    table.step()
    assert table.table.view.question is None, "nobody has the king: the time ends nothing"
    table.do("duo A yes B no")
    assert table.table.view.ends == pytest.approx(table.clock() + 60.0, abs=2.0)
    assert table.table.view.question is None


def test_matches_are_called_by_themselves_to_the_end(hall):
    tables = [hall.table("t01"), hall.table("t02")]
    hall.plan(calling="automatic")

    def over():
        for table in tables:
            if table.match and table.table.view.phase == "toss":
                table.do("toss A", "forfeit B")
        return hall.now.champion

    assert hall.until(over) in TEAMS
    assert sum(len(games) for games in hall.now.state.games.values()) in (6, 7)
    used = {source.table for sources in hall.now.sources.values() for source in sources}
    assert used == {"t01", "t02"}


def test_retry_after_lost_append_answer_decides_once(where):
    entered = d.Entered(tuple(d.Entry(team) for team in TEAMS))
    with Inbox(where) as inbox, TournamentLog(where) as log:
        director = Director(log, inbox)
        director.decide(1.0, "Ann", d.Planned("cup"))
        with patch.object(log, "append", partial(lost, log, log.append)), pytest.raises(StoreError):
            director.decide(2.0, "Ann", entered, "k1")
        assert director.decide(3.0, "Ann", entered, "k1") == (2, True)
        with patch.object(log, "append", partial(lost, log, lambda *_: None)), pytest.raises(StoreError):
            director.decide(4.0, "Ann", d.TeamsDrawn(order=TEAMS), "k2")
        assert director.decide(5.0, "Ann", d.TeamsDrawn(order=TEAMS), "k2") == (3, False)
    with TournamentLog(where) as log:
        assert [decision.seq for decision in log.read()] == [1, 2, 3]


def lost(log, append, *decided):
    """Append it, and lose the answer."""
    before = log._last, dict(log.keys)
    append(*decided)
    log._last, log.keys = before
    raise StoreError("the connection broke")


def card(hall, name, place):
    """Return a Pi with a copy of the card of the table `name`, put in `place`."""
    (hall.folder / place).mkdir()
    for path in hall.folder.glob(f"{name}[.-]*"):  # the journals of earlier games, too
        shutil.copy(path, hall.folder / place / path.name)
    return hall.linked(hall.folder / place / f"{name}.sqlite", name)


def test_card_moved_to_another_pi_continues_match(hall):
    table = hall.at_match()
    table.do("toss A")
    table.close()
    moved = hall.tables["t01"] = card(hall, "t01", "another")
    moved.do("close B forfeit gone")
    hall.until(lambda: "W1-1" in hall.now.sources)
    assert hall.inbox.alarms() == []


def test_copied_card_raises_alarm_and_is_not_merged(hall):
    table = hall.at_match(results="confirm")
    table.do("toss A")
    epoch = table.epoch
    hall.await_records(table)
    table.close()
    copy = card(hall, "t01", "copy")
    copy.close()
    table.start()
    table.do("found")
    hall.await_records(table)
    table.close()
    kept = list(hall.inbox.rows("t01", epoch))
    copy.start()
    hall.tables["t01"] = copy
    copy.do("missed", "found", "close B forfeit gone")
    hall.until(hall.inbox.alarms)
    assert [alarm.about for alarm in hall.inbox.alarms()] == ["tampered"]
    assert list(hall.inbox.rows("t01", epoch)) == kept
    assert not hall.now.reports


def test_result_of_another_tables_match_is_ignored(hall):
    table = hall.table("t01")
    hall.plan(calling="director")
    hall.do(d.Assigned("W1-1", "t02", "a" * 16))
    order = hall.director.orders(["t02"])["t02"]
    hall.director.orders = lambda tables: dict.fromkeys(tables, order)  # as on a copied card
    hall.director.changed()
    hall.until(lambda: table.match == "W1-1")
    table.do("toss A", "forfeit B")
    hall.until(lambda: "refused t01" in hall.director.notes)
    assert not hall.now.reports
    assert not hall.now.state.games


def test_few_results_of_lost_decisions_wait(hall):
    table = hall.table("t01")
    hall.plan(calling="director")
    hall.do(d.Assigned("W1-1", "t02", "a" * 16))
    known = hall.director.orders(["t02"])["t02"]
    for number in range(MAX_OPEN_REPORTS + 2):
        order = msgspec.structs.replace(known, order=f"{number:016x}-1")
        hall.director.orders = lambda tables, order=order: dict.fromkeys(tables, order)
        hall.director.changed()
        hall.until(lambda order=order: order.order in {getattr(fact, "order", "") for _, fact in table.journal.read()})
        table.do("toss A", "forfeit B")
        hall.await_records(table)
    hall.until(lambda: "refused t01" in hall.director.notes)
    assert len(hall.now.reports) == MAX_OPEN_REPORTS
    assert not any(report.expected for report in hall.now.reports.values())


def test_result_of_unready_match_is_noted_but_ignored(hall):
    table = hall.table("t01")
    hall.plan()
    hall.do(d.Result("W1-1", TEAMS[0]), d.Result("W1-2", TEAMS[1]), d.Assigned("W2-1", "t01", "a" * 16))
    hall.until(lambda: table.match == "W2-1")
    table.do("toss A")
    hall.until(lambda: hall.now.calls["W2-1"].started)
    hall.do(d.Replayed("W1-1"))
    table.do("close B forfeit gone")
    hall.until(lambda: any("W2-1 cannot be played" in note for note in hall.director.notes.values()))
    assert not hall.now.reports
    assert "W2-1" not in hall.now.state.games


def test_game_of_a_renamed_team_counts(hall):
    table = hall.at_match()
    table.do("toss A")
    hall.until(lambda: hall.now.calls["W1-1"].started)
    hall.do(d.TeamRenamed(TEAMS[0], "Veblen"))
    (game,) = hall.director.games_at_tables()
    assert (game.teams, game.void) == (("Veblen", TEAMS[3]), "")
    table.do("close B forfeit gone")
    hall.until(lambda: "W1-1" in hall.now.sources)
    assert hall.now.state.games["W1-1"][0].winner == "Veblen"


def test_king_moved_too_early_counts_with_its_sticks(hall):
    table = hall.at_match("R1-1", "slahal", game="slahal", options={}, format="round_robin")
    first, other = (table.table.view.teams[side] for side in "AB")
    table.do("duo A yes B no", "guess left right", "king_moved A")
    hall.until(lambda: "R1-1" in hall.now.sources)
    (result,) = hall.now.state.games["R1-1"]
    assert (result.winner, result.sticks[first] > result.sticks[other]) == (other, True)


def over(hall, table, winner):
    """Have the game at `table` won by `winner`."""
    loser = next(side for side, name in table.table.view.teams.items() if name != winner)
    table.do(f"close {loser} forfeit gone")


def playing(hall):
    """Return who plays where, by what the tables themselves show: games that are not over."""
    return [{*table.table.view.teams.values()} for table in hall.tables.values() if table.table.view.phase != "over"]


def two_semifinals(hall):
    """Come to the second round at two tables, the matches called by themselves; return which table has which match."""
    for name in ("t01", "t02"):
        hall.table(name)
    hall.plan(calling="automatic")
    hall.until(lambda: all(table.match for table in hall.tables.values()))
    first = {table.match: table for table in hall.tables.values()}
    for match, winner in (("W1-1", TEAMS[0]), ("W1-2", TEAMS[1])):
        first[match].do("toss A")
        over(hall, first[match], winner)
    hall.until(lambda: {table.match for table in hall.tables.values()} == {"W2-1", "L1-1"})
    return {table.match: table for table in hall.tables.values()}


def corrected(hall):
    """Correct the result by which W2-1 came to be, after its game has begun; return its table and the other."""
    now = two_semifinals(hall)
    now["W2-1"].do("toss A")
    hall.until(lambda: hall.now.calls["W2-1"].started)
    hall.do(d.Corrected("W1-1", TEAMS[3], then="replay"))
    hall.until(lambda: now["W2-1"].table.view.void == "changed")
    return now["W2-1"], now["L1-1"]


def test_void_match_is_announced_closed_and_replaced(hall):
    table, other = corrected(hall)
    assert "no longer counts" in render_text(table.table.view, ENGLISH)
    assert "close void" in execute_line(table.table, "help", table.clock())
    looks = []
    with patch.object(
        hall.director, "orders", lambda tables: looks.append(1) or Director.orders(hall.director, tables)
    ):
        hall.until(lambda: hall.director.changed() or len(looks) > 10)
    assert not hall.now.calls, "both of the next matches are of a team that still sits at the first"
    assert table.table.view.void
    table.do("close void")
    hall.until(lambda: {one.match for one in hall.tables.values()} == {"W2-1", "L1-1"} and len(hall.now.calls) == 2)
    # a table may still show its game that does not count any more
    hall.until(lambda: len(games := playing(hall)) == 2 and not games[0] & games[1])
    first, second = playing(hall)
    assert not first & second
    assert {*table.table.view.teams.values()} | {*other.table.view.teams.values()} == {*TEAMS}
    assert not table.table.view.void
    assert not any(
        isinstance(one.fact, d.Reported) and one.fact.winner == "" for one in hall.director.history.decisions
    )


def test_undone_correction_makes_void_match_count_again(hall):
    table, _ = corrected(hall)
    fact = hall.director.undo(hall.clock(), "Ann")
    assert fact
    hall.until(lambda: not table.table.view.void)
    table.do("found", "found")
    assert table.table.view.phase != "over"


def test_a_closed_void_game_is_opened_by_undo(hall):
    table, _ = corrected(hall)
    hall.do(d.TableUsed("t01", on=False), d.TableUsed("t02", on=False))  # nothing takes its place
    table.do("close void")
    assert (table.table.view.phase, table.table.can_begin_game) == ("over", True)
    table.do("undo")
    assert (table.table.view.phase, table.table.view.void, table.table.can_begin_game) == ("hide", "changed", False)


def test_manual_result_voids_the_running_game(hall):
    table = hall.at_match()
    table.do("toss A")
    hall.until(lambda: hall.now.calls["W1-1"].started)
    hall.do(d.Result("W1-1", TEAMS[0]))
    hall.until(lambda: table.table.view.void == "decided")
    assert {*hall.director.teams_in_void_games()} == {TEAMS[0], TEAMS[3]}
    hall.do(d.TableUsed("t01", on=False))
    assert not hall.director.teams_in_void_games(), "the director has seen to them"


def test_a_busy_table_costs_no_decision(hall):
    table = hall.table("t01")
    table.do("toss A", "found")
    hall.plan(calling="automatic")
    before = len(hall.director.history.decisions)
    hall.until(lambda: (shown := hall.shown("t01")) and shown.view and shown.view.free is False)
    looks = []
    with patch.object(
        hall.director, "call_due", lambda *given: looks.append(given) or Director.call_due(hall.director, *given)
    ):
        hall.until(lambda: hall.director.changed() or len(looks) > 5)
    assert len(hall.director.history.decisions) == before
    table.do("close B forfeit gone")
    hall.until(lambda: table.match)


def test_automatic_call_skips_table_of_another_game(hall):
    table = hall.table("t01")
    hall.plan(game="slahal", options={}, calling="automatic")
    before = len(hall.director.history.decisions)
    hall.until(
        lambda: any("it plays dakota" in note and "[game] name" in note for note in hall.director.notes.values())
    )
    assert len(hall.director.history.decisions) == before
    assert table.match is None


def _drawn(log, inbox):
    director = Director(log, inbox)
    entered = d.Entered(tuple(d.Entry(team) for team in TEAMS))
    for fact in (d.Planned("cup"), entered, d.TeamsDrawn(order=TEAMS)):
        director.decide(0.0, "Ann", fact)
    return director


def _recalled(director):
    return [one.fact.match for one in director.history.decisions if isinstance(one.fact, d.Recalled)]


def test_match_of_missing_table_is_reassigned_after_timeout(tmp_path):
    with TournamentLog(tmp_path / "hub.sqlite") as log, Inbox(tmp_path / "hub.sqlite") as inbox:
        director = _drawn(log, inbox)
        director.call_due(0.0, ["t01"])
        ((match, call),) = director.now.calls.items()
        director.call_due(100.0, ["t02"])
        assert director.now.calls[match] == call, "it is missed since a moment only"
        director.call_due(100.0 + MAX_UNANSWERED_S, ["t02"])
        assert director.now.calls[match] == call
        director.call_due(101.0 + MAX_UNANSWERED_S, ["t02", "t03"])
        assert _recalled(director) == [match]
        assert director.now.calls[match].table in ("t02", "t03")


def test_table_that_returns_in_time_keeps_its_match(tmp_path):
    with TournamentLog(tmp_path / "hub.sqlite") as log, Inbox(tmp_path / "hub.sqlite") as inbox:
        director = _drawn(log, inbox)
        director.call_due(0.0, ["t01"])
        for t in range(0, 600, 10):  # away for 20 of 30 s
            director.call_due(float(t), ["t02"] if t % 30 else ["t01", "t02"])
        assert _recalled(director) == []


def test_restarted_hub_gives_its_tables_time_to_return(tmp_path):
    with TournamentLog(tmp_path / "hub.sqlite") as log, Inbox(tmp_path / "hub.sqlite") as inbox:
        _drawn(log, inbox).call_due(0.0, ["t01"])
    with TournamentLog(tmp_path / "hub.sqlite") as log, Inbox(tmp_path / "hub.sqlite") as inbox:
        restarted = Director(log, inbox)
        restarted.call_due(600.0, [])
        restarted.call_due(602.0, ["t01"])
        restarted.call_due(900.0, ["t01"])
        assert _recalled(restarted) == [], "the teams have sat there, and not hit yet"


def test_refused_calls_back_off_and_skip_log(tmp_path):
    """A refusal that could not be foreseen: a table of an older program, say, that does not know an option."""
    with TournamentLog(tmp_path / "hub.sqlite") as log, Inbox(tmp_path / "hub.sqlite") as inbox:
        director = _drawn(log, inbox)
        for t in range(0, 3600, 5):
            director.call_due(t, ["t01"])
            for order in director.orders(["t01"]).values():
                if order.order:
                    director.handle_reply(t, "t01", Reply(order.order, False, "no such option"))
        assert 1 <= len(_recalled(director)) <= 9, "an hour at one table; once in 20 s it would be 180"
        log_part = Boards(director, lambda: t, ENGLISH).regions("director")["log"]
        assert "Teams placed by hand." in log_part
        assert "called to" not in log_part
        assert "no such option" in director.notes["t01"]


def test_newer_table_program_is_noted_and_logged(hall, monkeypatch, caplog):
    monkeypatch.setattr("pi_controller.hub.table_link.__version__", "99.0")
    hall.table("t01")
    hall.until(lambda: "99.0" in hall.director.notes.get("program of t01", ""))
    assert "update the hub" in hall.director.notes["program of t01"]
    hall.until(lambda: f"this table's program (99.0) is newer than the hub's ({__version__})" in caplog.text)
    hall.until(lambda: hall.tables["t01"].link._outbox.done)  # its records are taken all the same
    hall.tables.pop("t01").close()
    monkeypatch.setattr("pi_controller.hub.table_link.__version__", __version__)
    hall.table("t01")
    hall.until(lambda: "program of t01" not in hall.director.notes)


def test_messages_of_another_version_are_noted_for_director(hall):
    hall.pass_time(1.0)
    hall.post("t02", b'{"since":"a","new":1}')
    hall.until(lambda: "t02 sends reports" in hall.director.notes.get("messages of t02", ""))

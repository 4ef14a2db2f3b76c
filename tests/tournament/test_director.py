"""The director's decisions: what they make of a tournament, what is refused, and that an undo leaves no trace."""

import msgspec
import pytest
from director_hall import TEAMS, Hall, drawn, seen
from hypothesis import given
from hypothesis import strategies as st

from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.tournament import decisions as d
from pi_controller.tournament.decision_history import DecisionHistory


def played(rng, hall, tables=("t01", "t02")):
    """Play `hall` to its end with results at random, called to tables as these come free."""
    while hall.now.champion is None:
        for one in hall.now.schedule(tables, hall.t)[0]:
            hall.do(d.Assigned(one.match, one.table, f"{rng.random()}"), actor=d.HUB)
        call = rng.choice(list(hall.now.calls.values()))
        hall.do(d.Confirmed(hall.report(call.match, rng.choice(call.teams), call.table)))
    return hall


@given(st.integers(2, 12), st.sampled_from(("double", "single", "round_robin")), st.sampled_from((1, 3)), st.randoms())
def test_every_tournament_ends_with_champion_and_replays_identically(teams, kind, best_of, rng):
    hall = Hall([f"Team {n}" for n in range(teams)], format=kind, best_of=best_of)
    hall.do(d.TeamsDrawn("4 1 6 2"))
    played(rng, hall)
    decoder = msgspec.json.Decoder(d.Fact)
    again = [one._replace(fact=decoder.decode(msgspec.json.encode(one.fact))) for one in hall.history.decisions]
    assert seen(DecisionHistory(again).now) == seen(hall.now)
    assert not hall.now.calls
    assert not hall.now.reports


@given(st.randoms())
def test_undo_restores_previous_state(rng):
    hall = Hall(format="round_robin")
    hall.do(d.TeamsDrawn("4 1 6 2"))
    before = []
    for _ in range(6):
        before.append(seen(hall.now))
        match = rng.choice(list(hall.now.ready))
        if match.winner is None and rng.random() < 0.7:
            hall.do(d.Result(match.id, rng.choice(match.teams)))
        else:
            hall.do(d.Announced(f"{rng.random()}"))
    for one in reversed(before):
        hall.undo()
        assert seen(hall.now) == one


def test_undo_recalls_dependent_calls_until_match_has_begun():
    hall = drawn()
    hall.do(d.Result("W1-1", TEAMS[0]), d.Result("W1-2", TEAMS[1]))
    hall.call("W2-1")
    hall.undo()
    assert not hall.now.calls, "the call hung on the result"
    assert hall.match("W1-2").teams == (TEAMS[1], TEAMS[2])
    hall.do(d.Result("W1-2", TEAMS[1]))
    hall.call("W2-1")
    hall.do(d.MatchStarted("W2-1"), actor=d.HUB)
    with pytest.raises(IllegalActionError, match="played since"):
        hall.undo()


def test_check_in_and_pronunciation_follow_team_and_undo():
    hall = Hall()
    hall.do(d.CheckedIn(TEAMS[0], here=True), d.CheckedIn(TEAMS[1], here=True), d.Pronounced(TEAMS[1], " Veb-len\n"))
    assert (hall.now.here, hall.now.said) == ({*TEAMS[:2]}, {TEAMS[1]: "Veb-len"})
    hall.do(d.CheckedIn(TEAMS[0], here=False), d.Pronounced(TEAMS[1], "Veblen"))
    assert (hall.now.here, hall.now.said) == ({TEAMS[1]}, {TEAMS[1]: "Veblen"})
    hall.undo()
    assert hall.now.said == {TEAMS[1]: "Veb-len"}
    hall.do(d.Pronounced(TEAMS[1], " "))
    assert hall.now.said == {}
    hall.undo()
    hall.do(d.Scratched(TEAMS[1]), d.Entered((d.Entry(TEAMS[1]),)))
    assert (hall.now.here, hall.now.said) == (frozenset(), {}), "it is entered anew"
    for fact in (d.CheckedIn("Veblen Heights", here=True), d.Pronounced("Veblen Heights", "x")):
        with pytest.raises(InvalidActionError, match="no team"):
            hall.do(fact)
    hall.do(d.TeamsDrawn(order=TEAMS), d.CheckedIn(TEAMS[2], here=True))
    assert hall.now.here == {TEAMS[2]}, "a late captain, after the draw"


def test_reported_result_counts_once_when_confirmed():
    hall = drawn()
    hall.call("W1-1")
    order = hall.report("W1-1", TEAMS[0])
    assert hall.now.reports[order].expected
    assert hall.match("W1-1").winner is None
    hall.do(d.Confirmed(order))
    assert "W1-1" not in {one.id for one in hall.now.ready}
    with pytest.raises(IllegalActionError, match="no such result"):
        hall.do(d.Confirmed(order))
    with pytest.raises(IllegalActionError, match="known"):
        hall.do(d.Reported("W1-1", order, "t01", "ab", 9, TEAMS[0]))


def test_result_from_another_table_is_unexpected():
    hall = drawn()
    hall.call("W1-1")
    hall.do(d.Reported("W1-1", "another", "t02", "ab", 9, TEAMS[0]), actor=d.HUB)
    assert not hall.now.reports["another"].expected


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        (d.Reported("W2-1", "x", "t01", "ab", 9, TEAMS[0]), "other matches come first"),
        (d.Reported("W9-9", "x", "t01", "ab", 9, TEAMS[0]), "no match"),
        (d.Reported("W1-1", "x", "t01", "ab", 9, TEAMS[1]), "not in W1-1"),
        (d.Assigned("W2-1", "t01", "x"), "not ready"),
        (d.Assigned("W1-1", "t01", "x", "Nobody"), "cannot judge"),
        (d.Entered((d.Entry("Veblen"),)), "drawn"),
        (d.Scratched(TEAMS[0]), "drawn"),
        (d.TeamsDrawn("once more"), "drawn"),
        (d.Planned("other"), "drawn"),
        (d.TeamWithdrawn("Veblen"), "no team"),
        (d.Recalled("W1-1"), "not at a table"),
        (d.Protested("W1-1", TEAMS[1], "the sleeve"), "not in W1-1"),
        (d.ProtestDecided(1, "upheld", "seen"), "no such protest"),
    ],
)
def test_invalid_decision_is_refused_and_state_unchanged(fact, why):
    hall = drawn()
    before = hall.now
    with pytest.raises((IllegalActionError, InvalidActionError), match=why):
        hall.do(fact)
    assert hall.now is before


@pytest.mark.parametrize(("game", "leaders"), [("dakota", {}), ("slahal", {TEAMS[0]: "Ann", TEAMS[1]: "Cy"})])
def test_teams_entered_before_the_plan_get_its_roster(game, leaders):
    history = DecisionHistory()
    entries = d.Entry(TEAMS[0], ("Ann", "Bea")), d.Entry(TEAMS[1], ("Cy",)), d.Entry(TEAMS[2])
    for fact in (d.Entered(entries), d.Planned("cup", game=game)):
        history.add(history.make_decision(1.0, "Ann", fact))
    assert history.now.entered == TEAMS[:3]
    assert dict(history.now.registration.leaders) == leaders


def test_plan_refuses_teams_larger_than_its_roster():
    history = DecisionHistory()
    history.add(history.make_decision(1.0, "Ann", d.Entered((d.Entry(TEAMS[0], tuple("ABCDEF")),))))
    with pytest.raises(IllegalActionError, match="at most 5 players, not 6"):
        history.make_decision(2.0, "Ann", d.Planned("cup"))


def test_names_are_looked_at_before_the_drawing():
    hall = Hall()
    for name, why in (("x" * 10_000, "1 to 60 characters, not 10000"), ("", "1 to 60"), ("big coulee", "two teams")):
        with pytest.raises(InvalidActionError, match=why):
            hall.do(d.Entered((d.Entry(name),)))
    with pytest.raises(IllegalActionError, match="plays for"):
        hall.do(d.Entered((d.Entry(TEAMS[0], ("Ann",)), d.Entry(TEAMS[1], ("ann",)))))
    with pytest.raises(IllegalActionError, match="at most 5 players"):
        hall.do(d.Entered((d.Entry(TEAMS[0], tuple("ABCDEF")),)))
    with pytest.raises(InvalidActionError, match="these teams are missing: 'Enemy Swim'"):
        hall.do(d.TeamsDrawn(order=TEAMS[:3]))


def test_protest_blocks_result_until_committee_decides():
    hall = drawn()
    hall.call("W1-1")
    order = hall.report("W1-1", TEAMS[0])
    hall.do(d.Protested("W1-1", TEAMS[3], "the sleeve"))
    with pytest.raises(IllegalActionError, match="not decided"):
        hall.do(d.Confirmed(order))
    hall.do(d.ProtestDecided(1, "denied", "nothing was seen"), d.Confirmed(order))
    assert hall.now.protests[0].ruling == "denied"


def test_protest_about_a_counted_result_holds_both_teams():
    hall = Hall([*TEAMS, "Veblen", "Peever", "Sisseton", "Upper Sioux"], format="round_robin")
    order = hall.now.entered
    hall.do(d.TeamsDrawn(order=order), d.Result("R1-1", order[0]), d.Result("R1-2", order[1]))
    first, second = hall.now.pairing("R1-1").teams
    theirs = next(one for one in hall.now.ready if first in one.teams)
    begun = next(one for one in hall.now.ready if second in one.teams and not {*one.teams} & {*theirs.teams})
    hall.call(theirs.id, "t01")
    hall.call(begun.id, "t02")
    report = hall.report(begun.id, second, "t02")
    hall.do(d.Protested("R1-1", second, "the sleeve"))
    assert set(hall.now.calls) == {begun.id}, "one that has begun goes on; its result waits"
    held = d.Confirmed(report), d.Result(theirs.id, first), d.Assigned(theirs.id, "t03", "x"), d.Result("R1-1", first)
    for fact in held[:3]:
        with pytest.raises(IllegalActionError, match="about R1-1 is not decided"):
            hall.do(fact)
    called, waiting = hall.now.schedule(("t01", "t03", "t04"), hall.t)
    assert called
    assert not {first, second} & {team for one in called for team in one.teams}
    assert {one.why for one in waiting if first in one.teams} == {"protest"}
    hall.do(d.ProtestDecided(1, "upheld", "seen by two"), d.Replayed("R1-1"), d.Confirmed(report))
    assert theirs.id in {one.match for one in hall.now.schedule(("t01", "t03"), hall.t)[0]} | {
        one.match for one in hall.now.schedule(("t01", "t03"), hall.t)[1] if one.why != "protest"
    }
    assert hall.match("R1-1").open


def test_correction_recalls_the_dependent_call():
    hall = drawn()
    hall.do(d.Result("W1-1", TEAMS[0]), d.Result("W1-2", TEAMS[1]))
    hall.call("W2-1")
    hall.do(d.Corrected("W1-1", TEAMS[3]))
    assert not hall.now.calls
    assert hall.match("W2-1").teams == (TEAMS[3], TEAMS[1])


def test_each_game_of_a_match_gets_new_order():
    hall = drawn(best_of=3)
    hall.call("W1-1")
    orders = []
    for winner in (TEAMS[0], TEAMS[3], TEAMS[0]):
        orders.append(order := hall.report("W1-1", winner))
        hall.do(d.Confirmed(order))
    assert len(set(orders)) == 3
    assert not hall.now.calls


def test_rosters_are_frozen_and_judges_are_neutral():
    hall = Hall(judges="hub")
    hall.do(d.Entered((d.Entry(TEAMS[0], ("Ann", "Bea")),)), d.Appointed(("Ann", "Joe")), d.TeamsDrawn(order=TEAMS))
    called, _ = hall.now.schedule(("t01", "t02"), 0.0)
    judges = {one.match: one.judge for one in called}
    assert judges["W1-1"] == "Joe", "Ann plays for Big Coulee"
    hall.do(d.PlayerAbsent("Ann"), d.PlayerAbsent("Bea", "left"))
    with pytest.raises(IllegalActionError, match="no players left"):
        hall.call("W1-1")
    hall.do(d.PlayerReturned("Ann"))
    hall.call("W1-1")
    hall.report("W1-1", TEAMS[0])
    assert hall.now.registration.frozen


def test_match_gets_least_used_then_longest_free_table():
    hall = Hall([f"Team {n}" for n in range(8)])
    hall.do(d.TeamsDrawn("seed"))
    here = {"t10", "t2", "t1"}

    def next_tables():
        return [one.table for one in hall.now.schedule(here, hall.t)[0]]

    assert next_tables() == ["t1", "t2", "t10"], "nobody has played yet: in the order of their numbers"
    hall.call("W1-1", "t1")
    hall.call("W1-2", "t2")
    winner = hall.now.calls["W1-2"].teams[0]
    hall.do(d.Confirmed(hall.report("W1-2", winner, "t2")))
    assert next_tables() == ["t10", "t2"]
    hall.do(d.Recalled("W1-1"))
    assert next_tables() == ["t10", "t1", "t2"], "no match has begun at t1: it was never free for less time than t10"
    hall.call("W1-1", "t10")
    hall.do(d.TeamWithdrawn(hall.now.calls["W1-1"].teams[0]))
    assert next_tables() == ["t1", "t10", "t2"]
    hall.undo()
    assert next_tables() == ["t1", "t2"]
    assert hall.now.calls["W1-1"].table == "t10", "the match is there again"


def lahal(**plan):
    return drawn(game="slahal", format="round_robin", clock="round", **plan)


def test_round_clock_requires_timed_game_in_round_robin():
    for plan in ({"game": "dakota", "format": "round_robin"}, {"game": "slahal", "format": "double"}):
        with pytest.raises(IllegalActionError, match="one clock"):
            Hall(clock="round", **plan)
    with pytest.raises(IllegalActionError, match="its own clock"):
        Hall(game="slahal", format="round_robin").do(d.TeamsDrawn(order=TEAMS), d.MatchClockSet(1, running=True))


def test_round_clock_pause_resume_restart():
    hall = lahal(options={"minutes": 10})
    clock = hall.now.clock_of(1)
    assert (clock.left_s, clock.ends) == (600.0, None)
    with pytest.raises(IllegalActionError, match="is not running"):
        hall.do(d.MatchClockSet(1, running=False))
    hall.do(d.MatchClockSet(1, running=True))
    began = hall.t
    assert hall.now.clock_of(1).ends == began + 600.0
    with pytest.raises(IllegalActionError, match="is already running"):
        hall.do(d.MatchClockSet(1, running=True))
    with pytest.raises(IllegalActionError, match="round 1 is running"):
        hall.do(d.MatchClockSet(2, running=True))
    hall.t = began + 100.0
    hall.do(d.MatchClockSet(1, running=False))
    assert hall.now.clock_of(1).remaining_s(hall.t + 50.0) == 600.0 - (hall.t - began)
    left = hall.now.clock_of(1).left_s
    hall.do(d.MatchClockSet(1, running=True))
    assert hall.now.clock_of(1).ends == hall.t + left
    hall.t += 1_000.0
    assert hall.now.clock_of(1).remaining_s(hall.t) == 0.0
    hall.do(d.MatchClockSet(1, running=True))
    assert hall.now.clock_of(1).ends == hall.t + 600.0
    hall.undo()
    assert hall.now.clock_of(1).remaining_s(hall.t) == 0.0


def test_next_round_clock_starts_as_previous_clock_ends():
    hall = lahal(options={"minutes": 1})
    hall.do(d.MatchClockSet(1, running=True))
    hall.do(d.Result("R1-1", TEAMS[0]), d.Result("R1-2", TEAMS[1]))
    hall.t = hall.now.clock_of(1).ends - 1.0
    hall.do(d.MatchClockSet(2, running=True))
    assert hall.now.clock_of(2).ends == hall.t + 60.0


def test_called_team_is_refused_at_second_table():
    hall = drawn(format="round_robin")
    first, *others = hall.now.ready
    hall.call(first.id, "t01")
    clashing = next(one for one in others if set(one.teams) & set(first.teams))
    with pytest.raises(IllegalActionError, match=f"plays {first.id} at t01"):
        hall.call(clashing.id, "t02")
    free = next(one for one in others if not set(one.teams) & set(first.teams))
    assert set(hall.call(free.id, "t02").calls) == {first.id, free.id}


@pytest.mark.parametrize("title", ["", "  ", "\x1b\x07"])
def test_a_tournament_without_a_title_has_one(title):
    assert Hall(title=title).now.plan.title == "Tournament"
    assert Hall(title=f" Spring {title}").now.plan.title == "Spring"


def test_round_waits_for_previous_and_match_may_tie():
    hall = lahal()
    assert [one.match for one in hall.now.schedule(("t01", "t02", "t03"), hall.t)[0]] == ["R1-1", "R1-2"]
    hall.do(d.Result("R1-1", TEAMS[0], sweep=True, sticks={TEAMS[0]: 11, TEAMS[3]: 0}))
    assert [one.match for one in hall.now.schedule(("t01", "t02", "t03"), hall.t)[0]] == ["R1-2"]
    hall.do(d.TieEntered("R1-2"))
    assert {one.match for one in hall.now.schedule(("t01", "t02", "t03"), hall.t)[0]} == {"R2-1", "R2-2"}
    rows = {row["team"]: row for row in hall.now.competition.standings(hall.now.state)}
    tied = rows[hall.now.pairing("R1-2").teams[0]]
    assert (tied["played"], tied["wins"], tied["losses"], tied["points"]) == (1, 0, 0, 0)
    assert rows[TEAMS[0]]["points"] == 3
    hall.do(d.Corrected("R1-2", hall.now.pairing("R1-2").teams[1]))
    assert hall.now.pairing("R1-2").winner == hall.now.pairing("R1-2").teams[1]


@pytest.mark.parametrize(
    "fact", [d.Result("W1-1", TEAMS[0]), d.Corrected("W1-1", TEAMS[0]), d.Reported("W1-1", "o", "t", "ab", 9, TEAMS[0])]
)
def test_record_without_sweep_field_is_no_sweep(fact):
    kept = msgspec.to_builtins(fact)
    assert "sweep" not in kept
    assert msgspec.convert(kept, type(fact)).sweep is False


def test_elimination_match_refuses_a_tie():
    hall = drawn()
    with pytest.raises(IllegalActionError, match="needs a winner"):
        hall.do(d.TieEntered("W1-1"))


def test_call_is_overdue_after_grace_until_match_starts():
    hall = Hall([f"Team {n}" for n in range(4)], grace_s=600.0)
    hall.do(d.TeamsDrawn("seed"))
    hall.call("W1-1")
    call = hall.now.calls["W1-1"]
    assert hall.now.call_deadline(call) == call.t + 600.0
    assert hall.now.overdue_calls(call.t + 600.0) == ()
    assert hall.now.overdue_calls(call.t + 600.1) == (call,)
    hall.do(d.MatchStarted("W1-1"))
    assert hall.now.overdue_calls(call.t + 6_000.0) == ()


def test_plan_without_grace_has_no_overdue_calls():
    hall = Hall([f"Team {n}" for n in range(4)])
    hall.do(d.TeamsDrawn("seed"))
    hall.call("W1-1")
    assert hall.now.overdue_calls(hall.t + 1e6) == ()


def test_grace_stops_during_a_break():
    hall = drawn(grace_s=600.0)
    hall.call("W1-1")
    call = hall.now.calls["W1-1"]
    hall.do(d.BreakPlanned(call.t + 200.0, call.t + 3_000.0), d.BreakPlanned(call.t + 2_500.0, call.t + 4_000.0))
    assert hall.now.call_deadline(call) == call.t + 4_000.0 + 400.0
    hall.t = call.t + 2_600.0
    hall.do(d.BreakCancelled(2))
    assert hall.now.call_deadline(call) == call.t + 3_000.0 + 400.0
    hall.do(d.BreakCancelled(1))
    assert hall.now.call_deadline(call) == hall.t + 400.0, "what is past of it still counts"


def test_break_cancelled_before_start_is_removed():
    hall = Hall(grace_s=600.0)
    hall.do(d.BreakPlanned(500.0, 900.0), d.BreakCancelled(1))
    assert hall.now.breaks == ()
    with pytest.raises(IllegalActionError, match="no such break"):
        hall.do(d.BreakCancelled(1))

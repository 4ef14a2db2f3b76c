"""A match that is played again, a team with another name, a team that comes late: what of the tournament stays."""

from __future__ import annotations

from dataclasses import replace

import pytest
from director_hall import TEAMS, Hall, drawn, seen

from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.tournament import Elimination, Groups, RoundRobin
from pi_controller.tournament import decisions as d
from pi_controller.tournament.bracket import double, empty_seeds, single

CUP = Elimination("double")
COULEE, HOLLOW, LAKE, SWIM = TEAMS


def entered(cup, teams):
    return cup.play(cup.opening, {"do": "enter", "teams": list(teams)})


def won(cup, state, match, winner):
    return cup.play(state, {"do": "result", "match": match, "winner": winner})


def ready(cup, state):
    return {pairing.id: pairing.teams for pairing in cup.ready(state)}


@pytest.mark.parametrize("upheld", ["a", "d"])
def test_replay_voids_result_and_later_matches(upheld):
    start = won(CUP, entered(CUP, "abcd"), "W1-2", "b")
    state = won(CUP, start, "W1-1", upheld)
    state = won(CUP, won(CUP, state, "W2-1", "b"), "L1-1", "c")
    again = CUP.play(state, {"do": "replay", "match": "W1-1"})
    assert CUP.public_summary(again) == CUP.public_summary(start)
    assert (again.games, again.started) == (start.games, start.started)


def test_match_without_a_result_is_not_replayed():
    state = CUP.play(entered(CUP, "abcd"), {"do": "begin", "match": "W1-1"})
    for match in ("W1-1", "W2-1"):
        with pytest.raises(IllegalActionError, match="has no result"):
            CUP.play(state, {"do": "replay", "match": match})


def test_replay_lifts_a_forfeit_but_no_withdrawal():
    state = CUP.play(entered(CUP, "abcd"), {"do": "forfeit", "match": "W1-1", "team": "a"})
    state = CUP.play(state, {"do": "withdraw", "team": "b"})
    assert ready(CUP, CUP.play(state, {"do": "replay", "match": "W1-1"}))["W1-1"] == ("a", "d")
    assert CUP.winner(CUP.play(state, {"do": "replay", "match": "W1-2"}), "W1-2") == "c"


def test_replay_recalls_later_matches_and_drops_reports():
    hall = drawn(best_of=3)
    for match, winner in (("W1-1", COULEE), ("W1-2", HOLLOW)):
        hall.do(d.Result(match, winner), d.Result(match, winner))
    hall.call("W2-1")
    hall.report("W2-1", COULEE)
    before = hall.now
    hall.do(d.Replayed("W1-1", "the bead was not in play"))
    assert not hall.now.calls
    assert not hall.now.reports
    assert "W1-1" not in hall.now.sources
    assert hall.match("W1-1").open
    hall.undo()
    assert seen(hall.now) == seen(before)
    hall.do(*map(d.Confirmed, hall.now.reports), d.Replayed("W2-1"))
    assert hall.now.state.games.get("W2-1") is None
    assert not hall.now.calls


def test_renamed_team_keeps_all_it_has():
    hall = Hall()
    hall.do(d.Entered((d.Entry(COULEE, ("Ann", "Bea")),)), d.CheckedIn(COULEE, here=True), d.Pronounced(COULEE, "koo"))
    hall.do(d.TeamsDrawn(order=TEAMS), d.Result("W1-1", COULEE, sticks={COULEE: 5, SWIM: 2}))
    hall.do(d.Result("W1-2", HOLLOW), d.Protested("W1-1", COULEE, "x"), d.ProtestDecided(1, "denied", "no"))
    hall.call("W2-1")
    order = hall.report("W2-1", COULEE)
    hall.do(d.TeamRenamed(COULEE, "Veblen"), d.Confirmed(order))
    now = hall.now
    assert COULEE not in repr([replace(now, present_names={}), now.state])
    assert (now.state.teams[0], now.entered[0], now.team_name(COULEE)) == ("Veblen", "Veblen", "Veblen")
    assert now.registration.present("Veblen") == ("Ann", "Bea")
    assert ("Veblen" in now.here, now.said) == (True, {"Veblen": "koo"})
    assert now.protests[0].teams == ("Veblen", SWIM)
    assert now.state.games["W1-1"][0].sticks == {"Veblen": 5, SWIM: 2}
    hall.do(d.TeamRenamed("Veblen", "Peever"))
    assert [hall.now.team_name(name) for name in (COULEE, "Veblen", "Peever")] == ["Peever"] * 3
    hall.do(d.TeamRenamed("Peever", COULEE))
    assert [hall.now.team_name(name) for name in (COULEE, "Veblen", "Peever")] == [COULEE] * 3


@pytest.mark.parametrize("name", [HOLLOW, "LONG\u00a0hollow", "Big Coulee ", "", "x" * 61, "a\u202eb"])
def test_unclear_new_name_is_refused(name):
    hall = drawn()
    with pytest.raises((InvalidActionError, IllegalActionError)):
        hall.do(d.TeamRenamed(COULEE, name))
    state = entered(CUP, TEAMS)
    if name != "Big Coulee ":
        with pytest.raises((InvalidActionError, IllegalActionError)):
            CUP.play(state, {"do": "rename", "team": COULEE, "name": name})


def test_former_name_of_another_team_stays_taken():
    hall = drawn()
    hall.do(d.TeamRenamed(COULEE, "Veblen"))
    for fact in (d.TeamRenamed(SWIM, COULEE), d.TeamRenamed(SWIM, "big coulee"), d.TeamAdded(d.Entry(COULEE))):
        with pytest.raises((InvalidActionError, IllegalActionError), match="called"):
            hall.do(fact)
    hall.do(d.TeamRenamed("Veblen", "BIG COULEE"))
    assert hall.now.entered[0] == "BIG COULEE"


@pytest.mark.parametrize("teams", [*range(2, 18), 33])
@pytest.mark.parametrize("build", [single, double])
def test_late_teams_change_no_id_of_a_match(build, teams):
    late = ()
    while seeds := empty_seeds(teams, late):
        before = {match.id for match in build(teams, late).matches}
        late = (*late, seeds[-1] if len(late) % 2 else seeds[0])
        drawn = build(teams, late)
        ids = [match.id for match in drawn.matches]
        assert before < set(ids)
        assert len(ids) == len(set(ids)) == (teams + len(late) - 1) * (2 if build is double else 1)
        sources = [source for match in drawn.matches for source in (match.a, match.b)]
        assert len(set(sources)) == len(sources)
    full = build(teams + len(late))
    assert sorted((match.side, match.round) for match in build(teams, late).matches) == sorted(
        (match.side, match.round) for match in full.matches
    )


def test_late_team_takes_the_lowest_open_bye():
    start = entered(CUP, "abcde")
    assert ready(CUP, start) == {"W1-1": ("d", "e"), "W2-2": ("b", "c")}
    late = CUP.play(start, {"do": "add", "team": "late"})
    assert ready(CUP, late) == {"W1-1": ("d", "e"), "W1-2": ("c", "late")}
    begun = CUP.play(start, {"do": "begin", "match": "W2-2"})
    other = CUP.play(begun, {"do": "add", "team": "late"})
    assert ready(CUP, other) == {"W1-1": ("d", "e"), "W1-2": ("a", "late"), "W2-2": ("b", "c")}
    with pytest.raises(IllegalActionError, match="no bye left"):
        CUP.play(other, {"do": "add", "team": "later"})


def test_late_team_plays_teams_with_a_bye():
    league = RoundRobin()
    state = won(league, entered(league, "abc"), "R1-1", "b")
    before = {pairing.id: pairing.teams for pairing in league.pairings(state)}
    state = league.play(state, {"do": "add", "team": "late"})
    after = {pairing.id: pairing.teams for pairing in league.pairings(state)}
    assert before.items() <= after.items()
    assert {frozenset(after[match]) for match in after.keys() - before} == {frozenset((one, "late")) for one in "abc"}
    assert [pairing.round for pairing in league.pairings(state)] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("cup", "teams"), [(CUP, "abcd"), (RoundRobin(), "abcd"), (Groups(2, 1), "abcdef"), (Elimination("single"), "ab")]
)
def test_late_team_without_a_bye_is_refused(cup, teams):
    state = entered(cup, teams)
    with pytest.raises(IllegalActionError, match="no bye left"):
        cup.play(state, {"do": "add", "team": "late"})


@pytest.mark.parametrize("team", ["a", "A", "x" * 61])
def test_late_team_needs_a_name_of_its_own(team):
    with pytest.raises((InvalidActionError, IllegalActionError)):
        CUP.play(entered(CUP, "abcde"), {"do": "add", "team": team})


def test_late_team_brings_players_after_the_first_game():
    hall = Hall(TEAMS[:3])
    with pytest.raises(IllegalActionError, match="not drawn"):
        hall.do(d.TeamAdded(d.Entry(SWIM)))
    hall.do(d.Entered((d.Entry(COULEE, ("Ann",)),)), d.TeamsDrawn(order=TEAMS[:3]))
    hall.call("W1-1")
    hall.do(d.MatchStarted("W1-1"))
    with pytest.raises(IllegalActionError, match="plays for"):
        hall.do(d.TeamAdded(d.Entry(SWIM, ("Ann",))))
    hall.do(d.TeamAdded(d.Entry(SWIM, ("Eve", "Flo"))))
    assert hall.now.entered == hall.now.state.teams == TEAMS
    assert hall.now.registration.present(SWIM) == ("Eve", "Flo")
    assert (hall.now.registration.frozen, set(hall.now.calls)) == (True, {"W1-1"})
    assert {pairing.id: pairing.teams for pairing in hall.now.ready}["W1-2"] == (COULEE, SWIM)

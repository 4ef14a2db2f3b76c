"""Groups into a bracket: who goes through, from which seeds, and what corrections and teams that go change of it."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from cases import cases

from pi_controller.cli.pipes import bracket
from pi_controller.display.i18n import ENGLISH
from pi_controller.errors import UsageError
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.tournament import Groups
from pi_controller.web.bracket_sheets import page

TEAMS = [f"T{number}" for number in range(1, 9)]


def entered(cup, teams=TEAMS):
    return cup.play(cup.opening, {"do": "enter", "teams": list(teams)})


def finish(cup, state, rng, until=lambda _: False):
    """Play on, the better seed winning in the groups, until all is played or `until(state)`."""
    while (ready := cup.ready(state)) and not until(state):
        pairing = rng.choice(ready)
        winner = min(pairing.teams, key=state.teams.index)
        sticks = {winner: 11 + len(state.teams) - state.teams.index(winner)}
        state = cup.play(state, {"do": "result", "match": pairing.id, "winner": winner, "sticks": sticks})
    return state


def in_cup(state):
    return state.qualifiers is not None


def test_champion_leads_standings_while_third_place_is_open():
    cup = Groups(2, through=2, third_place=True)
    state = finish(cup, entered(cup), random.Random(1), in_cup)
    for match, winner in (("W1-1", "T1"), ("W1-2", "T2"), ("F1", "T1")):
        state = cup.play(state, {"do": "result", "match": match, "winner": winner})
    assert [pairing.id for pairing in cup.ready(state)] == ["P3"]
    assert [row["place"] for row in cup.standings(state)] == [1, 2, None, None, 5, 5, 5, 5]
    state = finish(cup, state, random.Random(1))
    assert [row["place"] for row in cup.standings(state)] == [1, 2, 3, 4, 5, 5, 5, 5]


def test_teams_are_seeded_in_snake_order_and_qualify():
    cup = Groups(2, through=2)
    state = entered(cup)
    leagues, knockout = cup.parts(state)
    assert leagues["A"].teams == ("T1", "T4", "T5", "T8")
    assert leagues["B"].teams == ("T2", "T3", "T6", "T7")
    assert knockout is None
    assert len(cup.pairings(state)) == 12
    assert cup.champion(state) is None
    state = finish(cup, state, random.Random(1), in_cup)
    assert state.qualifiers.teams == ("T1", "T2", "T4", "T3")
    assert cup.eliminated_teams(state) == ("T5", "T6", "T7", "T8")
    assert [pairing.teams for pairing in cup.ready(state)] == [("T1", "T3"), ("T2", "T4")], (
        "each against the other group"
    )
    state = finish(cup, state, random.Random(2))
    assert cup.champion(state) == "T1"
    assert [(row["team"], row["place"], row["group"]) for row in cup.standings(state)][:3] == [
        ("T1", 1, "A"),
        ("T2", 2, "B"),
        ("T4", 3, "A"),
    ]
    assert {row["place"] for row in cup.standings(state)} == {1, 2, 3, 5}


@pytest.mark.parametrize("groups", [2, 4, 8])
def test_group_mates_meet_again_in_final_at_earliest(groups):
    cup = Groups(groups, through=2)
    teams = [f"T{number}" for number in range(3 * groups)]
    state = finish(cup, entered(cup, teams), random.Random(groups), in_cup)
    group = {team: letter for letter, league in cup.parts(state).leagues.items() for team in league.teams}
    halves = [set(state.qualifiers.teams)]
    drawn = cup.cup.bracket(cup.parts(state).cup)
    final = drawn.matches[-1]

    def below(source):
        if hasattr(source, "number"):
            return {state.qualifiers.teams[source.number - 1]}
        match = next(match for match in drawn.matches if match.id == source.match)
        return below(match.a) | below(match.b)

    halves = [below(final.a), below(final.b)]
    for half in halves:
        assert all(group[a] != group[b] for a, b in combinations(half, 2))


@pytest.mark.parametrize("seed", range(cases(14, 40)))
def test_random_tournaments_end_in_any_match_order(seed):
    rng = random.Random(seed)
    groups, through, kind = rng.randint(2, 5), rng.randint(1, 3), rng.choice(["single", "double"])
    teams = [f"T{number}" for number in range(groups * max(2, through) + rng.randint(0, 7))]
    cup = Groups(groups, through, kind, withdrawn=rng.choice(["forfeit", "annul"]))
    state, results = entered(cup, teams), {}
    going = rng.choice([0, 0, 0.05])
    while ready := cup.ready(state):
        busy = [team for pairing in ready if "." not in pairing.id for team in pairing.teams]
        assert len(busy) == len(set(busy))
        if rng.random() < going:
            there = [team for team in teams if team not in cup.eliminated_teams(state)]
            state = cup.play(state, {"do": "withdraw", "team": rng.choice(there)})
            continue
        pairing = rng.choice(ready)
        results[pairing.id] = winner = rng.choice(pairing.teams)
        state = cup.play(state, {"do": "result", "match": pairing.id, "winner": winner})
    champion = cup.champion(state)
    assert champion in teams or len(state.withdrawn) == len(teams)
    assert set(cup.eliminated_teams(state)) == set(teams) - {champion}
    if not state.withdrawn:
        assert len(state.qualifiers.teams) == groups * through
        again = entered(cup, teams)
        while ready := cup.ready(again):
            one = rng.choice(ready)
            again = cup.play(again, {"do": "result", "match": one.id, "winner": results[one.id]})
        assert cup.public_summary(again) == cup.public_summary(state)


def test_early_withdrawal_promotes_next_team_late_one_forfeits():
    cup = Groups(2, through=2)
    state = finish(cup, entered(cup), random.Random(3), in_cup)
    early = cup.play(state, {"do": "withdraw", "team": "T1"})
    assert early.qualifiers.teams == ("T4", "T2", "T5", "T3")
    begun = cup.play(state, {"do": "begin", "match": "W1-1"})
    late = cup.play(begun, {"do": "withdraw", "team": "T4"})
    assert late.qualifiers.teams == state.qualifiers.teams
    assert "T2" in next(pairing.teams for pairing in cup.pairings(late) if pairing.id == "F1"), "by a walkover"


def test_last_team_that_stays_is_the_champion():
    cup = Groups(2, through=1)
    state = entered(cup, TEAMS[:4])
    for team in ("T2", "T3", "T4"):
        assert cup.champion(state) is None
        state = cup.play(state, {"do": "withdraw", "team": team})
    assert state.qualifiers.teams == ("T1",)
    assert cup.champion(state) == "T1"


def test_group_correction_after_elimination_begins_needs_decision():
    cup = Groups(2, through=1)
    state = finish(cup, entered(cup), random.Random(4), in_cup)
    match = next(one.id for one in cup.pairings(state) if one.teams in {("T1", "T4"), ("T4", "T1")})
    sticks = {"do": "correct", "match": match, "winner": "T4", "sticks": {"T4": 90}}
    moved = cup.play(state, sticks)
    assert moved.qualifiers.teams == ("T4", "T2")
    begun = cup.play(state, {"do": "begin", "match": "F1"})
    with pytest.raises(IllegalActionError, match="have begun: F1"):
        cup.play(begun, sticks)
    kept = cup.play(begun, {**sticks, "then": "keep"})
    assert kept.qualifiers.teams == ("T1", "T2")
    again = cup.play(begun, {**sticks, "then": "replay"})
    assert again.qualifiers.teams == ("T4", "T2")
    assert "F1" not in again.started
    void = cup.play(begun, {"do": "replay", "match": match})
    assert void.qualifiers is None
    assert [pairing.id for pairing in cup.ready(void)] == [match]


def test_stick_correction_changing_qualifiers_needs_decision():
    cup = Groups(2, through=1)
    state = entered(cup, ["a", "b", "c", "d", "e", "f"])
    mine = cup.parts(state).leagues["A"].teams
    order = dict(zip(mine, [*mine[1:], mine[0]], strict=True))  # each beats the next: a tie but for the sticks
    for pairing in cup.ready(state):
        if pairing.id.startswith("A."):
            first, second = pairing.teams
            winner = first if order[first] == second else second
            result = {
                "do": "result",
                "match": pairing.id,
                "winner": winner,
                "sticks": {winner: 12 if winner == "a" else 11},
            }
            state = cup.play(state, result)
    state = cup.play(finish(cup, state, random.Random(5), in_cup), {"do": "begin", "match": "F1"})
    assert state.qualifiers.teams[0] == "a"
    match, winner = next((one.id, one.winner) for one in cup.pairings(state) if one.winner not in {"a", None})
    with pytest.raises(IllegalActionError, match="have begun: F1"):
        cup.play(state, {"do": "correct", "match": match, "winner": winner, "sticks": {winner: 20}})


def test_invalid_group_settings_are_refused(tmp_path, capsys):
    with pytest.raises(InvalidActionError, match="too few"):
        entered(Groups(4), TEAMS[:7])
    with pytest.raises(ValueError, match="2 to 26 groups"):
        Groups(1)
    with pytest.raises(ValueError, match="at least one"):
        Groups(2, 0)
    with pytest.raises(UsageError, match="groups"):
        bracket(["--format", "groups", "--groups", "99"])
    path = tmp_path / "cup.jsonl"
    path.write_text('{"do": "enter", "teams": ["a", "b", "c", "d"]}\n')
    assert bracket(["--format", "groups", "--groups", "2", "--through", "1", str(path)]) == 0
    assert '"A.R1-1"' in capsys.readouterr().out


def test_page_lists_groups_and_draws_elimination_bracket():
    cup = Groups(2, through=2)
    state = entered(cup)
    assert 'class="sheets"' not in page(cup, state, "Wacipi", ENGLISH)
    shown = page(cup, finish(cup, state, random.Random(6)), "Wacipi", ENGLISH)
    assert 'class="sheets"' in shown
    for text in ("Group A, round 1", "Group B, round 3", "<td>A 1</td>", "Final", "Winner: T1"):
        assert text in shown

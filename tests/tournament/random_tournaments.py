"""Plays random tournaments and checks what must hold in each; reckons how often and how early teams meet again.

`check_random`: brackets without a director, of up to 128 teams. `check_day`: days in a hall, a director's decisions in
every format, with teams that leave, forfeit, come late, come back or are renamed, with protests, calls that move,
matches that are played again, results that are corrected and decisions that are undone.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from director_hall import Hall

from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.tournament import Elimination, Groups, RoundRobin
from pi_controller.tournament import decisions as d
from pi_controller.tournament.bracket import LoserOf, WinnerOf, double
from pi_controller.tournament.competition import NOBODY


@cache
def kinds():
    """Return the kinds of elimination with how many losses put a team out."""
    third = Elimination("single", third_place=True)
    return {"double": (Elimination("double"), 2), "single": (Elimination("single"), 1), "third": (third, 1)}


def play(cup, teams, rng, withdrawals=0, strengths=None):
    """Play a tournament to its end in a random order of matches; return its last state and who beat whom, in order.

    `withdrawals` is the chance that instead of a result a team goes. `strengths` decides each match for the team with
    more of it, as a function of the match and its teams would; without it matches are tossed up.
    """
    state = cup.play(cup.opening, {"do": "enter", "teams": list(teams)})
    met = []
    while not cup.is_over(state):
        ready = cup.ready(state)
        assert ready, "nobody is champion, and nothing can be played"
        busy = [team for pairing in ready for team in pairing.teams]
        assert len(busy) == len(set(busy)), "a team has two matches at once"
        if withdrawals and rng.random() < withdrawals:
            out = {*cup.eliminated_teams(state), cup.champion(state)}
            team = rng.choice([team for team in teams if team not in out])
            why = rng.choice(["withdrawn", "disqualified", "no_show"])
            state = cup.play(state, {"do": "withdraw", "team": team, "why": why})
            continue
        pairing = rng.choice(ready)
        winner = rng.choice(pairing.teams) if strengths is None else max(pairing.teams, key=strengths.__getitem__)
        loser = next(team for team in pairing.teams if team != winner)
        state = cup.play(state, {"do": "result", "match": pairing.id, "winner": winner})
        met.append((pairing, winner, loser))
    return state, met


def check(cup, lives, teams, state):
    """Check that all but the champion are out with so many losses, and how many matches were played."""
    assert not state.withdrawn
    check_elimination(cup, state)
    pairings = cup.pairings(state)
    champion = cup.champion(state)
    losses = sum(champion in pairing.teams and pairing.winner != champion for pairing in pairings)
    number = len(teams)
    third = [pairing for pairing in pairings if pairing.side == "third"]
    assert len(pairings) - len(third) == (number - 1 if lives == 1 else 2 * number - 2 + losses)
    assert len(third) == (cup is kinds()["third"][0] and number >= 4)
    rows = cup.standings(state)
    assert [row["team"] for row in rows if third and row["place"] == 3] == [one.winner for one in third]
    assert set(cup.eliminated_teams(state)) == set(teams) - {champion}


def check_elimination(cup, state):
    """Check that nobody plays on that is out, that everybody is out but the champion, and that this one is there."""
    lives = 2 if cup.kind == "double" else 1
    losses = Counter()
    for pairing in cup.pairings(state):
        assert pairing.winner is not None, f"{pairing.id} was never decided"
        teams = [team for team in pairing.teams if team != NOBODY]
        assert len(set(teams)) == len(teams)
        if pairing.side == "third":
            assert all(losses[team] == 1 for team in teams if team not in state.withdrawn)
            continue
        assert all(losses[team] < lives for team in teams), "a team plays on that is out"
        if pairing.side == "winners":
            assert all(losses[team] == 0 for team in teams)
        elif pairing.side == "losers":
            assert all(losses[team] == 1 for team in teams if team not in state.withdrawn)
        if len(teams) == 2:
            losses.update(team for team in teams if team != pairing.winner)
        else:
            assert pairing.winner == (teams[0] if teams else NOBODY), "a bye"
            assert pairing.id not in state.games
    left = [team for team in state.teams if team not in state.withdrawn and losses[team] < lives]
    champion = cup.champion(state)
    assert left == ([] if champion is None else [champion]), left
    assert all(losses[team] <= lives for team in state.teams)


def check_league(league, state):
    """Check that the best of those present has won, if ties are played off, and who is before whom."""
    rows = league.standings(state)
    here = [row for row in rows if row["gone"] is None]
    assert list(rows[: len(here)]) == here, "one that has left stands before one that is present"
    keys = [(-row["points"], -row["sticks"], -row["sweeps"]) for row in here]
    assert keys == sorted(keys)
    first = [row["team"] for row in here if row["place"] == 1]
    champion = league.champion(state)
    assert champion == (first[0] if len(first) == 1 else None)
    assert champion is not None or not here or league.play_off == "none", "nobody is champion"


def check_places(state, rows, champion):
    """Check the places of a tournament that is over: whose they are, and how many are before them."""
    assert [row["team"] for row in rows if champion and row["place"] == 1] == ([champion] if champion else [])
    places = [row["place"] for row in rows]
    first = 1 if champion else 2
    assert all(place == first + sum(other < place for other in places) for place in places), places
    check_no_shared_place(state, rows)


def check_no_shared_place(state, rows):
    """Check that no team that has left shares a place with one that is present."""
    for key in ("place", "in_group"):
        here = {(row.get("group"), row[key]) for row in rows if row.get(key) and row["team"] not in state.withdrawn}
        gone = {(row.get("group"), row[key]) for row in rows if row.get(key) and row["team"] in state.withdrawn}
        assert here.isdisjoint(gone), (key, here & gone)


def check_random(rng):
    """Play one random tournament of 2 to 128 teams, and where nobody went play it again in another order."""
    teams = [f"T{number}" for number in range(1, rng.randint(2, 128) + 1)]
    cup, lives = kinds()[rng.choice(["double", "double", "single", "third"])]
    state, met = play(cup, teams, rng, rng.choice([0, 0, 0.02, 0.2]))
    check_elimination(cup, state)
    check_places(state, cup.standings(state), cup.champion(state))
    if not state.withdrawn:
        check(cup, lives, teams, state)
        results = {pairing.id: winner for pairing, winner, _ in met}
        again = cup.play(cup.opening, {"do": "enter", "teams": teams})
        while ready := cup.ready(again):
            one = rng.choice(ready)
            again = cup.play(again, {"do": "result", "match": one.id, "winner": results[one.id]})
        assert cup.public_summary(again) == cup.public_summary(state), (
            "the order in which matches finished made a difference"
        )


class Day:
    """A day in a hall, decided at random by `rng`; `events` counts what happened."""

    tables = ("t1", "t2", "t3")

    def __init__(self, rng):
        self.rng, self.events = rng, Counter()
        kind = rng.choice(["double", "double", "single", "round_robin", "round_robin", "groups"])
        groups, through = rng.randint(2, 3), rng.randint(1, 2)
        fewest = 2 if kind != "groups" else 2 * groups
        self.hall = Hall(
            [f"<T{number}>" for number in range(rng.randint(fewest, fewest + rng.choice([2, 7])))],
            game="slahal",
            format=kind,
            best_of=rng.choice([1, 1, 1, 3]),
            withdrawn=rng.choice(["forfeit", "annul"]),
            play_off=rng.choice(["first", "all", "none"]),
            groups=groups,
            through=through,
            knockout=rng.choice(["single", "double"]),
            third_place=rng.random() < 0.5,
        )
        self.hall.do(d.TeamsDrawn("4 1 6 2"))
        self.trouble = rng.choice([0, 3, 10, 25])
        """How many decisions other than results are still to come."""
        for _ in range(rng.choice([0, 0, 1, 3])):
            self.events["add"] += self.add()

    @property
    def now(self):
        return self.hall.now

    def play(self):
        """Play the day to its end; return the last state."""
        troubles = (*3 * (self.withdraw, self.both_absent, self.forfeit, self.replay, self.protest, self.move),)
        troubles += (self.rename, self.add, self.correct, self.reinstate, self.undo)
        steps = 0
        while not self.now.is_over or (self.trouble and self.rng.random() < 0.8):
            steps += 1
            assert steps < 2_000, "the tournament does not end"
            if self.trouble and (self.now.is_over or self.rng.random() < 0.3):
                self.trouble -= 1
                event = self.rng.choice(troubles)
                self.events[event.__name__] += bool(event())
            elif self.now.open_protests and (self.rng.random() < 0.2 or not self.playable()):
                self.ruling()
            else:
                self.result()
            check_no_shared_place(self.now.state, self.now.competition.standings(self.now.state))
        return self.now

    def playable(self):
        held = {team for protest in self.now.open_protests for team in protest.teams}
        return [pairing for pairing in self.now.ready if held.isdisjoint(pairing.teams)]

    def attempt(self, *facts):
        """Make decisions; return whether they were accepted. A refusal changes nothing."""
        before = self.now
        for fact in facts:
            try:
                self.hall.do(fact)
            except (IllegalActionError, InvalidActionError):
                assert self.now is before
                return False
            before = self.now
        return True

    def score(self, pairing, winner):
        """Return a slip's sticks and whether it is a sweep, or the tie's place."""
        held = self.rng.randint(6, 11)
        loser = next(team for team in pairing.teams if team != winner)
        return {winner: held, loser: 11 - held}, held == 11 and self.rng.random() < 0.5

    def result(self):
        pairing = self.rng.choice(self.playable())
        winner = self.rng.choice(pairing.teams)
        sticks, sweep = self.score(pairing, winner)
        busy = {team for call in self.now.calls.values() for team in call.teams}
        free = [table for table in self.tables if table not in {call.table for call in self.now.calls.values()}]
        plan = self.now.plan
        tie = plan.format == "round_robin" and plan.best_of == 1 and not pairing.id.startswith("P")
        if tie and self.rng.random() < 0.2:
            self.hall.do(d.TieEntered(pairing.id))
        elif pending := [order for order, one in self.now.reports.items() if one.fact.match == pairing.id]:
            self.hall.do(d.Confirmed(pending[0]))
        elif pairing.id in self.now.calls:
            table = self.now.calls[pairing.id].table
            self.hall.do(d.Confirmed(self.hall.report(pairing.id, winner, table)))
        elif free and busy.isdisjoint(pairing.teams) and self.rng.random() < 0.5:
            self.hall.call(pairing.id, self.rng.choice(free))
        else:
            self.hall.do(d.Result(pairing.id, winner, sweep, sticks))

    def ruling(self):
        protest = self.rng.choice(self.now.open_protests)
        ruling = self.rng.choice(["upheld", "denied"])
        self.hall.do(d.ProtestDecided(protest.number, ruling, "as seen"))
        if ruling == "upheld":
            self.attempt(d.Replayed(protest.match))

    def withdraw(self):
        team = self.rng.choice(self.now.state.teams)
        return self.attempt(d.TeamWithdrawn(team, self.rng.choice(["withdrawn", "disqualified", "no_show"])))

    def both_absent(self):
        """Both teams of a match go, or forfeit it: nobody wins it, and the order makes no difference."""
        if not self.now.ready:
            return False
        pairing = self.rng.choice(self.now.ready)
        cup, ends = self.now.competition, []
        stay = self.rng.random() < 0.5
        for teams in (pairing.teams, pairing.teams[::-1]):
            state = self.now.state
            for team in teams:
                fact = {"do": "forfeit", "match": pairing.id} if stay else {"do": "withdraw", "why": "no_show"}
                state = cup.play(state, {**fact, "team": team})
            ends.append(cup.public_summary(state))
            if stay:
                assert cup.winner(state, pairing.id) == NOBODY
        assert ends[0] == ends[1]
        for team in pairing.teams:
            self.hall.do(d.Forfeited(pairing.id, team) if stay else d.TeamWithdrawn(team, "no_show"))
        return True

    def forfeit(self):
        if not self.now.ready:
            return False
        pairing = self.rng.choice(self.now.ready)
        team = self.rng.choice(pairing.teams)
        self.hall.do(d.Forfeited(pairing.id, team))
        after = self.now.pairing(pairing.id)
        assert after.winner not in {None, team}
        return True

    def replay(self):
        matches = [pairing.id for pairing in self.now.pairings if pairing.id in self.now.state.games]
        if not matches:
            return False
        match = self.rng.choice(matches)
        void = self.now.competition.dependents(self.now.state, match) | {match}
        self.hall.do(d.Replayed(match))
        games, withdrawn = self.now.state.games, self.now.state.withdrawn
        assert all(game.walkover for one in void for game in games.get(one, ()))
        again = next((one for one in self.now.pairings if one.id == match), None)
        assert again is None or again.open or not withdrawn.keys().isdisjoint(again.teams)
        return True

    def protest(self):
        pairings = [pairing for pairing in self.now.pairings if all(pairing.teams)]
        if not pairings:
            return False
        pairing = self.rng.choice(pairings)
        self.hall.do(d.Protested(pairing.id, self.rng.choice(pairing.teams), "the sleeve"))
        for one in self.now.ready:
            if set(one.teams) & set(pairing.teams):
                assert not self.attempt(d.Result(one.id, one.teams[0]))
                assert one.id not in {call.match for call in self.now.schedule(self.tables, self.hall.t)[0]}
        return True

    def move(self):
        waiting = [call for call in self.now.calls.values() if not call.started]
        free = [table for table in self.tables if table not in {call.table for call in self.now.calls.values()}]
        if not waiting or not free:
            return False
        call = self.rng.choice(waiting)
        if not self.attempt(d.Assigned(call.match, self.rng.choice(free), f"moved{self.hall.t:g}")):
            return False
        assert self.now.calls[call.match].table in free
        return True

    def rename(self):
        team, name = self.rng.choice(self.now.state.teams), f"<N{self.hall.t:g}>"
        before = json.dumps(self.now.competition.public_summary(self.now.state), sort_keys=True)
        self.hall.do(d.TeamRenamed(team, name))
        after = json.dumps(self.now.competition.public_summary(self.now.state), sort_keys=True)
        assert json.loads(before.replace(team, name)) == json.loads(after)
        assert self.now.team_name(team) == name
        return True

    def add(self):
        before = {pairing.id: pairing.teams for pairing in self.now.pairings if pairing.id in self.now.state.started}
        if not self.attempt(d.TeamAdded(d.Entry(f"<L{self.hall.t:g}>"))):
            return False
        after = {pairing.id: pairing.teams for pairing in self.now.pairings}
        games = self.now.state.games
        begun = [match for match in before if match in games and not games[match][-1].walkover]
        assert all(before[match] == after[match] for match in begun)
        return True

    def correct(self):
        played = [pairing for pairing in self.now.pairings if pairing.id in self.now.state.games]
        if not played:
            return False
        pairing = self.rng.choice(played)
        winner = self.rng.choice(pairing.teams)
        sticks, sweep = self.score(pairing, winner)
        return self.attempt(
            d.Corrected(pairing.id, winner, sweep, sticks, then=self.rng.choice(["replay", "keep", None]))
        )

    def reinstate(self):
        gone = list(self.now.state.withdrawn)
        return bool(gone) and self.attempt(d.Reinstated(self.rng.choice(gone)))

    def undo(self):
        try:
            self.hall.undo()
        except IllegalActionError:
            return False
        if not self.now.state.teams:
            self.hall.do(d.TeamsDrawn("4 1 6 2"))
        return True


def check_day(rng):
    """Play a random day; check how it ends. Return what has happened."""
    day = Day(rng)
    now = day.play()
    cup, state = now.competition, now.state
    champion = cup.champion(state)
    assert champion is None or champion not in state.withdrawn
    match cup:
        case RoundRobin():
            check_league(cup, state)
        case Groups():
            leagues, knockout = cup.parts(state)
            assert all(pairing.winner is not None for one in leagues.values() for pairing in cup.league.pairings(one))
            if knockout is not None:
                check_elimination(cup.cup, knockout)
            else:
                here = [team for team in state.qualifiers.teams if team not in state.withdrawn]
                assert [champion] == (here or [None])
        case _:
            check_elimination(cup, state)
    if not isinstance(cup, RoundRobin) or cup.play_off == "all":
        check_places(state, cup.standings(state), champion)
    day.events["champion" if champion else "nobody left or a tie"] += 1
    return day.events


def chance_of_rematches(number):
    """Return the mean number of rematches in each losers' round, reckoned exactly for results at random.

    Two teams of the losers' side have met where one lost a match of the winners' to the other, who went on from there
    to lose its own: each step further has half the chance.
    """
    drawn = double(number)
    above = {match.a.match: match.id for match in drawn.matches if isinstance(match.a, WinnerOf)}
    above |= {match.b.match: match.id for match in drawn.matches if isinstance(match.b, WinnerOf)}

    def steps(low, high):
        """Return how many wins lead from the winners' match `low` to `high`; None where none do."""
        count = 0
        while low is not None and low != high:
            low, count = above.get(low), count + 1
        return None if low is None else count

    lost_at = {}  # for the winner of each losers' match: the chance that it had lost this match of the winners'
    rounds = Counter()
    for match in drawn.matches:
        if match.side != "losers":
            continue
        slots = [
            {source.match: 1.0} if isinstance(source, LoserOf) else lost_at[source.match]
            for source in (match.a, match.b)
        ]
        for low, low_chance in slots[0].items():
            for high, high_chance in slots[1].items():
                count = steps(low, high) or steps(high, low)
                rounds[match.round] += low_chance * high_chance * 0.5**count if count else 0
        lost_at[match.id] = {lost: chance / 2 for slot in slots for lost, chance in slot.items()}
    return [rounds[number] for number in sorted(rounds)]

"""Plays random tournaments and checks what must hold in each; measures how often and how early teams meet again.

python tests/tournament/random_tournaments.py [--count 10000] [--rematches 20000]
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from functools import cache

from pi_controller.tournament import Elimination
from pi_controller.tournament.bracket import LoserOf, WinnerOf, double


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
    pairings = cup.pairings(state)
    losses = Counter()
    for pairing in pairings:
        assert pairing.winner is not None, f"{pairing.id} was never played"
        first, second = pairing.teams
        assert first != second
        if pairing.side == "third":
            assert losses[first] == losses[second] == 1
            continue
        assert losses[first] < lives, "a team plays on that is out"
        assert losses[second] < lives, "a team plays on that is out"
        if pairing.side == "winners":
            assert losses[first] == losses[second] == 0
        elif pairing.side == "losers":
            assert losses[first] == losses[second] == 1
        losses[second if pairing.winner == first else first] += 1
    champion = cup.champion(state)
    assert losses[champion] < lives
    assert all(losses[team] == lives for team in teams if team != champion)
    number = len(teams)
    third = [pairing for pairing in pairings if pairing.side == "third"]
    assert len(pairings) - len(third) == (number - 1 if lives == 1 else 2 * number - 2 + losses[champion])
    assert len(third) == (cup is kinds()["third"][0] and number >= 4)
    rows = cup.standings(state)
    assert [row["team"] for row in rows if row["place"] == 1] == [champion]
    places = [row["place"] for row in rows]
    assert [row["team"] for row in rows if third and row["place"] == 3] == [one.winner for one in third]
    assert all(place == 1 + sum(other < place for other in places) for place in places), places
    assert set(cup.eliminated_teams(state)) == set(teams) - {champion}


def check_random(rng):
    """Play one random tournament of 2 to 128 teams, and where nobody went play it again in another order."""
    teams = [f"T{number}" for number in range(1, rng.randint(2, 128) + 1)]
    cup, lives = kinds()[rng.choice(["double", "double", "single", "third"])]
    state, met = play(cup, teams, rng, rng.choice([0, 0, 0.02, 0.2]))
    check(cup, lives, teams, state)
    if not state.withdrawn:
        results = {pairing.id: winner for pairing, winner, _ in met}
        again = cup.play(cup.opening, {"do": "enter", "teams": teams})
        while ready := cup.ready(again):
            one = rng.choice(ready)
            again = cup.play(again, {"do": "result", "match": one.id, "winner": results[one.id]})
        assert cup.public_summary(again) == cup.public_summary(state), (
            "the order in which matches finished made a difference"
        )


def rematches(number, times, rng):
    """Return the mean of rematches before the losers' final, the first losers' round with any, and their number."""
    cup, _ = kinds()["double"]
    teams = [f"T{place}" for place in range(1, number + 1)]
    last = max(
        pairing.round
        for pairing in cup.pairings(cup.play(cup.opening, {"do": "enter", "teams": teams}))
        if pairing.side == "losers"
    )
    found, first = 0, last
    for _ in range(times):
        met = set()
        for pairing, winner, loser in play(cup, teams, rng)[1]:
            pair = frozenset((winner, loser))
            if pairing.side == "losers" and pairing.round < last and pair in met:
                found += 1
                first = min(first, pairing.round)
            met.add(pair)
    return found / times, first, last


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


def main():
    """Print what was checked and measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--rematches", type=int, default=4_000, help="tournaments of 8 teams; fewer of more")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    for _ in range(args.count):
        check_random(rng)
    print(f"{args.count} random tournaments of 2 to 128 teams: all as they must be")
    for number in (8, 16, 32, 64, 128):
        print(
            f"{number} teams: {sum(chance_of_rematches(number)[:-1]):.3f} rematches before the losers' final, exactly"
        )
    for number in (8, 12, 16, 24, 32, 64):
        times = max(1, args.rematches * 8 // number)
        mean, first, last = rematches(number, times, rng)
        print(
            f"{number} teams, {times} times: {mean:.3f} rematches before the losers' final, "
            f"the first in losers' round {first} of {last}"
        )


if __name__ == "__main__":
    main()

"""Tournaments: pairings, eliminations and standings from results. Pure: no clock, no I/O, no random numbers.

A `Competition` is one kind of tournament; its states are frozen.

>>> from pi_controller.tournament import Elimination, draw
>>> cup = Elimination("double")
>>> order = draw(["Long Hollow", "Big Coulee", "Buffalo Lake"], seed="4 1 6 2")
>>> state = cup.play(cup.opening, {"do": "enter", "teams": list(order)})
>>> [(pairing.id, pairing.teams) for pairing in cup.ready(state)]
[('W1-1', ('Buffalo Lake', 'Long Hollow'))]
>>> state = cup.play(state, {"do": "result", "match": "W1-1", "winner": "Buffalo Lake"})
>>> state = cup.play(state, {"do": "withdraw", "team": "Long Hollow"})
>>> cup.champion(state), cup.eliminated_teams(state)
(None, ('Long Hollow',))

A round robin, with the organiser's points:

>>> from pi_controller.tournament import Competition, Pairing, Points, RoundRobin, TournamentState, circle, lot
>>> league = RoundRobin(points=Points(sweep=3, win=2))
>>> state = league.play(league.opening, {"do": "enter", "teams": ["Long Hollow", "Big Coulee"]})
>>> isinstance(league, Competition), isinstance(state, TournamentState), isinstance(league.ready(state)[0], Pairing)
(True, True, True)
>>> league.public_summary(state)["ready"][0]["teams"]
['Long Hollow', 'Big Coulee']
>>> len(circle(8)), sum(map(len, circle(8)))
(7, 28)

Groups, with the best two of each in an elimination:

>>> from pi_controller.tournament import Groups
>>> cup = Groups(2, through=2)
>>> state = cup.play(cup.opening, {"do": "enter", "teams": ["a", "b", "c", "d"]})
>>> [(pairing.id, pairing.teams) for pairing in cup.ready(state)]
[('A.R1-1', ('a', 'd')), ('B.R1-1', ('b', 'c'))]

Anybody can check the lots of a drawing: `printf '%s' '4 1 6 2/Long Hollow' | sha256sum`.

>>> lot("4 1 6 2", "Long Hollow") < lot("4 1 6 2", "Big Coulee")
False
"""

from pi_controller.tournament.competition import Competition, Pairing, TournamentState
from pi_controller.tournament.elimination import Elimination
from pi_controller.tournament.groups import Groups
from pi_controller.tournament.round_robin import Points, RoundRobin, circle
from pi_controller.tournament.teams import draw, lot

__all__ = [
    "Competition",
    "Elimination",
    "Groups",
    "Pairing",
    "Points",
    "RoundRobin",
    "TournamentState",
    "circle",
    "draw",
    "lot",
]

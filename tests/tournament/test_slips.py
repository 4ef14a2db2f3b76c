"""The captains' slip of Lahal: what no game can end with is refused, in a tournament and on paper."""

from __future__ import annotations

import json

import pytest
from director_hall import TEAMS, drawn

from pi_controller.cli.pipes import bracket
from pi_controller.rules.base import IllegalActionError
from pi_controller.tournament import decisions as d

FIRST, OTHER = TEAMS[0], TEAMS[3]
BAD = [
    ((9, 9), {}),
    ((3, 8), {}),
    ((6, 5), {"sweep": True}),
    ((11, 1), {"sweep": True}),
    ((11, 1), {}),
    ((5, 5), {}),
    ((4, 6), {"finish": "king_moved"}),
]
GOOD = [
    ((6, 5), {}),
    ((11, 0), {"sweep": True}),
    ((11, 0), {}),
    ((3, 8), {"finish": "king_moved"}),
    ((2, 8), {"finish": "forfeit"}),
]


def lahal():
    return drawn(game="slahal", format="round_robin")


@pytest.mark.parametrize(("held", "more"), BAD)
def test_impossible_slip_is_refused(held, more):
    hall = lahal()
    sticks = dict(zip((FIRST, OTHER), held, strict=True))
    with pytest.raises(IllegalActionError):
        hall.do(d.Result("R1-1", FIRST, sticks=sticks, **more))
    hall.do(d.Result("R1-1", FIRST))
    with pytest.raises(IllegalActionError):
        hall.do(d.Corrected("R1-1", FIRST, sticks=sticks, **more))


@pytest.mark.parametrize(("held", "more"), GOOD)
def test_possible_slip_counts(held, more):
    hall = lahal()
    sticks = dict(zip((FIRST, OTHER), held, strict=True))
    hall.do(d.Result("R1-1", FIRST, sticks=sticks, **more), d.Corrected("R1-1", FIRST, sticks=sticks, **more))
    assert hall.now.state.games["R1-1"][0].sticks == sticks


def test_games_without_a_slip_take_any_sticks():
    hall = drawn(game="dakota", format="round_robin")
    hall.do(d.Result("R1-1", FIRST, sticks={FIRST: 5, OTHER: 4}))
    assert hall.now.pairing("R1-1").winner == FIRST


@pytest.mark.parametrize("held", [(9, 9), (3, 8)])
@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--format", "round_robin"], 2),
        (["--format", "double", "--game", "slahal"], 2),
        (["--format", "round_robin", "--game", "dakota"], 0),
        (["--format", "double"], 0),
    ],
)
def test_bracket_checks_the_slip_of_its_game(tmp_path, capsys, options, status, held):
    match = "R1-1" if "round_robin" in options else "W1-1"
    lines = [
        {"do": "enter", "teams": ["a", "b"]},
        {"do": "result", "match": match, "winner": "a", "sticks": dict(zip("ab", held, strict=True))},
    ]
    path = tmp_path / "slip.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert bracket([*options, str(path)]) == status
    capsys.readouterr()

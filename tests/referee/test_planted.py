"""A few minutes of simulated play with many fouls: `fouls_many.py` plays whole games, and says what it found."""

import pytest
from cases import cases
from load_file import load_file

play = load_file("tests/referee/fouls_many.py").play


@pytest.mark.parametrize(
    ("game", "seed", "seconds"),
    [("dakota", 3, cases(50.0, 100.0)), pytest.param("slahal", 0, 90.0, marks=pytest.mark.slow), ("bageswin", 3, 20.0)],
)
def test_no_foul_is_missed_and_none_is_invented(game, seed, seconds):
    found, invented, *_ = play(seed, game, limit_s=seconds)
    assert found.total() >= 2
    assert not [kind for kind, outcome in found if outcome == "missed"]
    assert not invented

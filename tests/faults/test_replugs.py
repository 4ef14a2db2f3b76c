"""A few replugs at random moments; `python tests/faults/replugs.py --cycles 1000 --games 100` makes many."""

import pytest
from cases import ALL_CASES
from load_file import load_file

replugs = load_file("tests/faults/replugs.py")


@pytest.mark.parametrize(("seed", "cycles"), [(0, 5), (1, 5)] if ALL_CASES else [(0, 5)])
@pytest.mark.slow
def test_random_replugs_invent_and_lose_no_hits(seed, cycles):
    games, told, _, _, wrong = replugs.game(seed, {seed: cycles}, 1, 100)
    assert wrong == []
    assert len(told) == cycles
    assert games <= 3
    assert max(seen for _, seen, _ in told) <= replugs.SEEN_S
    assert max(back for _, _, back in told) <= replugs.BACK_S


def test_every_game_gets_its_share():
    assert replugs.quotas(7, 3) == [3, 2, 2]
    assert sum(replugs.quotas(1000, 100)) == 1000

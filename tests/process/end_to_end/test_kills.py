"""The daemon killed in the middle of games: each resumes and ends as the unkilled one does."""

import pytest
from cases import ALL_CASES, cases
from load_file import load_file


@pytest.mark.parametrize(
    ("seed", "kills"),
    [  # in 704 a bead lies at power-up where the sensors hardly reach
        (704, cases(3, 5)),
        *([(5, 4)] if ALL_CASES else []),
    ],
)
@pytest.mark.slow
def test_killed_table_ends_as_the_unkilled_one(seed, kills, tmp_path):
    phases, done, foretold = load_file("tests/process/end_to_end/kills.py").play(
        seed, kills=kills, points=1, folder=tmp_path
    )
    assert len(phases) == kills
    assert done == foretold


@pytest.mark.slow
def test_kills_lose_no_acknowledged_call_and_viewers_reconnect(tmp_path):
    """`python tests/process/end_to_end/kills_watched.py --kills 100` does it with 200 viewers."""
    run = load_file("tests/process/end_to_end/kills_watched.py").play(tmp_path, kills=2, viewers=12, seed=1)
    assert run.kills == 2
    assert all(judge.acked for judge in run.judges)
    assert all(viewer.came_back >= 2 for viewer in run.viewers)
    assert run.figures()

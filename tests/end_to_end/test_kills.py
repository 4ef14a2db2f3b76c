"""The daemon killed in the middle of games: each resumes and ends as the unkilled one does.

`python tests/end_to_end/kills.py --kills 50` kills as often as one likes.
"""

import importlib.util
from pathlib import Path

import pytest


def script(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("seed", "kills", "points"),
    [(0, 4, 1), (5, 4, 1), (704, 5, 2)],  # in 704 a bead lies at power-up where the sensors hardly reach
)
def test_a_killed_table_goes_on(seed, kills, points, tmp_path):
    phases, done, foretold = script("kills").play(seed, kills=kills, points=points, folder=tmp_path)
    assert len(phases) == kills
    assert done == foretold

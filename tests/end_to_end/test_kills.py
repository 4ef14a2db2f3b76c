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


@pytest.mark.parametrize("seed", [0, 5])
def test_a_killed_table_goes_on(seed, tmp_path):
    phases, done, foretold = script("kills").play(seed, kills=4, points=1, folder=tmp_path)
    assert len(phases) == 4
    assert done == foretold

"""Innocent and guilty hides through `moccasin-mat referee` on a real pipe."""

import pytest
from cases import cases
from load_file import load_file
from referee_process import RefereeProcess

from pi_controller.referee.settings import PRESETS

HIDES = cases(30, 60)
"""Hides in each preset; `python tests/referee/truthful_hides.py --hides 5000` plays more."""


@pytest.mark.parametrize("preset", [*PRESETS][:: cases(3, 1)])
def test_random_hides_on_a_real_pipe_are_fair(preset):
    tally = load_file("tests/referee/truthful_hides.py").play(HIDES, 1, preset, RefereeProcess)
    assert tally.hides == HIDES
    assert tally.fair
    assert sum(tally.called.values()) or preset == "umpired"

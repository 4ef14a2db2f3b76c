"""Hides by people whose true acts are known: the referee punishes no team that did nothing (truthful_hides.py)."""

import json
from random import Random

import pytest
from load_file import load_file

from pi_controller.referee.settings import PRESETS

hides = load_file("tests/referee/truthful_hides.py")

STORIES = 60
HIDES_A_STORY = 3
HIDES = 100
"""Hides in each preset on a real pipe; `python tests/referee/truthful_hides.py --hides 20000` plays more."""


def failures(tally):
    """Return what went wrong, the first with the lines of the pipe that lead to it."""
    return [(what, options, "" if n else json.dumps(lines)) for n, (what, options, lines) in enumerate(tally.failures)]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("story", range(STORIES))
def test_no_foul_on_a_team_that_did_nothing(story, preset):
    pipe = hides.InProcess(preset, {"points": 99, "hit_seconds": int(hides.HIT_SECONDS)}, ("", "2,3,1,4")[story % 2])
    people = hides.People(pipe, preset, Random(f"story {story}"))
    for _ in range(HIDES_A_STORY):
        people.play_hide()
    assert failures(people.tally) == []


@pytest.mark.parametrize("preset", PRESETS)
def test_random_hides_on_a_real_pipe_are_fair(preset):
    tally = hides.play(HIDES, 1, preset, hides.Process)
    assert tally.hides == HIDES
    assert tally.fair, failures(tally)[:1]
    assert sum(tally.called.values()) or preset == "umpired"

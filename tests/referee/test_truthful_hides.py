"""Hides by people whose true acts are known: the referee punishes no team that did nothing (truthful_hides.py)."""

import json
from random import Random

import pytest
from load_file import load_file
from pipe_people import HIT_SECONDS, InProcess, People, Process, looks_good

from pi_controller.referee.settings import PRESETS

hides = load_file("tests/referee/truthful_hides.py")

STORIES = 60
HIDES_A_STORY = 3
HIDES = 60
"""Hides in each preset on a real pipe; `python tests/referee/truthful_hides.py --hides 20000` plays more."""
HIDES_A_HABIT = 12
SHUFFLED = 45


def failures(tally):
    """Return what went wrong, the first with the lines of the pipe that lead to it."""
    return [(what, options, "" if n else json.dumps(lines)) for n, (what, options, lines) in enumerate(tally.failures)]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("story", range(STORIES))
def test_no_foul_on_a_team_that_did_nothing(story, preset):
    pipe = InProcess(preset, {"points": 99, "hit_seconds": int(HIT_SECONDS)}, ("", "2,3,1,4")[story % 2])
    people = People(pipe, preset, Random(f"story {story}"))
    for _ in range(HIDES_A_STORY):
        people.play_hide()
    assert failures(people.tally) == []


@pytest.mark.parametrize("preset", PRESETS)
def test_random_hides_on_a_real_pipe_are_fair(preset):
    tally = hides.play(HIDES, 1, preset, Process)
    assert tally.hides == HIDES
    assert tally.fair, failures(tally)[:1]
    assert sum(tally.called.values()) or preset == "umpired"


@pytest.mark.parametrize("preset", PRESETS)
def test_each_habit_is_neither_charged_nor_asked_about(preset):
    for habit, tally in hides.measure_rates(HIDES_A_HABIT, 1, preset).items():
        assert (tally.charged, tally.asked, failures(tally)[:1]) == (0, 0, []), habit
        assert tally.untidy > HIDES_A_HABIT / 3 or habit == "tidy"


@pytest.mark.parametrize("preset", PRESETS)
def test_order_of_arrival_changes_no_result(preset):
    wrong, _ = hides.play_shuffled(SHUFFLED, 1, preset)
    assert wrong[:1] == []


@pytest.mark.parametrize(
    ("good", "hands"),
    [
        (True, [(0.0, 1.0, 3), (3.1, 4.0, 1), (4.1, 5.0, 2), (5.1, 6.0, 3), (6.1, 7.0, 4)]),
        (False, [(0.0, 1.0, 3), (1.1, 4.0, 1), (4.1, 5.0, 2), (5.1, 6.0, 3), (6.1, 7.0, 4)]),
        (True, [(0.0, 1.0, 3), (1.1, 4.0, 1), (6.1, 7.0, 2), (7.1, 8.0, 4)]),
        (False, [(0.0, 1.0, 3), (1.1, 4.0, 1), (4.1, 5.0, 2)]),
    ],
)
def test_good_hide_is_last_round_or_all_hands(good, hands):
    assert looks_good(hands) == good

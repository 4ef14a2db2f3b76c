"""Hides by people whose true acts are known: the referee punishes no team that did nothing (truthful_hides.py)."""

import json
from random import Random

import pytest
from cases import cases
from load_file import load_file
from pipe_people import HIT_SECONDS, InProcess, People, judge_hands

from pi_controller.referee.settings import PRESETS
from pi_controller.simulation.habits import ROUND_PAUSE_S

hides = load_file("tests/referee/truthful_hides.py")

STORIES = 60
HIDES_A_STORY = 3
HIDES_A_HABIT = cases(6, 12)
SHUFFLED = cases(20, 45)


def failures(tally):
    """Return what went wrong, the first with the lines of the pipe that lead to it."""
    return [(what, options, "" if n else json.dumps(lines)) for n, (what, options, lines) in enumerate(tally.failures)]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("story", range(0, STORIES, cases(5, 1)))
def test_innocent_team_gets_no_foul(story, preset):
    pipe = InProcess(preset, {"points": 99, "hit_seconds": int(HIT_SECONDS)}, ("", "2,3,1,4")[story % 2])
    people = People(pipe, preset, Random(f"story {story}"))
    for _ in range(HIDES_A_STORY):
        people.play_hide()
    assert failures(people.tally) == []


@pytest.mark.parametrize("preset", PRESETS)
def test_no_habit_is_charged_or_asked_about(preset):
    for habit, tally in hides.measure_rates(HIDES_A_HABIT, 1, preset).items():
        assert (tally.charged, tally.asked, failures(tally)[:1]) == (0, 0, []), habit
        assert tally.untidy > HIDES_A_HABIT / 3 or habit == "tidy"


@pytest.mark.parametrize("preset", PRESETS)
def test_order_of_arrival_changes_no_result(preset):
    wrong, _ = hides.play_shuffled(SHUFFLED, 1, preset)
    assert wrong[:1] == []


@pytest.mark.parametrize(
    ("verdict", "pads"),
    [
        ("good", "1 2 3 4"),
        ("good", "3 | 1 2 3 4"),
        ("good", "3 | 1 2 4"),
        ("good", "1 2 | 1 2 3 4"),
        ("pad_twice", "3 1 2 3 4"),
        ("pad_twice", "1 2 1 3 4"),
        ("pad_skipped", "1 3 4"),
        ("pad_skipped", "3 | 1 3 4"),
        ("doubt", "2 | 1 3 4 2 | 1 3 4"),
        ("doubt", "1 2 2 3 4 | 1 2 | 3 4"),
    ],
)
def test_hands_are_judged_by_rounds(verdict, pads):
    hands, t = [], 0.0
    for word in pads.split():
        t += ROUND_PAUSE_S if word == "|" else 1.0
        hands += [] if word == "|" else [(t - 0.9, t, int(word))]
    assert judge_hands(hands) == verdict

"""Habits are pure, each does what its name says, and hands at the pads are followed by a pause."""

from dataclasses import fields
from random import Random

import pytest

from pi_controller.errors import UsageError
from pi_controller.simulation.habits import (
    ROUND_PAUSE_S,
    TIDY,
    UNTIDY,
    Act,
    Habits,
    plan_between_hides,
    plan_neighbour,
    plan_round,
    seeded_random,
)

MANY = range(200)


def between(n: int, habits: Habits) -> tuple[Act, ...]:
    return plan_between_hides(Random(n), habits, (2, 4), "hitter", "hider")


def words(acts: tuple[Act, ...]) -> list[str]:
    return [f"{act.do} {act.pad}" if act.pad else act.do for act in acts]


def test_plan_is_a_function_of_its_seed() -> None:
    assert [between(n, UNTIDY) for n in MANY] == [between(n, UNTIDY) for n in MANY]
    assert len({between(n, UNTIDY) for n in MANY}) == len(MANY)
    assert seeded_random(1, "judge", 2).random() == seeded_random(1, "judge", 2).random()
    assert len({seeded_random(seed, name, 2).random() for seed in (1, 2) for name in ("judge", "round")}) == 4


@pytest.mark.parametrize(
    ("habits", "acts"),
    [
        (TIDY, ["lift", "shown", "wait"]),
        (Habits(shown_early=1.0), ["shown", "lift", "wait"]),
        (Habits(shown_twice=1.0), ["lift", "shown", "shown", "wait"]),
        (Habits(shown_never=1.0, shown_twice=1.0, shown_early=1.0), ["lift", "wait"]),
        (Habits(straighten_before=1.0), ["hand 2", "hand 4", "lift", "shown", "wait"]),
        (Habits(straighten_after=1.0), ["lift", "shown", "hand 2", "hand 4", "wait"]),
    ],
)
def test_each_habit_gives_its_named_acts(habits: Habits, acts: list[str]) -> None:
    assert all(words(between(n, habits)) == acts for n in MANY)


def test_next_hiders_tidy_and_anybody_lifts() -> None:
    for act in (act for n in MANY for act in between(n, UNTIDY)):
        assert act.side == ("hitter" if act.do == "lift" else "hider")


def test_all_four_are_shaken_out_and_some_twice() -> None:
    plans = [[act.pad for act in between(n, Habits(shake_out=1.0)) if act.do == "hand"] for n in MANY]
    assert all({*pads} == {1, 2, 3, 4} for pads in plans)
    assert {len(pads) for pads in plans} >= {4, 5}
    assert len({tuple(pads[:4]) for pads in plans}) > 12


def test_hands_are_followed_by_a_pause() -> None:
    for plan in (between(n, UNTIDY) for n in MANY):
        if words(plan)[:2] != ["lift", "shown"] or len(plan) > 3:
            assert (plan[-1].do, plan[-1].after_s > ROUND_PAUSE_S) == ("wait", True)


def test_round_is_paused_or_begun_again() -> None:
    assert plan_round(Random(1), TIDY, 4) == ((0, 0.0), (1, 0.0), (2, 0.0), (3, 0.0))
    for n in MANY:
        paused = plan_round(Random(n), Habits(pause=1.0), 4)
        assert [number for number, _ in paused] == [0, 1, 2, 3]
        ((at, pause_s),) = [(number, pause_s) for number, pause_s in paused if pause_s]
        assert at > 0
        assert pause_s > ROUND_PAUSE_S
        again = plan_round(Random(n), Habits(start_over=1.0), 4)
        assert [number for number, _ in again] in ([0, 0, 1, 2, 3], [0, 1, 0, 1, 2, 3], [0, 1, 2, 0, 1, 2, 3])
        assert [number for number, pause_s in again if pause_s] == [0]


def test_neighbour_presses_after_the_pause_in_midround() -> None:
    for n in MANY:
        order = plan_round(Random(n), Habits(pause=0.5, start_over=0.5), 4)
        after = plan_neighbour(Random(n), Habits(neighbour=1.0), order)
        assert after is None or not any(pause_s for _, pause_s in order[after:])
        assert plan_neighbour(Random(n), TIDY, order) is None


@pytest.mark.parametrize("name", [each.name for each in fields(Habits)])
def test_untidy_people_have_each_habit(name: str) -> None:
    assert 0.0 < getattr(UNTIDY, name) < 1.0
    with pytest.raises(UsageError):
        Habits(**{name: 1.5})

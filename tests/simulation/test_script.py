"""Scripts are pure, cover what they should, and follow the rules unless they mean not to."""

from collections import Counter

import pytest

from pi_controller.errors import UsageError
from pi_controller.pinmap import pinmap
from pi_controller.simulation.plans import HIDING_FOULS, PACES, HidePlan, Mischief, PaceName, hide_plan

MANY = range(1, 401)


def drops(plan: HidePlan) -> list[tuple[int, int | None, str]]:
    return [(p.pad, d.pad, d.bead) for p in plan.passes for d in p.drops]


@pytest.mark.parametrize("pace", PACES)
def test_script_is_pure_function_of_seed_and_hide(pace: PaceName) -> None:
    forward = [hide_plan(5, hide, pace, Mischief(0.3, 0.3)) for hide in MANY]
    backward = [hide_plan(5, hide, pace, Mischief(0.3, 0.3)) for hide in reversed(MANY)]
    assert forward == backward[::-1]
    assert forward != [hide_plan(6, hide, pace, Mischief(0.3, 0.3)) for hide in MANY]
    assert len(set(forward)) == len(forward)


@pytest.mark.parametrize("pace", PACES)
def test_without_mischief_every_hide_is_a_good_one(pace: PaceName) -> None:
    for hide in MANY:
        plan = hide_plan(9, hide, pace)
        assert plan.foul is None
        assert sorted(p.pad for p in plan.passes) == [1, 2, 3, 4]
        assert drops(plan) == [(plan.place, plan.place, "bead")]
        ((x, y),) = [d.place for p in plan.passes for d in p.drops]
        assert pinmap().pads.at(x, y) == plan.place
        assert plan.first.pad != plan.second.pad
        assert plan.first.also is None


def test_every_sensed_foul_matches_its_name() -> None:
    plans = [hide_plan(2, hide, "brisk", Mischief(fouls=1.0)) for hide in MANY]
    assert {p.foul for p in plans} == set(HIDING_FOULS)
    for plan in plans:
        passed = Counter(p.pad for p in plan.passes)
        laid = drops(plan)
        match plan.foul:
            case "pad_skipped":
                assert len(passed) == 3
                assert plan.place in passed
            case "pad_twice":
                assert max(passed.values()) == 2
                assert len(passed) == 4
                assert all(a.pad != b.pad for a, b in zip(plan.passes, plan.passes[1:], strict=False))
            case "no_bead":
                assert laid == []
                assert plan.place is None
            case "two_beads":
                assert {bead for _, _, bead in laid} == {"bead", "second bead"}
                assert len({pad for _, pad, _ in laid}) == 2
            case "bead_off_mat":
                ((_, pad, _),) = laid
                ((x, y),) = [d.place for p in plan.passes for d in p.drops]
                assert pad is None
                assert plan.place is None
                assert pinmap().pads.at(x, y) is None
        if plan.foul not in ("pad_skipped", "pad_twice"):
            assert passed == Counter([1, 2, 3, 4])


def test_mischief_must_be_probabilities() -> None:
    with pytest.raises(UsageError):
        Mischief(fouls=1.5)

"""What people of the five other games do is decided by seed and turn alone, and is what the game allows."""

from collections import Counter
from dataclasses import replace

import pytest

from pi_controller.games.ojibwe.people import BALLS, MARKED, ojibwe_script
from pi_controller.games.patol.people import start
from pi_controller.games.slahal.people import HOLDERS, PADS_OF, bones_plan, duos
from pi_controller.games.slahal.referee import SIGNAL_BY_PADS
from pi_controller.pinmap import pinmap
from pi_controller.rules import registry
from pi_controller.simulation.plans import Mischief
from pi_controller.simulation.throw_plans import RATTLE_S, throw_script

ALL = Mischief(1.0, 1.0)
HIDES = [(seed, hide) for seed in range(8) for hide in range(1, 26)]


def test_turn_plan_is_deterministic_and_distinct() -> None:
    for plan in (
        lambda seed, n: ojibwe_script(seed, n, 2, "natural", ALL),
        lambda seed, n: bones_plan(seed, n, "natural", ALL),
        lambda seed, n: throw_script("bageswin", seed, n, "natural", ALL),
    ):
        assert plan(5, 7) == plan(5, 7)
        assert len({repr(plan(seed, n)) for seed in range(3) for n in range(1, 5)}) == 12


@pytest.mark.parametrize("most", [2, 3])
def test_ojibwe_hide_uses_four_pads_and_is_legal(most: int) -> None:
    game = registry.game("ojibwe", {"max_open": str(most)})
    state, _ = game.play(game.opening(), {"do": "toss", "winner": "A"})
    opened = Counter[int]()
    for seed, hide in HIDES:
        plan = ojibwe_script(seed, hide, most)
        assert plan.mischief == ""
        assert sorted(drop.pad or 0 for drop in plan.drops) == [1, 2, 3, 4]
        assert sorted(drop.bead for drop in plan.drops) == sorted(BALLS)
        assert next(drop.pad for drop in plan.drops if drop.bead == MARKED) == plan.ball
        pads = [lift.pad for lift in plan.lifts]
        onto = plan.ball in pads
        opened[len(pads)] += 1
        game.play(state, {"do": "shoot", "opened": pads, "hit": None if onto else plan.hit.pad, "ball": plan.ball})
    assert set(opened) == set(range(most + 1))


def test_mischief_changes_planned_faults_alone() -> None:
    kinds = Counter[str]()
    for seed, hide in HIDES:
        good, bad = ojibwe_script(seed, hide, 2), ojibwe_script(seed, hide, 2, mischief=ALL)
        kinds.update(bad.mischief.split(", "))
        assert (good.style, good.ready_s, good.hit.pad) == (bad.style, bad.ready_s, bad.hit.pad)
        assert bad.stop or bad.ball is not None
        if bad.one_more is not None:
            assert len(bad.lifts) == 2
            assert bad.one_more.pad not in {bad.ball, *(lift.pad for lift in bad.lifts)}
        if bad.slip is not None:
            assert bad.slip in {lift.pad for lift in bad.lifts}
            assert bad.ball not in {lift.pad for lift in bad.lifts}
        fine = bones_plan(seed, hide)
        tricked = bones_plan(seed, hide, mischief=ALL)
        assert replace(tricked, switch=False, late=False, king=None) == fine
        kinds.update(tricked.mischief.split(", "))
    assert min(kinds[kind] for kind in ("ball_out", "two_under_one", "opened_pad", "too_many", "king_moved")) >= 3
    assert kinds["rehide"] == kinds["hide_time"] == len(HIDES)


def test_each_holder_has_one_bone_with_referee_signals() -> None:
    arrangements = Counter[tuple[int, int]]()
    for seed, hide in HIDES:
        plan = bones_plan(seed, hide)
        arrangements[plan.bones] += 1
        assert all(bone in pads for bone, pads in zip(plan.bones, HOLDERS, strict=True))
        assert all(abs(fist.off_mm) < pinmap().pads.width_mm / 2 and 12 <= fist.high_mm <= 45 for fist in plan.fists)
    assert len(arrangements) == 4
    for signal, (one, other) in PADS_OF.items():
        assert SIGNAL_BY_PADS[10 * one + other] == signal


def test_duos_go_on_until_just_one_succeeds() -> None:
    lengths = Counter[int]()
    for seed in range(60):
        rounds = duos(seed)
        lengths[len(rounds)] += 1
        assert [a == b for a, b in rounds] == [True] * (len(rounds) - 1) + [False]
    assert len(lengths) >= 3


@pytest.mark.parametrize("name", ["bageswin", "plum_stone", "patol"])
def test_throw_is_legal_and_covers_several_values(name: str) -> None:
    game = registry.game(name)
    state = game.opening()
    if name == "plum_stone":
        state, _ = game.play(state, {"do": "lot", "first": "A"})
    if name == "patol":
        for number, player in enumerate("AB"):
            state, _ = game.play(state, start(3, player, number))
    values = Counter[int]()
    for seed, turn in HIDES:
        plan = throw_script(name, seed, turn)
        assert plan.again_s is None
        assert not plan.spilled
        assert all(RATTLE_S[0] <= after_s <= RATTLE_S[1] for after_s, _ in plan.rattle)
        values[game.sheet(game.play(state, plan.throw)[0])["value"]] += 1
    assert len(values) >= 3

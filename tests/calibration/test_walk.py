"""The walk through a calibration, on the simulated mat with the real firmware files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from load_file import load_file
from walking import walked, wrong

from pi_controller.calibration import steps
from pi_controller.sensing.running_stats import RunningStats
from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.simulation import magnetometers
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.hand_motion import HandStyle

scenes = load_file("tests/tools/measure_beads.py")


@pytest.fixture(scope="module")
def good():
    return walked(1)


def test_a_sound_mat_passes_every_step(good):
    assert good.view.passed
    assert [one.state for one in good.view.steps] == ["passed"] * 4
    assert all(one.found and not one.wrong for one in good.view.steps)
    assert good.t < 60.0


def test_each_pad_is_asked_for_in_turn(good):
    for at in (1, 2, 3):
        asked = [view.pad for view in good.seen if view.at == at and not view.over]
        assert sorted(set(asked)) == [1, 2, 3, 4]
        assert asked == sorted(asked)


def test_the_bars_are_live_and_stay_in_bounds(good):
    bars = [bar for view in good.seen for bar in view.bars]
    assert all(0.0 <= bar.share <= 1.0 and bar.text for bar in bars)
    loud = {bar.label for view in good.seen if view.at == 1 for bar in view.bars if bar.share > 0.4}
    assert loud == {"pad 1", "pad 2", "pad 3", "pad 4"}
    in_it = {bar.label for view in good.seen if view.at == 2 for bar in view.bars if bar.share > 0.5}
    assert {"pad 1 middle", "pad 4 middle"} <= in_it


def test_profile_contains_measured_values(good):
    profile = good.walk.profile("hall", "today", "1.2.3")
    assert profile.strikes is not None
    assert profile.touch is not None
    assert profile.magnets is not None
    assert profile.strikes.level_dbfs == pytest.approx([-30.0] * 4, abs=1.5)
    assert profile.strikes.noise == pytest.approx([1.15 / 4] * 4, abs=0.05)  # 16 readings of the converter
    assert np.array(profile.touch.rest) == pytest.approx([700.0] * 12, abs=20.0)
    assert np.array(profile.touch.lost).reshape(4, 3)[:, 1] == pytest.approx([40.0] * 4, rel=0.25)
    assert profile.magnets.moment_am2 == pytest.approx([0.176] * 4, rel=0.1)
    assert np.abs(np.array(profile.magnets.offsets)).max() < 60.0
    assert all(profile.magnets.known)
    assert len(good.walk.board_id) == 16


@pytest.mark.slow
def test_a_loud_hall_passes_too():
    assert walked(2, conditions=Conditions.drums()).view.passed


def test_soft_taps_give_lower_threshold_than_hard():
    def leave_the_rest(sim, walk, view):
        if view.at >= 2 and not view.over:
            walk.skip_step()

    soft = walked(3, level_dbfs=-40.0, meddle=leave_the_rest).walk.taps.threshold_db
    hard = walked(3, level_dbfs=-10.0, meddle=leave_the_rest).walk.taps.threshold_db
    assert soft < hard <= StrikeSettings().peak_db + 8.0


def test_broken_sensors_fail_first_step_by_name():
    def only_the_first(sim, walk, view):
        if view.at >= 1 and not view.over:
            walk.skip_step()

    done = walked(1, faults=["rail-piezo=3", "dead-touch=8", "noisy-magnetometer=9"], meddle=only_the_first)
    assert not done.view.passed
    first = [str(finding).partition(": ")[::2] for finding in done.view.steps[0].wrong]
    assert first == [
        ("piezo of pad 3", "at its rail: it rests at 3.3 V"),
        ("touch strip 8 (pad 3, middle)", "dead: no reading"),
        ("magnetometer 9 (pad 2, middle left)", "noisy"),
    ]


@pytest.mark.slow
def test_exchanged_plugs_are_named_in_every_step(monkeypatch):
    monkeypatch.setattr(steps, "PATIENCE_S", 8.0)
    done = walked(1, swap={2: 3, 3: 2})
    assert not done.view.passed
    assert "a tap on pad 2 is felt as pad 3" in wrong(done.view, "taps")
    assert "a hand under pad 3 is felt at pad 2" in wrong(done.view, "hands")
    for step in ("taps", "hands"):
        assert wrong(done.view, step).count(">") == 1
        assert "are swapped: swap them back" in wrong(done.view, step)
    assert "the bead should be on pad 2, but the mat finds it on pad 3" in wrong(done.view, "bead")


def test_crosstalk_to_one_neighbour_is_not_swapped_plugs(monkeypatch):
    monkeypatch.setattr(steps, "PATIENCE_S", 8.0)

    def taps_and_hands(sim, walk, view):
        if view.at == 3 and not view.over:
            walk.skip_step()

    done = walked(1, swap={2: 3}, meddle=taps_and_hands)
    assert wrong(done.view, "taps").startswith("the disc of pad 2 feels nothing: pad 3 felt its taps through the floor")
    assert wrong(done.view, "hands").startswith("the strips of pad 2 feel no hand: pad 3 felt one")
    for step in ("taps", "hands"):
        assert wrong(done.view, step).count(">") == 1
        assert "swapped" not in wrong(done.view, step)
    for at in (1, 2):
        states = {bar.state for view in done.seen if view.at == at for bar in view.bars if bar.label == "pad 2"}
        assert "bad" in states


def test_missing_disc_is_named_without_swapped_plugs():
    def taps_only(sim, walk, view):
        if view.at >= 2 and not view.over:
            walk.skip_step()

    done = walked(1, faults=["silent-piezo=2"], meddle=taps_only)
    assert wrong(done.view, "taps").startswith("the disc of pad 2 feels nothing")
    assert "swapped" not in wrong(done.view, "taps")


def test_touch_during_first_step_restarts_it():
    def disturb(sim, walk, view):
        world = sim.mat.world
        if view.at == 0 and abs(sim.t - 4.0) < 0.01:
            world.strike(2, -20.0)
        if view.at == 0 and abs(sim.t - 8.0) < 0.01:
            world.hand_in(3)
        if view.at == 0 and abs(sim.t - 10.0) < 0.01:
            world.hand_home()
        if view.at >= 1 and not view.over:
            walk.skip_step()

    done = walked(1, meddle=disturb)
    notes = {view.note for view in done.seen}
    assert "A hit was felt on pad 2: do not touch the mat." in notes
    assert "A hand was felt at pad 3: keep hands away from the mat." in notes
    assert done.view.steps[0].state == "passed"
    assert done.t > 14.0


def test_bead_left_on_mat_delays_first_step():
    def leave_one(sim, walk, view):
        if sim.t == 0.0:
            sim.mat.world.drop("bead", 2)
        if abs(sim.t - 9.0) < 0.01:
            sim.mat.world.take("bead")
        if view.at >= 1 and not view.over:
            walk.skip_step()

    done = walked(1, meddle=leave_one)
    assert any(view.note.startswith("There may be a magnet on pad 2") for view in done.seen)
    assert done.view.steps[0].state == "passed"
    assert done.t > 15.0


def test_hand_from_wrong_side_means_reversed_strips():
    def from_the_hitter(sim, walk, view):
        if view.at in {1, 3}:
            walk.skip_step()

    class Other:
        """Slides hands in from the hitter's side whenever the person would from the hider's."""

        def __call__(self, sim, walk, view):
            from_the_hitter(sim, walk, view)
            world = sim.mat.world
            world.hand_in = lambda pad: type(world).hand_in(world, pad, HandStyle(), "hitter")
            world.hand_out = lambda pad: type(world).hand_out(world, pad, "hitter")

    done = walked(1, meddle=Other())
    assert "a hand from the hider's side is felt from the hitter's at pad 1" in wrong(done.view, "hands")


@pytest.mark.slow
def test_unmarked_ball_is_not_taken_for_bead(monkeypatch):
    monkeypatch.setattr(steps, "PATIENCE_S", 8.0)

    def weak(sim, walk, view):
        if view.at in {1, 2}:
            walk.skip_step()
        if sim.t == 0.0:
            sim.mat.world.carry("bead", marked=False)

    done = walked(1, meddle=weak)
    assert not done.view.passed
    assert "pad 1" in wrong(done.view, "bead")


def put_steel_under(monkeypatch, under_mm, edges_mm):
    """Put a steel plate under the simulated mat: the simulator's beads then induce its surface charge."""
    plate = scenes.Plate(scenes.MODULES_MM - under_mm, 0.8, edges_mm)
    plain = magnetometers.response

    def over_steel(places, place):
        axes = [plate.field_at(places, scenes.Magnet(place, axis, True)) for axis in np.eye(3)]
        return plain(places, place) + np.stack(axes, axis=-1)

    monkeypatch.setattr(magnetometers, "response", over_steel)


def bead_only(sim, walk, view):
    if view.at in {1, 2} and not view.over:
        walk.skip_step()


@pytest.mark.parametrize("under_mm", [15, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_steel_under_whole_mat_is_named_and_saved(monkeypatch, under_mm):
    put_steel_under(monkeypatch, under_mm, (-700.0, 700.0, -300.0, 300.0))
    done = walked(1, meddle=bead_only)
    assert done.view.passed
    said = done.view.steps[3].found[-1]
    assert said.startswith("iron or steel lies about ")
    assert "move the mat, or put wood under it" in said
    magnets = done.walk.profile("x", "", "").magnets
    assert magnets.steel[0] - 30.0 == pytest.approx(under_mm, abs=8.0)
    assert magnets.moment_am2 == pytest.approx([0.176] * 4, rel=0.15)


@pytest.mark.slow
def test_steel_under_one_pad_is_named_not_saved(monkeypatch):
    put_steel_under(monkeypatch, 30, (-600.0, -300.0, -200.0, 200.0))
    done = walked(1, meddle=bead_only)
    assert "mm under the mat at pad 1:" in str(done.view.steps[3])
    assert done.walk.profile("x", "", "").magnets.steel is None


def test_profile_has_no_steel_without_steel(good):
    assert not [line for line in good.view.steps[3].found if "steel" in line]
    assert good.walk.profile("x", "", "").magnets.steel is None


def test_skipped_steps_are_missing_from_profile():
    def taps_only(sim, walk, view):
        if view.at in {2, 3} and not view.over:
            walk.skip_step()

    done = walked(1, meddle=taps_only)
    assert done.view.passed
    assert [one.state for one in done.view.steps] == ["passed", "passed", "left_out", "left_out"]
    assert done.walk.profile("x", "", "").touch is None

    def nothing(sim, walk, view):
        if not view.over:
            walk.skip_step()

    assert not walked(1, meddle=nothing).view.passed


def test_a_failed_step_can_be_done_again():
    tried = []

    def meddle(sim, walk, view):
        if view.at in {2, 3} and not view.over:
            walk.skip_step()

    done = walked(1, swap={2: 3, 3: 2}, meddle=meddle)
    assert done.view.steps[1].state == "failed"
    done.walk.repeat_step()
    tried.append(done.walk.view)
    assert tried[0].at == 1
    assert tried[0].steps[1].state == "now"
    assert not tried[0].over


def test_unplugged_cable_restarts_current_step():
    def pull(sim, walk, view):
        if view.at == 1 and view.pad == 3 and sim.mat.is_plugged and not pulled:
            sim.mat.unplug()
            pulled.append(sim.t)
        if pulled and not sim.mat.is_plugged and sim.t - pulled[0] > 2.0:
            sim.mat.plug()
        if view.at >= 2 and not view.over:
            walk.skip_step()

    pulled = []
    done = walked(1, meddle=pull)
    assert any(view.ask.startswith("Waiting for the board") and view.note for view in done.seen)
    pads = [view.pad for view in done.seen if view.at == 1 and view.bars]
    assert pads.index(3) < len(pads) - pads[::-1].index(1) - 1  # after pad 3 it was at pad 1 once more
    assert [one.state for one in done.view.steps[:2]] == ["passed", "passed"]


@given(st.lists(st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3), min_size=1, max_size=30))
def test_running_mean_and_rms_are_the_plain_ones(rows):
    running = RunningStats((3,))
    for row in rows:
        running.add(np.array(row))
    assert running.mean == pytest.approx(np.mean(rows, axis=0), abs=1e-6)
    assert running.rms == pytest.approx(np.std(rows, axis=0), abs=1e-2)

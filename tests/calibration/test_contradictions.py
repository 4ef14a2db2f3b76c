"""Magnetometers that contradict the others, and exchanged plugs: the bead step fails and names them."""

import numpy as np
import pytest
from cases import cases
from walking import walked, wrong

from pi_controller.calibration.bead_step import SPOTS
from pi_controller.simulation import magnetometers
from pi_controller.simulation.conditions import Conditions


def bead_only(sim, walk, view):
    if view.at in {1, 2} and not view.over:
        walk.skip_step()


def judged(seed=3, **how):
    """Return whether the walk passed, and what is said to be wrong with the bead."""
    view = walked(seed, meddle=bead_only, **how).view
    return view.passed, wrong(view, "bead")


HARD = Conditions(field_noise_ut=1.0, field_drift_ut=3.0, field_gain_error=0.01, sensor_place_mm=0.7)
SIZES = [Conditions(magnetometers=size) for size in (16, 12, 8)]


@pytest.mark.parametrize("conditions", cases([None, HARD, SIZES[1]], [None, HARD, *SIZES]))
@pytest.mark.slow
def test_sound_mats_are_not_accused(conditions):
    for seed in range(cases(1, 3)):
        assert judged(seed, conditions=conditions) == (True, "")


FAULTS = [
    ("turned-module=5", "magnetometer 5 (pad 1, hitter left) contradicts the other"),
    ("exchanged-modules=3,15", "magnetometer 3 (pad 1, middle left), magnetometer 15 (pad 3, middle left) contra"),
    ("exchanged-pads=2,4", "the magnetometers of pads 2 and 4 are exchanged > exchange their plugs"),
    ("turned-module=23:zy-x", "magnetometer 23 (pad 4, hitter left) contradicts the other"),
    ("exchanged-modules=7,10", "magnetometer 7 (pad 2, hider left), magnetometer 10 (pad 2, middle right) contra"),
]


@pytest.mark.parametrize(("fault", "words"), cases(FAULTS[:3], FAULTS))
@pytest.mark.slow
def test_walk_names_modules_with_wrong_wiring(fault, words):
    passed, said = judged(faults=[fault])
    assert not passed
    assert said.startswith(words)


@pytest.mark.slow
def test_walk_names_a_tilted_module(monkeypatch):
    plain = magnetometers.Magnets.field
    askew = np.array([[0.64, -0.1, 0.76], [0.34, 0.92, -0.17], [-0.68, 0.37, 0.63]])

    def field(self, t):
        seen = plain(self, t)
        seen[9] = askew @ seen[9]
        return seen

    monkeypatch.setattr(magnetometers.Magnets, "field", field)
    passed, said = judged(2)
    assert not passed
    assert said.startswith("magnetometer 10 (pad 2, middle right) contradicts the other")


@pytest.mark.slow
def test_second_magnet_accuses_no_module():
    def lay_another(sim, walk, view):
        bead_only(sim, walk, view)
        if view.at == 3 and "other" not in sim.mat.world.magnets.beads:
            sim.mat.world.drop("other", (120.0, 40.0))

    view = walked(1, meddle=lay_another).view
    assert not view.passed
    assert "magnetometer" not in wrong(view, "bead").partition(" > ")[0]


@pytest.mark.slow
def test_bead_step_asks_each_spot_in_turn():
    done = walked(1, meddle=bead_only)
    asked = [(view.pad, view.spot) for view in done.seen if view.at == 3 and not view.over]
    assert list(dict.fromkeys(asked)) == [(pad, spot) for pad in (1, 2, 3, 4) for spot in range(len(SPOTS))]
    words = {view.ask for view in done.seen if view.at == 3 and not view.over}
    assert len(words) == 4 * len(SPOTS)

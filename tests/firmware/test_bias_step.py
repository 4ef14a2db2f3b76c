"""The step of the pads' bias: what it measures, what it hides from the host, and the same under a real MicroPython."""

import json

import numpy as np
import pytest
from cases import cases
from load_file import load_file

from pi_controller.board import wire
from pi_controller.simulation.pad_bias import Bias
from pi_controller.simulation.portable_files import modules

in_micropython = load_file("tests/firmware/test_micropython.py").in_micropython
micropython = load_file("tests/firmware/micropython.py")
guards = modules()["guards"]
HZ, BLOCK, PADS = 4000, 32, 4
DAYS_US = 60 * 24 * 3600 * 1_000_000
REPLAY = """
import json
import guards
class Board:
    SAMPLE_HZ, BLOCK = 4000, 32
    def bias(self, on):
        told.append(["bias", on])
blocks = json.load(open("blocks.json"))
told = []
step = guards.BiasStep(Board(), lambda pad, value: told.append([pad, value]))
step.begin()
for number, samples in blocks:
    if step.busy:
        block = bytearray(samples)
        step.hold(block, number)
        told.append(list(block[:8]))
print(json.dumps(told))
"""


class Pads:
    """A board whose pads follow their bias as the simulated one's do."""

    SAMPLE_HZ, BLOCK = HZ, BLOCK

    def __init__(self, farads, up_us=0, rest=2048):
        self.model = Bias(1)
        self.model.farads[:] = farads
        self.rest = np.array(rest) * 16.0
        self.up_us = up_us // 8000 * 8000
        self.at_us = 0
        self.switched = []
        self.told = {}
        self.step = guards.BiasStep(self, self.told.__setitem__)

    def bias(self, on):
        self.switched.append(on)
        self.model.switch(on=bool(on), t=self.at_us / 1e6)

    def run(self, blocks=24, late_us=(1300,), lost=(), noise=0.0):
        """Give the step the blocks, each its `late_us` after its end; return what a host gets, and all (number, bytes).

        The last of `late_us` holds for all that follow.
        """
        random = np.random.default_rng(1)
        got, raw = [], []
        for n in range(blocks):
            t = (n * BLOCK + np.arange(BLOCK) + 0.5) / HZ
            levels = self.model.levels(t) * self.rest + random.normal(0.0, noise, (BLOCK, PADS))
            block = bytearray(np.clip(np.rint(levels), 0, wire.TOP).astype("<u2").tobytes())
            self.at_us = (n + 1) * 8000 + late_us[min(n, len(late_us) - 1)]
            if n in lost:
                continue
            number = self.up_us // 8000 + n
            raw.append([number, list(block)])
            if self.step.busy:
                self.step.hold(block, number)
            got.append(np.frombuffer(bytes(block), "<u2").reshape(BLOCK, PADS).astype(int))
        return np.concatenate(got), raw


@pytest.mark.parametrize("late_us", [100, 1300, 6000, 20_000])
@pytest.mark.parametrize("up_us", cases([2**30 - 400_000], [0, 2**30 - 400_000, DAYS_US]))
def test_each_disc_has_its_time(late_us, up_us):
    pads = Pads([0.0, 14e-9, 20e-9, 26e-9], up_us)
    pads.step.begin()
    pads.run(late_us=[late_us], noise=4.0)
    assert [wire.disc_ms(pads.told[pad]) for pad in (1, 2, 3, 4)] == pytest.approx([0.81, 2.13, 2.76, 3.4], abs=0.1)
    assert pads.switched == [0, 1]
    assert not pads.step.busy


def test_host_gets_rest_level_while_bias_steps():
    pads = Pads([0.0, 14e-9, 20e-9, 26e-9], rest=[2048, 2000, 2100, 1900])
    pads.run(3)
    pads.step.begin()
    got, _ = pads.run()
    assert np.abs(got - pads.rest).max() <= 16


def test_grounded_and_supply_pads_leave_others_measured():
    pads = Pads([20e-9] * 4, rest=[62, 2048, 4000, 2048])
    follow = pads.model.levels
    pads.model.levels = lambda t: np.where([False, False, True, False], 1.0, follow(t))
    pads.step.begin()
    pads.run()
    assert (pads.told[1], pads.told[3]) == (0, wire.NOT_SWITCHED)
    assert wire.disc_ms(pads.told[2]) == wire.disc_ms(pads.told[4]) == pytest.approx(2.8, abs=0.2)


def test_bias_step_times_are_right_despite_late_blocks():
    pads = Pads([0.0, 14e-9, 20e-9, 26e-9])
    pads.step.begin()
    pads.run(late_us=[25_300, 17_300, 9_300, 1300])
    assert [wire.disc_ms(pads.told[pad]) for pad in (1, 2, 3, 4)] == pytest.approx([0.84, 2.0, 2.8, 3.6], abs=0.25)


def test_mat_without_bias_switch_reports_not_switched():
    pads = Pads([20e-9] * 4)
    pads.model.switch = lambda *, on, t: None
    pads.step.begin()
    pads.run()
    assert pads.told == dict.fromkeys((1, 2, 3, 4), wire.NOT_SWITCHED)


@pytest.mark.parametrize("lost", range(1, 6))
def test_lost_block_ends_bias_step_without_result(lost):
    pads = Pads([20e-9] * 4)
    pads.step.begin()
    got, _ = pads.run(lost=[guards.CATCH_UP_BLOCKS + lost])
    assert pads.told == {}
    assert pads.switched[-1] == 1
    assert not pads.step.busy
    assert np.abs(got - pads.rest).max() <= 16, "a host would take the rise for a stroke"
    pads.told.clear()
    pads.step.begin()
    pads.run()
    assert pads.told.keys() == {1, 2, 3, 4}


@pytest.mark.parametrize("up_us", [0, DAYS_US])
def test_a_real_micropython_measures_the_same(tmp_path, up_us):
    pads = Pads([0.0, 14e-9, 20e-9, 26e-9], up_us)
    pads.step.begin()
    _, raw = pads.run(12, noise=4.0)
    files = {**micropython.firmware_files(), "blocks.json": json.dumps(raw).encode()}
    told = json.loads(in_micropython(REPLAY, files, tmp_path).splitlines()[-1])
    assert {one[0]: one[1] for one in told if len(one) == 2 and one[0] != "bias"} == pads.told
    assert [one for one in told if one[0] == "bias"] == [["bias", 0], ["bias", 1]]

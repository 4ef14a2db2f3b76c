"""Measure how often the bead step names wrong magnetometer modules rightly, on simulated mats with offsets of 25 uT.

    python tests/tools/measure_wrong_modules.py --mats 100
    python tests/tools/measure_wrong_modules.py --every-turn     # each of 24 modules in each of 23 orientations
    python tests/tools/measure_wrong_modules.py --size 8         # a mat of so many magnetometers

Each mat has its own offsets, gains and places of the modules. A bead of its own lies within a few cm of each place that
the step asks for. "named": the cause and nothing else, with the right correction. "not named": the step fails.
"accused": a good module or another cause is named. "silent": the mat passes as sound.
"""

import argparse
import time
from collections import Counter
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pi_controller.calibration.bead_step import SPOTS
from pi_controller.calibration.wiring_causes import exchange_groups, mirror_groups
from pi_controller.calibration.wrong_modules import WrongModuleSearch
from pi_controller.pinmap import pinmap
from pi_controller.sensing.baseline import ModuleCorrection, learn_baseline
from pi_controller.sensing.bead_solver import BEAD_HEIGHT_MM
from pi_controller.sensing.beads import FLOOR_UT
from pi_controller.sensing.module_turns import right_angled_rotations
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.magnetometers import LYING_Z, MARKED_AM2, Magnets, SimBead

SENSORS = 24
TURNS = right_angled_rotations()
PADS = [list(range(6 * pad, 6 * pad + 6)) for pad in range(4)]
MULTIPLEXERS = [list(range(8 * n, 8 * n + 8)) for n in range(3)]
MISS_MM = 25.0
SCANS = 5


class Wiring(NamedTuple):
    """How the modules of a mat are wired: the module read at each place, and the turn of each place's module."""

    order: tuple[int, ...] = tuple(range(SENSORS))
    turns: Mapping[int, np.ndarray] = MappingProxyType({})

    def read(self, field):
        """Return what the modules read in `field` (..., sensors, 3), in wire order."""
        raw = np.empty_like(field)
        for place, module in enumerate(self.order):
            raw[..., module, :] = field[..., place, :] @ self.turns.get(place, TURNS[0]).T
        return raw

    @property
    def correction(self):
        turns = np.array([self.turns.get(place, TURNS[0]) for place in range(SENSORS)])
        return ModuleCorrection(np.array(self.order), turns)


class Mat:
    """A simulated mat and the readings of a bead on it; `search` is for their cause."""

    def __init__(self, seed, wiring, conditions=None, built=None):
        conditions = conditions or Conditions()
        rng = np.random.default_rng([seed, 99])
        magnets = Magnets(seed, conditions)

        def scans(t, count):
            field = magnets.field(t)
            return wiring.read(field + conditions.field_noise_ut * rng.standard_normal((count, *field.shape)))

        ok = np.ones(SENSORS, bool) if built is None else np.array(built)
        empty = learn_baseline(scans(1.0, 100).mean(axis=0), ok, 100.0, firm=True)
        self.ut, self.asked, self.places = [], [], []
        for pad in range(1, 5):
            x, y = pinmap().pads.centre(pad)
            for number, (_, (dx, dy)) in enumerate(SPOTS):
                axis = rng.standard_normal(3)
                moment = MARKED_AM2 * rng.normal(1.0, 0.03) * axis / np.linalg.norm(axis)
                across, along = np.clip(rng.normal((dx, dy), MISS_MM), (-115.0, -140.0), (115.0, 140.0))
                magnets.beads["bead"] = SimBead(moment, np.array([x + across, y + along, LYING_Z]))
                magnets.update_fields()
                scan = scans(10.0 + 6.0 * (3 * pad + number), SCANS).mean(axis=0)
                self.ut.append(np.where(ok[:, None], scan - empty.offsets - empty.level, 0.0))
                self.asked.append((x + dx, y + dy, BEAD_HEIGHT_MM[0]))
                self.places.append((x + across, y + along, LYING_Z))
        numbers = np.flatnonzero(ok).tolist()
        self.search = WrongModuleSearch(
            np.array(pinmap().magnetometer_positions()),
            np.array(self.ut),
            np.tile(ok, (len(self.ut), 1)),
            np.array(self.asked),
            noise=(FLOOR_UT**2 + conditions.field_noise_ut**2 / SCANS) ** 0.5,
            pads=[[number for number in pad if ok[number]] for pad in PADS],
            multiplexers=[numbers[first : first + 8] for first in range(0, len(numbers), 8)],
        )


def outcome(diagnosis, wiring, causes):
    """Return "named", "not named", "accused" or "silent"; a sound mat that passes is "named"."""
    wrong = wiring.order != Wiring().order or bool(wiring.turns)
    if not diagnosis.explained:
        return "not named" if wrong else "accused"
    if diagnosis.correction is None:
        return "silent" if wrong else "named"
    found, right = diagnosis.correction, wiring.correction
    same = np.array_equal(found.order, right.order) and np.array_equal(found.turns, right.turns)
    return "named" if same and len(diagnosis.causes) == causes else "accused"


def turned(seed, count=1, numbers=range(SENSORS)):
    """Return a mat's wiring with so many modules turned."""
    rng = np.random.default_rng([seed, 5])
    return Wiring(turns={int(n): TURNS[rng.integers(1, 24)] for n in rng.choice(list(numbers), count, replace=False)})


def exchanged(seed, numbers=range(SENSORS)):
    """Return a mat's wiring with the plugs of any two modules exchanged."""
    a, b = np.random.default_rng([seed, 6]).choice(list(numbers), 2, replace=False).tolist()
    return Wiring(exchange_groups(SENSORS, [a], [b]))


def exchanged_groups(seed, groups):
    """Return a mat's wiring with two of `groups` exchanged."""
    a, b = np.random.default_rng([seed, 7]).choice(len(groups), 2, replace=False).tolist()
    return Wiring(exchange_groups(SENSORS, groups[a], groups[b]))


def mirrored(seed):
    """Return a mat's wiring with one multiplexer mirrored."""
    return Wiring(mirror_groups(SENSORS, [MULTIPLEXERS[seed % 3]]))


CASES = {
    "sound": (lambda seed: Wiring(), 0),
    "one module turned": (turned, 1),
    "two modules turned": (lambda seed: turned(seed, 2), 2),
    "two of one pad turned": (lambda seed: turned(seed, 2, PADS[seed % 4]), 2),
    "two modules exchanged": (exchanged, 1),
    "two pads exchanged": (lambda seed: exchanged_groups(seed, PADS), 1),
    "two multiplexers exchanged": (lambda seed: exchanged_groups(seed, MULTIPLEXERS), 1),
    "multiplexer mirrored": (mirrored, 1),
}
"""What is wrong with a mat -> its wiring by seed, and the number of causes."""


def measure(name, mats, conditions=None, built=None):
    """Return the counts of outcomes, and the seconds of each search; `built` mats need a case of single modules."""
    make, causes = CASES[name]
    if built is not None and make in (turned, exchanged):
        make = partial(make, numbers=np.flatnonzero(built).tolist())
    counts, seconds = Counter(), []
    for seed in range(mats):
        wiring = make(seed)
        mat = Mat(seed, wiring, conditions, built)
        began = time.process_time()
        diagnosis = mat.search.run()
        seconds.append(time.process_time() - began)
        counts[outcome(diagnosis, wiring, causes)] += 1
    return counts, seconds


def show(name, counts, seconds):
    """Print one line of the table."""
    row = " | ".join(f"{counts[each]:5d}" for each in ("named", "not named", "accused", "silent"))
    print(f"| {name:38} | {row} | {np.mean(seconds):.2f} | {max(seconds):.2f} |", flush=True)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mats", type=int, default=100)
    parser.add_argument("--every-turn", action="store_true")
    parser.add_argument("--size", type=int, choices=(24, 16, 12, 8), default=24)
    args = parser.parse_args()
    print("| mat | named | not named | accused | silent | mean s | longest s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    if args.every_turn:
        counts, seconds = Counter(), []
        for number in range(SENSORS):
            for turn in range(1, 24):
                wiring = Wiring(turns={number: TURNS[turn]})
                mat = Mat(24 * number + turn, wiring)
                began = time.process_time()
                diagnosis = mat.search.run()
                seconds.append(time.process_time() - began)
                counts[outcome(diagnosis, wiring, 1)] += 1
        show("each module in each orientation", counts, seconds)
        return
    if args.size < SENSORS:
        for name in ("sound", "one module turned", "two modules exchanged"):
            show(name, *measure(name, args.mats, built=pinmap().magnetometers_built(args.size)))
        return
    for name in CASES:
        show(name, *measure(name, args.mats))
    for name in ("sound", "one module turned"):
        show(f"{name}, beside drums", *measure(name, args.mats, Conditions.drums()))


if __name__ == "__main__":
    main()

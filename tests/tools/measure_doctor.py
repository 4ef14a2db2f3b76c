"""Measure the doctor and the calibration over many simulated mats, quiet and in a loud hall.

python tests/tools/measure_doctor.py [--mats 20] [--faults 8] [--walks 10]

A simulation: it tells that faults are told apart, not how a real mat's faults look.
"""

import argparse
import random
import sys

from pi_controller.calibration.detectors import Detectors
from pi_controller.calibration.sensor_listener import LISTEN_S, SensorListener
from pi_controller.calibration.walk import Walk
from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.faults import KINDS, SimulatedFault
from pi_controller.simulation.listening import SimListening
from pi_controller.simulation.sim_builder import Calibrator
from pi_controller.tools import doctor_checks

HALLS = {"quiet": Conditions.quiet(), "drums": Conditions.drums()}
PARTS = {
    **dict.fromkeys(("piezo", "diode", "disc", "bias"), "piezo of pad {} "),
    "touch": "touch strip {} ",
    "magnetometer": "magnetometer {} ",
}


def failed(seed, hall, faults=()):
    """Return the names of what fails on one mat."""
    ears = SensorListener(Detectors(StrikeSettings()))
    with SimListening(seed, HALLS[hall], faults) as sim:
        while sim.t < LISTEN_S:
            ears.take(sim.tick())
        return [
            line.name
            for line in [*doctor_checks.link_lines(sim.connection, ears), *ears.lines()]
            if line.outcome == "fail"
        ]


def walk(seed, hall):
    """Return whether a calibration of one sound mat passes."""
    with SimListening(seed, HALLS[hall]) as sim:
        calibration, who = Walk(StrikeSettings()), Calibrator(sim.mat.world)
        view = calibration.view
        while not view.over and sim.t < 600.0:
            who.act(view)
            messages = sim.tick()
            view = calibration.step(sim.t, messages)
        return view.passed


def main():
    """Print how many sound mats failed, how many faults were not named alone, how many walks failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mats", type=int, default=20, help="sound mats in each hall")
    parser.add_argument("--faults", type=int, default=8, help="mats with each kind of fault of a sensor")
    parser.add_argument("--walks", type=int, default=10, help="calibrations in each hall")
    args = parser.parse_args()
    sound = [failed(100 + n, hall) for n in range(args.mats) for hall in HALLS]
    print(f"sound mats: {len(sound)}, of which wrongly failed: {sum(map(bool, sound))}")
    draw, wrong, looked = random.Random(5), 0, 0
    for kind, (_, count, _) in KINDS.items():
        for _ in range(args.faults if kind.partition("-")[2] in PARTS else 0):
            number, hall = draw.randint(1, count), draw.choice(list(HALLS))
            names = failed(draw.randint(200, 999), hall, [SimulatedFault(kind, number)])
            looked += 1
            alone = len(names) == 1 and f"{names[0]} ".startswith(PARTS[kind.partition("-")[2]].format(number))
            wrong += not alone
    print(f"mats with one fault: {looked}, of which it was not named, or not alone: {wrong}")
    walks = [walk(300 + n, hall) for n in range(args.walks) for hall in HALLS]
    print(f"calibrations of sound mats: {len(walks)}, of which failed: {walks.count(False)}")


if __name__ == "__main__":
    sys.exit(main())

"""Walks on a simulated mat, shared by the tests of the calibration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from board_faults import parse_fault

from pi_controller.calibration.steps import WalkView
from pi_controller.calibration.walk import Walk
from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.listening import SimListening
from pi_controller.simulation.sim_builder import Calibrator


@dataclass
class Walked:
    walk: Walk
    view: WalkView
    seen: list[WalkView]
    t: float


def walked(
    seed: int = 1,
    *,
    conditions: Conditions | None = None,
    faults: Sequence[str] = (),
    swap: dict[int, int] | None = None,
    meddle: Callable[[SimListening, Walk, WalkView], None] | None = None,
    level_dbfs: float = -30.0,
    limit_s: float = 500.0,
    depth_mm: float | None = None,
) -> Walked:
    """Walk to the end; `meddle` is called each tick before the person acts. `depth_mm` is that of the settings."""
    with SimListening(seed, conditions, [parse_fault(fault) for fault in faults]) as sim:
        size = conditions.magnetometers if conditions else None
        walk = Walk(StrikeSettings(), magnetometers=size, depth_mm=depth_mm)
        who = Calibrator(sim.mat.world, level_dbfs, swap)
        view, seen = walk.view, []
        while not view.over and sim.t < limit_s:
            if meddle is not None:
                meddle(sim, walk, view)
            who.act(view)
            messages = sim.tick()
            view = walk.step(sim.t, messages)
            seen.append(view)
        return Walked(walk, view, seen, sim.t)


def wrong(view: WalkView, step: str) -> str:
    """Return all that is said to be wrong with a step."""
    (found,) = (one for one in view.steps if one.name == step)
    return "; ".join(f"{finding} > {finding.hint}" for finding in found.wrong)

"""Simulated person who follows the instructions of a calibration."""

from __future__ import annotations

from pi_controller.calibration.bead_step import SPOTS
from pi_controller.calibration.steps import WalkView
from pi_controller.pinmap import pinmap
from pi_controller.simulation.conditions import Stream, rng
from pi_controller.simulation.world import World

BETWEEN_S = 0.6
"""Time from one tap to the next."""
LINGER_S = 0.6
"""Time that a hand stays under a pad."""

MISS_MM = 20.0
"""How far a bead may lie beside the place that was asked for, along each axis."""


class Calibrator:
    """Follows the view and acts on `world`. `level_dbfs` is the strength of its taps, `swap` maps confused pads."""

    def __init__(self, world: World, level_dbfs: float = -30.0, swap: dict[int, int] | None = None) -> None:
        self._world = world
        self._level = level_dbfs
        self._swap = swap or {}
        self._doing: tuple[int, int | None, int | None] = (-1, None, None)
        self._next = 0.0
        self._stage = 0
        self._laid: int | None = None
        self._laid_beads = 0

    def act(self, view: WalkView) -> None:
        """Do the requested action when it is due."""
        world = self._world
        if view.over or view.pad is None:
            return
        doing = (view.at, view.pad, view.spot)
        if doing != self._doing:
            self._doing, self._stage, self._next = doing, 0, world.t + BETWEEN_S
        if world.t < self._next:
            return
        pad = self._swap.get(view.pad, view.pad)
        match view.steps[view.at].name:
            case "taps":
                world.strike(pad, self._level)
                self._next = world.t + BETWEEN_S
            case "hands":
                self._slide(pad)
            case _:
                self._lay(pad, view.spot or 0)

    def _slide(self, pad: int) -> None:
        """Put a hand in, wait, draw it out, and wait until it is asked for again."""
        world = self._world
        if self._stage == 0:
            self._next = world.hand_in(pad) + LINGER_S
        elif self._stage == 1:
            self._next = world.hand_out(pad) + 3.0
        else:
            self._stage = -1
        self._stage += 1

    def _lay(self, pad: int, spot: int) -> None:
        """Fetch the bead, put it near the `spot` of the pad, withdraw the hand."""
        world = self._world
        match self._stage:
            case 0:
                self._next = world.t if self._laid is None else world.hand_in(self._laid) + 0.1
            case 1:
                world.carry("bead")
                if self._laid is not None:
                    self._next = world.hand_out(self._laid) + 0.2
            case 2:
                self._next = world.hand_in(pad) + 0.2
            case 3:
                world.drop("bead", self._aim(pad, spot))
                self._laid = pad
                self._next = world.hand_home() + 0.5
            case _:
                self._next = world.t + 60.0
        self._stage += 1

    def _aim(self, pad: int, spot: int) -> tuple[float, float]:
        """Return a place (mm) near the `spot` of the pad."""
        self._laid_beads += 1
        random = rng(self._world.seed, Stream.BEAD, 2, self._laid_beads)
        middle, (x, y) = pinmap().pads.centre(pad), SPOTS[spot][1]
        return middle[0] + x + random.uniform(-MISS_MM, MISS_MM), middle[1] + y + random.uniform(-MISS_MM, MISS_MM)

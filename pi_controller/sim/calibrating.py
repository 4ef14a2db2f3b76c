"""Simulated person who follows a calibration's instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_controller.calibration.view import WalkView
    from pi_controller.sim.world import World

BETWEEN_S = 0.6
"""From one tap to the next."""
LINGER_S = 0.6
"""How long a hand stays under a pad."""


class Calibrator:
    """Reads the view and acts on `world`. `level_dbfs` is how hard it taps, `swap` a pad whose place it takes wrong."""

    def __init__(self, world: World, level_dbfs: float = -30.0, swap: dict[int, int] | None = None) -> None:
        self._world = world
        self._level = level_dbfs
        self._swap = swap or {}
        self._doing: tuple[int, int | None] = (-1, None)
        self._next = 0.0
        self._stage = 0
        self._laid: int | None = None

    def act(self, view: WalkView) -> None:
        """Do what is asked, when it is time."""
        world = self._world
        if view.over or view.pad is None:
            return
        if (view.at, view.pad) != self._doing:
            self._doing, self._stage, self._next = (view.at, view.pad), 0, world.t + BETWEEN_S
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
                self._lay(pad)

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

    def _lay(self, pad: int) -> None:
        """Fetch the bead, lay it on the pad, take the hand away."""
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
                world.drop("bead", pad)
                self._laid = pad
                self._next = world.hand_home() + 0.5
            case _:
                self._next = world.t + 60.0
        self._stage += 1

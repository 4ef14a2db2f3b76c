"""Name the wrong connections of modules (turned, exchanged plugs), and list the orders of plugs to try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from pi_controller.calibration.bead_fits import Array
from pi_controller.sensing.baseline import ModuleCorrection

Order = tuple[int, ...]


class Cause(NamedTuple):
    """One wrong connection: its `kind`, the numbers of its modules (0 first), pads or multiplexers (1 first).

    `turn` is the orientation of a turned module in words.
    """

    kind: str
    numbers: tuple[int, ...]
    turn: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """Result of a search.

    `explained` is true if one bead explains each reading, after the `correction` for the `causes` if there is one.
    `contradicting` are the modules (0 first) that contradict the others without a known cause. `places` (n, 3) and
    `moments` (n, 3) A m^2 are the beads, `cost` is minus twice the log likelihood.
    """

    explained: bool
    cost: float
    places: Array
    moments: Array
    correction: ModuleCorrection | None = None
    causes: tuple[Cause, ...] = ()
    contradicting: tuple[int, ...] = ()


def exchange_groups(sensors: int, first: Sequence[int], second: Sequence[int]) -> Order:
    """Return the order of `sensors` modules in which those of `first` and `second` are exchanged."""
    order = list(range(sensors))
    for a, b in zip(first, second, strict=True):
        order[a], order[b] = b, a
    return tuple(order)


def mirror_groups(sensors: int, groups: Sequence[Sequence[int]]) -> Order:
    """Return the order of `sensors` modules in which each of `groups` has its modules in reverse order."""
    order = list(range(sensors))
    for group in groups:
        for a, b in zip(group, reversed(group), strict=True):
            order[a] = b
    return tuple(order)


def group_orders(
    sensors: int, pads: Sequence[Sequence[int]], multiplexers: Sequence[Sequence[int]]
) -> dict[Order, tuple[Cause, ...]]:
    """Return the orders of `sensors` modules with pads or multiplexers exchanged or mirrored, and their causes.

    `pads` and `multiplexers` are the built modules (0 first) of each.
    """
    found: dict[Order, tuple[Cause, ...]] = {}
    for kind, groups in (("pads", pads), ("multiplexers", multiplexers)):
        for a, b in combinations(range(len(groups)), 2):
            if len(groups[a]) == len(groups[b]):  # else modules are silent
                found.setdefault(exchange_groups(sensors, groups[a], groups[b]), (Cause(kind, (a + 1, b + 1)),))
    for count in range(1, len(multiplexers) + 1):
        for some in combinations(range(len(multiplexers)), count):
            order = mirror_groups(sensors, [multiplexers[n] for n in some])
            found.setdefault(order, tuple(Cause("mirrored", (n + 1,)) for n in some))
    return found

"""`python hardware/drawings/plate.py`: how a pad's plate swings on its foam, and what its disc feels of that.

A free plate on springs by the method of Ritz, with products of Legendre polynomials. A piezo disc feels how the plate
bends under it, not how it moves. Plywood and foam are what shops' tables have, from memory, and plywood is taken for
equally stiff both ways, which it is not: so this says which way to build, not what a mat will do. Nothing was measured.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np
from geometry import blocks, build
from numpy.polynomial import legendre

from pi_controller.pinmap import pinmap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DENSITY_KG_M3, YOUNG_PA, POISSON = 680.0, 8e9, 0.3
FOAM_PA = (0.1e6, 0.5e6)
"""Softest and hardest PE foam of closed cells, squeezed a little; memory."""
DAMPING = 0.1
"""Of the foam, share of critical; a choice."""
BAND_HZ = (400.0, 1500.0)
"""What the strike detector listens to."""
DEGREE, POINTS = 10, 96
DEAF = 0.25
"""A mode whose bending at the disc is less than this share of its mean (rms) over the plate is hardly felt."""


@dataclass(frozen=True, slots=True)
class Modes:
    """Modes of a plate: `hz` (n,), and for each the coefficients of its shape (n, DEGREE * DEGREE)."""

    hz: Array
    shapes: Array


def size_m() -> tuple[float, float]:
    """Return width and depth of a plate."""
    pads = pinmap().pads
    return pads.width_mm / 1000.0, pads.depth_mm / 1000.0


def mass_kg() -> float:
    """Return the weight of a plate."""
    width, depth = size_m()
    return DENSITY_KG_M3 * width * depth * build().plate_mm / 1000.0


def foam_m2(whole: bool) -> float:
    """Return the foam under a plate: a `whole` sheet or the blocks of the pin map."""
    width, depth = size_m()
    return width * depth if whole else len(build().foam_blocks_mm) * (build().foam_block_mm / 1000.0) ** 2


def bounce_hz(whole: bool, foam_pa: float) -> float:
    """Return the frequency at which the plate bounces as a whole on its foam."""
    return sqrt(foam_pa * foam_m2(whole) / (build().foam_mm / 1000.0) / mass_kg()) / (2 * pi)


def passed_db(hz: float, bounce: float) -> float:
    """Return how much of a floor's shaking at `hz` reaches the plate, dB."""
    r = hz / bounce
    return float(20 * np.log10(abs((1 + 2j * DAMPING * r) / (1 - r * r + 2j * DAMPING * r))))


def _along(x: Array, length: float, derivative: int) -> Array:
    """Return the polynomials (DEGREE, len(x)) or their derivatives at x from -length / 2 to length / 2."""
    rows = [legendre.legval(2 * x / length, legendre.legder(one, derivative)) for one in np.eye(DEGREE)]
    return np.array(rows, dtype=np.float64) * (2 / length) ** derivative


def _products(x: Array, y: Array, dx: int, dy: int) -> Array:
    """Return derivative (dx, dy) of every product of polynomials, (DEGREE * DEGREE, points)."""
    width, depth = size_m()
    return np.einsum("ip,jp->ijp", _along(x, width, dx), _along(y, depth, dy)).reshape(DEGREE * DEGREE, -1)


def bending(modes: Modes, x_mm: Array, y_mm: Array) -> Array:
    """Return the sum of both curvatures of each mode at points (mm from the middle), (modes, points)."""
    x, y = x_mm / 1000.0, y_mm / 1000.0
    return np.asarray(modes.shapes @ (_products(x, y, 2, 0) + _products(x, y, 0, 2)), dtype=np.float64)


def modes(whole: bool, foam_pa: float, up_to_hz: float = BAND_HZ[1]) -> Modes:
    """Return the modes of a plate on a `whole` sheet of foam or on blocks, the three that do not bend it among them."""
    width, depth = size_m()
    nodes, weights = legendre.leggauss(POINTS)
    gx, gy = (part.ravel() for part in np.meshgrid(nodes * width / 2, nodes * depth / 2, indexing="ij"))
    area = np.outer(weights, weights).ravel() * width * depth / 4
    high = build().plate_mm / 1000.0
    stiff = YOUNG_PA * high**3 / 12 / (1 - POISSON**2)
    w, xx, yy, xy = (_products(gx, gy, *order) for order in ((0, 0), (2, 0), (0, 2), (1, 1)))
    spring = np.full(len(gx), foam_pa / (build().foam_mm / 1000.0))
    if not whole:
        half = build().foam_block_mm / 2000.0
        middles = np.array([(box.left + box.right, box.near + box.far) for box in blocks()]) / 2000.0
        under = (np.abs(gx[:, None] - middles[:, 0]) <= half) & (np.abs(gy[:, None] - middles[:, 1]) <= half)
        spring = spring * under.any(axis=1)
        spring *= foam_pa * foam_m2(False) / (build().foam_mm / 1000.0) / float(spring @ area)  # edges between points
    energy = stiff * ((xx + yy) * area @ (xx + yy).T)
    energy += stiff * (1 - POISSON) * (2 * xy * area @ xy.T - xx * area @ yy.T - yy * area @ xx.T)
    energy += w * (spring * area) @ w.T
    inertia = DENSITY_KG_M3 * high * (w * area) @ w.T
    root = 1 / np.sqrt(np.diag(inertia))  # the polynomials are orthogonal
    squared, vectors = np.linalg.eigh(energy * root[:, None] * root)
    hz = np.sqrt(np.maximum(squared, 0.0)) / (2 * pi)
    count = int((hz <= up_to_hz).sum())
    return Modes(hz[:count], (vectors * root[:, None]).T[:count])


def felt(found: Modes, at_mm: tuple[float, float]) -> Array:
    """Return how much each mode bends the plate under a disc at `at_mm`, as a share of its mean (rms) bending."""
    pads, radius = pinmap().pads, build().disc_mm / 2
    x, y = (part.ravel() for part in np.meshgrid(np.linspace(-0.5, 0.5, 41), np.linspace(-0.5, 0.5, 41)))
    mean = np.sqrt((bending(found, x * pads.width_mm, y * pads.depth_mm) ** 2).mean(axis=1))
    inside = np.hypot(x, y) <= 0.5
    under = bending(found, at_mm[0] + 2 * radius * x[inside], at_mm[1] + 2 * radius * y[inside]).mean(axis=1)
    return np.abs(under) / np.where(mean > 0, mean, 1.0)


def deaf(found: Modes, at_mm: tuple[float, float]) -> tuple[int, int]:
    """Return how many of the modes in the detector's band a disc there hardly feels, and how many there are."""
    inside = (found.hz >= BAND_HZ[0]) & (found.hz <= BAND_HZ[1])
    return int((felt(found, at_mm)[inside] < DEAF).sum()), int(inside.sum())


def tables() -> str:
    """Return what the build guide shows, as Markdown."""
    rows = [
        "| foam | bounces at, Hz | of the floor at 100 Hz, dB | 400 Hz | 800 Hz |",
        "| --- | --- | --- | --- | --- |",
    ]
    eight = f"{len(build().foam_blocks_mm)} blocks of {build().foam_block_mm:g} x {build().foam_block_mm:g} mm"
    for whole, name in ((True, "a whole sheet"), (False, eight)):
        at = [bounce_hz(whole, pa) for pa in FOAM_PA]
        floor = " | ".join(" to ".join(f"{passed_db(hz, one):+.0f}" for one in at) for hz in (100.0, 400.0, 800.0))
        rows.append(f"| {name} | {at[0]:.0f} to {at[1]:.0f} | {floor} |")
    rows += [
        "",
        "| the disc's middle, mm from the plate's | modes from 400 to 1500 Hz that it hardly feels |",
        "| --- | --- |",
    ]
    softest = modes(False, FOAM_PA[0])
    for at_mm in ((0.0, 0.0), (28.0, 0.0), (0.0, 28.0), build().disc_at_mm, (40.0, 40.0)):
        few, count = deaf(softest, at_mm)
        rows.append(f"| {at_mm[0]:g}, {at_mm[1]:g} | {few} of {count} |")
    return "\n".join(rows)


def main() -> int:
    """Print the tables."""
    print(tables())
    return 0


if __name__ == "__main__":
    sys.exit(main())

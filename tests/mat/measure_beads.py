"""Seeded scenes of beads on a mat, and how often the fit reads them right: `python tests/mat/measure_beads.py [N]`.

The scenes have their own dipole formula and their own faults: every sensor has a gain, an offset and a place that are
not quite the pin map's, magnets differ, the surroundings' field drifts.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

import numpy as np

from pi_controller.mat.bead_fit import BeadFit, fit
from pi_controller.pinmap import pinmap

PADS = pinmap().pads
SENSORS = np.array(pinmap().magnetometer_positions())
MARKED, UNMARKED = 0.176, 0.052


def direction(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


@dataclass
class Magnet:
    place: np.ndarray
    moment: np.ndarray
    marked: bool


def on_pad(rng: np.random.Generator, pad: int, marked: bool, inset: float = 8.0) -> Magnet:
    cx, cy = PADS.centre(pad)
    x = cx + rng.uniform(-1, 1) * (PADS.width_mm / 2 - inset)
    y = cy + rng.uniform(-1, 1) * (PADS.depth_mm / 2 - inset)
    strength = (MARKED if marked else UNMARKED) * rng.normal(1, 0.03)
    return Magnet(np.array([x, y, rng.uniform(2, 12)]), strength * direction(rng), marked)


@dataclass
class Mat:
    """One mat as built: `noise` microtesla a scan, `offset` microtesla of each sensor."""

    rng: np.random.Generator
    noise: float = 0.7
    offset: float = 4.0
    gain_error: float = 0.01
    place_error: float = 0.7
    dead: tuple[int, ...] = ()
    earth: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        n = len(SENSORS)
        self.places = SENSORS + self.rng.normal(0, self.place_error, (n, 3))
        self.gains = 1 + self.rng.normal(0, self.gain_error, (n, 3))
        self.offsets = self.rng.normal(0, self.offset, (n, 3))
        self.earth = 50.0 * direction(self.rng)

    def scan(self, magnets: list[Magnet], shift: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        true = np.tile(self.earth + shift, (len(SENSORS), 1))
        for magnet in magnets:
            r = self.places - magnet.place
            d = np.linalg.norm(r, axis=1, keepdims=True)
            true = true + 1e8 * (3 * r * (r @ magnet.moment)[:, None] / d**5 - magnet.moment / d**3)
        raw = true * self.gains + self.offsets + self.rng.normal(0, self.noise, true.shape)
        ok = (np.abs(raw) < 800).all(axis=1)
        ok[list(self.dead)] = False
        return np.where(ok[:, None], raw, 0.0), ok

    def mean(
        self, magnets: list[Magnet], scans: int = 5, shift: float | np.ndarray = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        many = [self.scan(magnets, shift) for _ in range(scans)]
        return np.mean([ut for ut, _ in many], axis=0), np.all([ok for _, ok in many], axis=0)


CLASSES = (
    "empty",
    "unmarked",
    "marked",
    "two",
    "two on a pad",
    "four",
    "between",
    "off",
    "dead",
    "drift",
    "held",
    "phone",
)


def scene(kind: str, rng: np.random.Generator) -> tuple[Mat, list[Magnet], float | np.ndarray]:
    """Return a mat, what lies on it and how far the uniform field has gone since the mat was empty."""
    mat = Mat(rng, noise=rng.uniform(0.5, 1.0))
    pad = int(rng.integers(1, 5))
    shift: float | np.ndarray = rng.normal(0, 2, 3)
    match kind:
        case "empty":
            return mat, [], shift
        case "unmarked" | "marked":
            return mat, [on_pad(rng, pad, kind == "marked")], shift
        case "two":
            other = int(rng.integers(1, 5))
            while True:
                pair = [on_pad(rng, pad, bool(rng.random() < 0.5)), on_pad(rng, other, bool(rng.random() < 0.5))]
                if np.hypot(*(pair[0].place - pair[1].place)[:2]) > 40:
                    return mat, pair, shift
        case "two on a pad":
            while True:
                pair = [on_pad(rng, pad, True), on_pad(rng, pad, True)]
                if np.hypot(*(pair[0].place - pair[1].place)[:2]) > 25:
                    return mat, pair, shift
        case "four":
            return mat, [on_pad(rng, p, p == pad) for p in range(1, 5)], shift
        case "between":
            bead = on_pad(rng, pad, True)
            gap = int(rng.integers(1, 4))
            bead.place[0] = PADS.centre(gap)[0] + PADS.pitch_mm / 2 + rng.uniform(-16, 16)
            return mat, [bead], shift
        case "off":
            bead = on_pad(rng, pad, True)
            bead.place[1] = rng.choice([-1, 1]) * (PADS.depth_mm / 2 + rng.uniform(6, 80))
            return mat, [bead], shift
        case "dead":
            mat.dead = (int(rng.integers(24)),)
            return mat, [on_pad(rng, pad, True)], shift
        case "drift":
            return mat, [on_pad(rng, pad, True)], 20.0 * direction(rng)
        case "held":
            bead = on_pad(rng, pad, True)
            bead.place[2] = rng.uniform(50, 200)
            return mat, [bead], shift
        case "phone":
            bead = on_pad(rng, pad, True)
            bead.place[2] = rng.uniform(5, 60)
            bead.moment *= rng.uniform(2.5, 8)
            far = Magnet(bead.place + np.array([60.0, 30, 0]), rng.uniform(0.3, 0.8) * direction(rng), False)
            return mat, [bead, far], shift
    raise ValueError(kind)


def right(found: BeadFit, magnets: list[Magnet]) -> bool:
    """Whether pads and kinds are all right."""
    return sorted(((b.pad or 0), b.marked) for b in found.beads) == sorted(
        ((PADS.at(m.place[0], m.place[1]) or 0), m.marked) for m in magnets
    )


def measure(kind: str, count: int, seed: int, most: int = 4) -> dict[str, float]:
    """Return how many of `count` scenes were sure and right, unsure, sure and wrong; the place error and the time."""
    rng = np.random.default_rng([seed, CLASSES.index(kind)])
    tally = {"right": 0, "unsure": 0, "wrong": 0}
    off: list[float] = []
    took: list[float] = []
    for _ in range(count):
        mat, magnets, shift = scene(kind, rng)
        empty, _ = mat.mean([], 20)
        ut, ok = mat.mean(magnets, 5, shift)
        began = time.perf_counter()
        found = fit(ut - empty, ok, noise=float(np.hypot(0.5, mat.noise / 2)), most=most)
        took.append(time.perf_counter() - began)
        lying = (
            [] if kind in ("held", "phone") else magnets
        )  # far enough above the mat, a magnet is none of its business
        good = right(found, lying) or (kind == "held" and all(b.pad is None for b in found.beads))
        tally["unsure" if not found.sure else "right" if good else "wrong"] += 1
        if found.sure and good and kind != "held":
            order = sorted(lying, key=lambda m: m.place[0])
            off += [
                float(np.hypot(b.x_mm - m.place[0], b.y_mm - m.place[1]))
                for b, m in zip(found.beads, order, strict=True)
            ]
    return tally | {
        "median_mm": float(np.median(off)) if off else float("nan"),
        "p95_mm": float(np.quantile(off, 0.95)) if off else float("nan"),
        "median_ms": 1e3 * float(np.median(took)),
        "p99_ms": 1e3 * float(np.quantile(took, 0.99)),
    }


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 250
    print(f"{count} scenes each; {'':22}sure+right unsure sure+wrong   place mm med/p95    fit ms med/p99")
    for kind in CLASSES:
        m = measure(kind, count, seed=2026)
        print(
            f"{kind:>44}{m['right']:>11}{m['unsure']:>7}{m['wrong']:>11}   {m['median_mm']:>8.2f} /{m['p95_mm']:>5.2f}"
            f"    {m['median_ms']:>6.1f} /{m['p99_ms']:>5.1f}"
        )


if __name__ == "__main__":
    main()

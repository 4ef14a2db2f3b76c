"""Seeded scenes of beads on a simulated mat, and how often the tracker reads them right.

python tests/tools/measure_beads.py [N] [--worlds | --kinds KIND...] [--processes 2] [--seed 2026] [--size 8]
    [--depth 18 --range 3000]

The scenes have their own dipole formula and their own faults: every sensor has a gain, an offset and a place that are
not quite the pin map's, magnets differ. In each the tracker is told of the empty mat, the background drifts by 20
microtesla, the beads are laid down, and two seconds pass; noise is 1 microtesla a sample. A scene is right when the
last reading is sure and right, and wrong as soon as any sure reading is wrong, but for two beads on one pad, which the
referee always asks about. Times are processor time of the fits.
`--size` is the number of magnetometers, one of [magnetometers.built] in the pin map; `--depth` and `--range` are their
depth below the cover, mm, and their range, microtesla, in place of the pin map's.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from rich.progress import Progress

from pi_controller.board.messages import Field
from pi_controller.pinmap import pinmap
from pi_controller.referee.unpublished import has_pair
from pi_controller.sensing.bead_fit import BeadFit, shipped_fitter
from pi_controller.sensing.beads import BeadTracker

if TYPE_CHECKING:
    from pi_controller.sensing.events import BeadsAtRest

PADS = pinmap().pads
SENSORS = np.array(pinmap().magnetometer_positions())
MARKED, UNMARKED = 0.176, 0.052
HIDDEN_MM = 12.0
"""A bead this far inside a pad's edge is wholly under it."""
FISTS_MM = 45.0
MODULES_MM = float(SENSORS[0, 2])
"""Height of the magnetometers: the mat's underside."""


def direction(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


@dataclass
class Magnet:
    place: np.ndarray
    moment: np.ndarray
    marked: bool


def on_pad(rng: np.random.Generator, pad: int, marked: bool, inset: float = HIDDEN_MM) -> Magnet:
    cx, cy = PADS.centre(pad)
    x = cx + rng.uniform(-1, 1) * (PADS.width_mm / 2 - inset)
    y = cy + rng.uniform(-1, 1) * (PADS.depth_mm / 2 - inset)
    strength = (MARKED if marked else UNMARKED) * rng.normal(1, 0.03)
    return Magnet(np.array([x, y, rng.uniform(2, 12)]), strength * direction(rng), marked)


@dataclass
class Plate:
    """A steel plate under the mat, its top at `top_mm` (z), of finite size: the charge that a bead's field induces.

    On steel of high permeability the surface charge is twice the field's upward part; `share` of it is there. The
    plate ends at `edges_mm` (x from, x to, y from, y to) and has no net charge.
    """

    top_mm: float
    share: float
    edges_mm: tuple[float, float, float, float]

    def field_at(self, places: np.ndarray, magnet: Magnet) -> np.ndarray:
        x, y = magnet.place[:2]
        x0, x1, y0, y1 = self.edges_mm
        xs, ys = np.arange(max(x0, x - 250), min(x1, x + 250), 8.0), np.arange(max(y0, y - 250), min(y1, y + 250), 8.0)
        if not (len(xs) and len(ys)):
            return np.zeros_like(places)
        tiles = np.stack([*(axis.ravel() for axis in np.meshgrid(xs, ys)), np.full(len(xs) * len(ys), self.top_mm)], 1)
        charge = 2 * self.share * dipole(tiles, magnet)[:, 2]
        charge -= charge.mean()
        r = places[:, None] - tiles
        return np.einsum("t,stk,st->sk", charge * 8.0**2 / (4 * np.pi), r, (r * r).sum(axis=2) ** -1.5)


@dataclass
class Iron:
    """A ball of iron under the mat: it takes up a moment from the field at its centre, the earth's and the bead's."""

    place: np.ndarray
    radius_mm: float

    def field_at(self, places: np.ndarray, field: np.ndarray) -> np.ndarray:
        return dipole(places, Magnet(self.place, self.radius_mm**3 * field / 1e8, False))


def dipole(places: np.ndarray, magnet: Magnet) -> np.ndarray:
    """Return the field of `magnet` at `places` (n, 3), microtesla."""
    r = places - magnet.place
    d = np.linalg.norm(r, axis=1, keepdims=True)
    return 1e8 * (3 * r * (r @ magnet.moment)[:, None] / d**5 - magnet.moment / d**3)


@dataclass
class Mat:
    """One mat as built: `noise` microtesla a scan, `offset` microtesla of each sensor."""

    rng: np.random.Generator
    noise: float = 1.0
    offset: float = 4.0
    gain_error: float = 0.01
    place_error: float = 0.7
    dead: tuple[int, ...] = ()
    sensors: np.ndarray = field(default_factory=lambda: SENSORS)
    plate: Plate | None = None
    iron: Iron | None = None
    earth: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.sensors)
        self.places = self.sensors + self.rng.normal(0, self.place_error, (n, 3))
        self.gains = 1 + self.rng.normal(0, self.gain_error, (n, 3))
        self.offsets = self.rng.normal(0, self.offset, (n, 3))
        self.earth = 50.0 * direction(self.rng)

    def scan(
        self, magnets: list[Magnet], shift: np.ndarray | float = 0.0, *, everything: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        true = np.tile(self.earth + shift, (len(self.sensors), 1))
        for magnet in magnets:
            true = true + dipole(self.places, magnet)
            if self.plate is not None:
                true = true + self.plate.field_at(self.places, magnet)
        if self.iron is not None:
            there = sum((dipole(self.iron.place[None], magnet)[0] for magnet in magnets), self.earth + shift)
            true = true + self.iron.field_at(self.places, there)
        raw = true * self.gains + self.offsets + self.rng.normal(0, self.noise, true.shape)
        if everything:
            return raw, np.ones(len(raw), dtype=np.bool_)
        ok = (np.abs(raw) < pinmap().magnetometers.range_ut).all(axis=1)
        ok[list(self.dead)] = False
        return np.where(ok[:, None], raw, 0.0), ok

    def mean(
        self, magnets: list[Magnet], scans: int = 5, shift: float | np.ndarray = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        many = [self.scan(magnets, shift) for _ in range(scans)]
        return np.mean([ut for ut, _ in many], axis=0), np.all([ok for _, ok in many], axis=0)


@dataclass
class Scene:
    """What lies on the mat in truth (`beads`), what else is near (`others`), and how it is looked at."""

    beads: list[Magnet] = field(default_factory=list)
    others: list[Magnet] = field(default_factory=list)
    first: list[Magnet] | None = None
    """What lay there a second before, when that was something else."""
    turned: bool = False
    fault: tuple[int, str] | None = None
    faulty_from_the_start: bool = False
    smallest: float = MARKED
    highest_mm: float | None = None
    plate: Plate | None = None
    iron: Iron | None = None
    speed_mm_s: np.ndarray | None = None
    """Velocity of `others` while the beads lie there."""
    warming_ut: float = 0.0
    """Sigma of the drift of each sensor's axes in the ten seconds before."""


def one(rng: np.random.Generator, marked: bool = True) -> list[Magnet]:
    return [on_pad(rng, int(rng.integers(1, 5)), marked)]


def apart(rng: np.random.Generator, pads: list[int], marked: list[bool], least_mm: float) -> list[Magnet]:
    while True:
        magnets = [on_pad(rng, pad, kind) for pad, kind in zip(pads, marked, strict=True)]
        if all(np.hypot(*(a.place - b.place)[:2]) > least_mm for n, a in enumerate(magnets) for b in magnets[:n]):
            return magnets


def fists(rng: np.random.Generator, pads: list[int]) -> list[Magnet]:
    """Unmarked bones in fists that rest on the pads: the bone is not right at the pad's edge."""
    magnets = [on_pad(rng, pad, False, inset=35.0) for pad in pads]
    for magnet in magnets:
        magnet.place[2] = rng.uniform(12, 45)
    return magnets


def telephone(rng: np.random.Generator) -> list[Magnet]:
    """Four magnets within 70 x 140 mm, on the mat or beside it."""
    beside = rng.random() < 0.7
    y = rng.choice([-1, 1]) * (150 + rng.uniform(40, 300)) if beside else rng.uniform(-150, 150)
    centre = np.array([rng.uniform(-550, 550), y, rng.uniform(3, 60)])
    return [
        Magnet(
            centre + np.array([rng.uniform(-70, 70), rng.uniform(-35, 35), 0]),
            rng.uniform(0.05, 0.5) * direction(rng),
            False,
        )
        for _ in range(4)
    ]


def chair_leg(rng: np.random.Generator) -> list[Magnet]:
    """A steel tube standing beside the mat, magnetised along its length with ends that differ."""
    at = np.array([rng.uniform(-600, 600), rng.choice([-1, 1]) * (150 + rng.uniform(60, 400)), 0.0])
    strength = rng.uniform(0.05, 0.6) * rng.choice([-1, 1])
    return [
        Magnet(at + np.array([0, 0, -30 + 60 * n]), np.array([0, 0, strength * rng.uniform(0.3, 1.7)]), False)
        for n in range(8)
    ]


def ring(rng: np.random.Generator) -> list[Magnet]:
    """A steel ring on a finger over a pad: a little remanence."""
    worn = on_pad(rng, int(rng.integers(1, 5)), False)
    worn.place[2] = rng.uniform(15, 60)
    worn.moment = 10 ** rng.uniform(-4, -2) * direction(rng)
    return [worn]


def bracelet(rng: np.random.Generator) -> list[Magnet]:
    """A bracelet's magnetic clasp on a wrist at the mat's edge."""
    worn = on_pad(rng, int(rng.integers(1, 5)), False)
    worn.place[1:] = rng.choice([-1, 1]) * (150 + rng.uniform(-60, 60)), rng.uniform(20, 80)
    worn.moment = 10 ** rng.uniform(-2, -0.5) * direction(rng)
    return [worn]


def keys(rng: np.random.Generator) -> list[Magnet]:
    """A bunch of steel keys beside the mat: five weak magnets."""
    at = np.array([rng.uniform(-600, 600), rng.choice([-1, 1]) * (150 + rng.uniform(20, 150)), 5.0])
    return [
        Magnet(at + rng.uniform(-40, 40, 3) * [1, 1, 0], 10 ** rng.uniform(-3, -1.5) * direction(rng), False)
        for _ in range(5)
    ]


def plate(rng: np.random.Generator, under_mm: float) -> Plate:
    """A steel plate `under_mm` below the modules, as large as a table's frame or its top."""
    x, y = rng.uniform(-200, 200), rng.uniform(-100, 100)
    wide, deep = rng.uniform(200, 700), rng.uniform(100, 400)
    return Plate(MODULES_MM - under_mm, rng.uniform(0.6, 1.0), (x - wide, x + wide, y - deep, y + deep))


def iron(rng: np.random.Generator) -> Iron:
    """A screw, a hinge or a weight of iron under the table: a ball of 15 to 40 mm."""
    radius = rng.uniform(15, 40)
    top = MODULES_MM - rng.uniform(15, 60)
    return Iron(np.array([rng.uniform(-500, 500), rng.uniform(-150, 150), top - radius]), radius)


def scene(kind: str, rng: np.random.Generator) -> Scene:
    """Return a scene of `kind`, one of `KINDS`."""
    match kind.split():
        case ["empty"]:
            return Scene(smallest=UNMARKED if rng.random() < 0.5 else MARKED)
        case ["marked"]:
            return Scene(one(rng))
        case ["unmarked"]:
            return Scene(one(rng, marked=False), smallest=UNMARKED)
        case ["two"]:
            pads = [int(pad) for pad in rng.choice(4, 2, replace=False) + 1]
            return Scene(apart(rng, pads, [True, True], 40))
        case ["two", "kinds"]:
            pads = [int(pad) for pad in rng.choice(4, 2, replace=False) + 1]
            return Scene(apart(rng, pads, [bool(rng.random() < 0.5), bool(rng.random() < 0.5)], 40), smallest=UNMARKED)
        case ["two", "near"]:  # on one pad, down to 25 mm apart
            return Scene(apart(rng, [int(rng.integers(1, 5))] * 2, [True, True], 25))
        case ["moved"]:
            while True:
                (bead,) = one(rng, marked=rng.random() < 0.5)
                angle = rng.uniform(0, 2 * np.pi)
                there = replace(bead, place=bead.place + 15.0 * np.array([np.cos(angle), np.sin(angle), 0]))
                if PADS.at(*(there.place[:2] * [1, 1.08])) == PADS.at(*bead.place[:2]):
                    return Scene([there], first=[bead], smallest=UNMARKED)
        case ["four"]:
            marked = int(rng.integers(4))
            return Scene(apart(rng, [1, 2, 3, 4], [n == marked for n in range(4)], 40), smallest=UNMARKED)
        case ["three", "of", "four"]:
            marked = int(rng.integers(4))
            four = apart(rng, [1, 2, 3, 4], [n == marked for n in range(4)], 40)
            gone = int(rng.integers(4))
            return Scene([ball for n, ball in enumerate(four) if n != gone], first=four, smallest=UNMARKED)
        case ["two", "fists"]:
            pads = [int(rng.integers(1, 3)), int(rng.integers(3, 5))]
            return Scene(fists(rng, pads), smallest=UNMARKED, highest_mm=FISTS_MM)
        case ["one", "fist"]:
            return Scene(fists(rng, [int(rng.integers(1, 5))]), smallest=UNMARKED, highest_mm=FISTS_MM)
        case ["no", "fist"]:
            return Scene(smallest=UNMARKED, highest_mm=FISTS_MM)
        case ["between"]:
            bead = on_pad(rng, 1, True)
            bead.place[0] = PADS.centre(int(rng.integers(1, 4)))[0] + PADS.pitch_mm / 2 + rng.uniform(-15, 15)
            return Scene([bead])
        case ["off"]:
            (bead,) = one(rng)
            bead.place[1] = rng.choice([-1, 1]) * (PADS.depth_mm / 2 + rng.uniform(6, 80))
            return Scene([bead])
        case ["held"]:
            (bead,) = one(rng)
            bead.place[2] = rng.uniform(50, 200)
            return Scene(others=[bead])
        case ["telephone"]:
            return Scene(one(rng) if rng.random() < 0.7 else [], telephone(rng))
        case ["chair"]:
            return Scene(one(rng) if rng.random() < 0.7 else [], chair_leg(rng))
        case ["ring"]:
            return Scene(one(rng) if rng.random() < 0.7 else [], ring(rng))
        case ["bracelet"]:
            return Scene(one(rng) if rng.random() < 0.7 else [], bracelet(rng))
        case ["keys"]:
            return Scene(one(rng) if rng.random() < 0.7 else [], keys(rng))
        case ["steel", "four"]:
            return replace(scene("four", rng), plate=plate(rng, rng.uniform(15, 60)))
        case ["steel", "two"]:
            return replace(scene("two near", rng), plate=plate(rng, rng.uniform(15, 60)))
        case ["steel", under_mm]:
            return Scene(one(rng), plate=plate(rng, float(under_mm)))
        case ["iron"]:
            return Scene(one(rng), iron=iron(rng))
        case ["moving", "chair"]:  # half a metre to two from the mat's edge, at up to a metre a second
            leg, away = chair_leg(rng), rng.uniform(500, 2000)
            for magnet in leg:
                magnet.place[1] = np.sign(magnet.place[1]) * (PADS.depth_mm / 2 + away)
            angle = rng.uniform(0, 2 * np.pi)
            walk = rng.uniform(100, 1000) * np.array([np.cos(angle), 0.2 * np.sin(angle), 0])
            return Scene(one(rng) if rng.random() < 0.7 else [], leg, speed_mm_s=walk)
        case ["warming"]:
            return Scene(one(rng) if rng.random() < 0.7 else [], warming_ut=1.0)
        case ["turned"]:
            return Scene(one(rng) if rng.random() < 0.7 else [], turned=True)
        case [wrong] if wrong in FAULTS:
            some = one(rng) if rng.random() < 0.7 else []
            return Scene(some, fault=(int(rng.integers(24)), wrong), faulty_from_the_start=bool(rng.random() < 0.5))
    raise ValueError(kind)


FAULTS = ("silent", "stuck", "rail", "noisy")
KINDS = (
    *("empty", "marked", "unmarked", "two", "two kinds", "two near", "moved", "between", "off", "held"),
    *("four", "three of four", "two fists", "one fist", "no fist"),
    *("telephone", "chair", "ring", "turned", *FAULTS),
    *("steel 15", "steel 30", "steel 60", "steel two", "steel four", "bracelet", "keys"),
    *("iron", "moving chair", "warming"),
)
WORLDS = (
    *("marked", "steel 15", "steel 30", "steel 60", "telephone", "keys", "moving chair", "turned"),
    *("bracelet", "warming", "iron", "noisy"),
)
"""Surroundings of one marked bead, for `--worlds`."""


@dataclass
class Told:
    """What came of one scene."""

    verdict: str
    off_mm: list[float]
    off_sigmas: list[float]
    took_ms: list[float]
    doubts: tuple[str, ...] = ()
    readings: list[BeadsAtRest] = field(default_factory=list)


class Play:
    """One scene, scan by scan at 20 Hz, through a tracker whose fits are timed."""

    def __init__(self, kind: str, number: int, seed: int, size: int = 24) -> None:
        self.rng = np.random.default_rng([seed, KINDS.index(kind), number])
        self.kind = kind
        self.scene = scene(kind, self.rng)
        high = self.scene.highest_mm
        fitter = shipped_fitter() if high is None else shipped_fitter(high)
        self.mat = Mat(self.rng, sensors=fitter.sensors_mm, plate=self.scene.plate, iron=self.scene.iron)
        self.absent = ~np.array(pinmap().magnetometers_built(size))
        self.took: list[float] = []
        self.last: BeadFit | None = None
        self.fitter = fitter
        self.sensors_mm = fitter.sensors_mm
        self.tracker = BeadTracker(self, smallest=self.scene.smallest, magnetometers=size)  # type: ignore[arg-type]
        self.t = 100.0
        self.frozen: np.ndarray | None = None

    def fit(self, *args: object, **settings: object) -> BeadFit:
        began = time.thread_time()
        self.last = self.fitter.fit(*args, **settings)  # type: ignore[arg-type]
        self.took.append(1e3 * (time.thread_time() - began))
        return self.last

    def scans(self, count: int, magnets: list[Magnet], shift: np.ndarray, broken: bool) -> list[BeadsAtRest]:
        still = replace(self.mat, noise=0.0)
        still.places, still.gains, still.offsets = self.mat.places, self.mat.gains, self.mat.offsets
        still.earth = self.mat.earth
        clean, _ = still.scan(magnets, shift, everything=True)
        said: list[BeadsAtRest] = []
        for _ in range(count):
            ut = clean + self.rng.normal(0, self.mat.noise, clean.shape)
            if broken and self.scene.fault is not None:
                sensor, wrong = self.scene.fault
                if wrong == "noisy":
                    ut[sensor] += self.rng.normal(0, 8.0, 3)
                elif wrong == "rail":
                    ut[sensor, 2] = pinmap().magnetometers.range_ut
                elif wrong == "stuck":
                    self.frozen = ut[sensor].copy() if self.frozen is None else self.frozen
                    ut[sensor] = self.frozen
            ut = np.rint(ut * 30.0) / 30.0
            ok = (np.abs(ut) <= pinmap().magnetometers.range_ut).all(axis=1)
            ok[self.absent] = False
            if broken and self.scene.fault is not None and self.scene.fault[1] == "silent":
                ok[self.scene.fault[0]] = False
            self.t += 0.05
            said += self.tracker.feed(Field(self.t, np.where(ok[:, None], ut, 0.0), ok))
        return said

    def told(self) -> Told:
        """Play the scene through."""
        seen, calm = self.scene, np.zeros(3)
        drift = 20.0 * direction(self.rng)
        self.tracker.set_empty()
        self.scans(60, [], calm, seen.faulty_from_the_start)
        for n in range(10):
            self.scans(2, [], drift * (n + 1) / 10, seen.fault is not None)
        if seen.warming_ut:
            for _ in range(50):
                self.mat.offsets = self.mat.offsets + self.rng.normal(0, seen.warming_ut / 50**0.5, (len(SENSORS), 3))
                self.scans(4, [], drift, broken=False)
        if seen.turned:
            drift = drift + 50.0 * direction(self.rng) - self.mat.earth
        if seen.fault is not None:
            self.scans(40, [], drift, broken=True)
        before: list[BeadsAtRest] = []
        if seen.first is not None:
            before = self.scans(40, seen.first, drift, broken=False)
        said: list[BeadsAtRest] = []
        if seen.speed_mm_s is None:
            said = self.scans(40, seen.beads + seen.others, drift, broken=True)
        else:
            for _ in range(40):
                for magnet in seen.others:
                    magnet.place = magnet.place + seen.speed_mm_s / 20
                said += self.scans(1, seen.beads + seen.others, drift, broken=False)
        doubts = self.last.doubts if self.last else ()
        return Told(self.verdict(before, said), *self.places(said), self.took, doubts, before + said)

    def verdict(self, before: list[BeadsAtRest], said: list[BeadsAtRest]) -> str:
        seen = self.scene
        if seen.fault is not None and self.tracker.faults != dict([seen.fault]):
            return f"faults {self.tracker.faults}"
        if any(beads.sure and not has_pair(beads) and not self.right(beads) for beads in said):
            return "wrong"
        if self.kind == "moved":
            if not said:
                return "wrong"
            if not (before and before[-1].found and said[-1].found):
                return "unsure"
            was, now = before[-1].found[0], said[-1].found[0]
            if np.hypot(was.x_mm - now.x_mm, was.y_mm - now.y_mm) < 5.0:
                return "wrong"
        last = said[-1] if said else self.tracker.last_report
        return "right" if last is not None and last.sure and self.right(last) else "unsure"

    def right(self, beads: BeadsAtRest) -> bool:
        """Whether pads and kinds are all right."""
        if self.kind == "held":
            return all(bead.pad is None for bead in beads.found)
        high = self.scene.highest_mm is not None
        return sorted(((b.pad or 0), b.marked and not high) for b in beads.found) == sorted(
            ((PADS.at(m.place[0], m.place[1]) or 0), m.marked) for m in self.scene.beads
        )

    def places(self, said: list[BeadsAtRest]) -> tuple[list[float], list[float]]:
        """Return how far off the beads of a last sure reading are, mm, and the same in sigmas of the fit."""
        last = said[-1] if said else None
        if last is None or not last.sure or not self.right(last) or self.kind == "held" or self.last is None:
            return [], []
        order = sorted(self.scene.beads, key=lambda m: m.place[0])
        off = [
            float(np.hypot(b.x_mm - m.place[0], b.y_mm - m.place[1])) for b, m in zip(last.found, order, strict=True)
        ]
        fitted = [bead.sd_mm for bead in self.last.beads] if len(self.last.beads) == len(off) else []
        return off, [mm / sd for mm, sd in zip(off, fitted, strict=False)]


def play(number: int, kind: str, seed: int, size: int = 24) -> Told:
    """Play scene `number` of a kind."""
    return Play(kind, number, seed, size).told()


def move_chips(depth_mm: float, range_ut: float) -> None:
    """Give the pin map of this process other magnetometers."""
    magnetometers = pinmap().magnetometers
    msgspec.structs.force_setattr(magnetometers, "depth_mm", depth_mm)
    msgspec.structs.force_setattr(magnetometers, "range_ut", range_ut)


def summary(kind: str, many: list[Told]) -> str:
    """Return a line of the table."""
    verdicts = Counter(told.verdict if told.verdict in ("right", "unsure") else "wrong" for told in many)
    off = [mm for told in many for mm in told.off_mm] or [float("nan")]
    sigmas = [n for told in many for n in told.off_sigmas] or [float("nan")]
    took = [ms for told in many for ms in told.took_ms] or [float("nan")]
    return (
        f"{kind:>14}{100 * verdicts['right'] / len(many):>12.2f}{verdicts['unsure']:>8}{verdicts['wrong']:>7}"
        f"   {np.median(off):>6.2f} /{np.quantile(off, 0.95):>5.2f} /{np.quantile(sigmas, 0.95):>5.2f}"
        f"   {np.median(took):>6.1f} /{np.quantile(took, 0.99):>5.1f} /{max(took):>6.1f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=250)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--worlds", action="store_const", dest="kinds", const=WORLDS, help="the same as these kinds")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--why", action="store_true", help="list what was wrong or unsure")
    parser.add_argument("--size", type=int, choices=(24, 16, 12, 8), default=24, help="magnetometers; no faults if few")
    chips = pinmap().magnetometers
    parser.add_argument("--depth", type=float, default=chips.depth_mm)
    parser.add_argument("--range", type=float, default=chips.range_ut)
    args = parser.parse_args()
    if args.size < 24:
        args.kinds = [kind for kind in args.kinds if kind not in FAULTS]
    print(f"{args.count} scenes each. Sure and right in %, unsure, wrong; place off mm median / 95 % / 95 % in sigmas;")
    print("processor time of a fit, ms: median / 99 % / most")
    workers = multiprocessing.get_context("spawn").Pool(args.processes, move_chips, (args.depth, args.range))
    with Progress(transient=True) as bar, workers as pool:
        task = bar.add_task("scenes", total=args.count * len(args.kinds))
        for kind in args.kinds:
            many: list[Told] = []
            for told in pool.imap(partial(play, kind=kind, seed=args.seed, size=args.size), range(args.count), 10):
                many.append(told)
                bar.advance(task)
            bar.console.print(summary(kind, many), highlight=False)
            if args.why:
                why = Counter((told.verdict, told.doubts) for told in many if told.verdict != "right")
                for n, told in enumerate(many):
                    if told.verdict not in ("right", "unsure"):
                        bar.console.print(f"    scene {n}: {told.verdict}", highlight=False)
                for (verdict, doubts), times in why.most_common(8):
                    bar.console.print(f"    {times} {verdict}: {', '.join(doubts)}", highlight=False)


if __name__ == "__main__":
    main()

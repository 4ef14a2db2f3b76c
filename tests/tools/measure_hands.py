"""Hides by hiders of twelve styles, and how often their passes are counted right.

    python tests/tools/measure_hands.py --hides 2000 [--processes 2] [--first SEED] [--worlds]

With `--worlds` the hiders are the steady, quick and slow ones, in surroundings worse than the mats of the simulation
(`WORLDS`). A hand is *stuck* if the detector still has one under a pad ten seconds after the last one left.
A simulation (`simulation/touch_strips.py`), not evidence about real hands. A hide is *exact* when the
sure passes are those that were made, in number, pad and side; *unsure* when they are not, but a pass is told as
unsure, or the passes whose side is known are right and the referee asks about a further one of unknown side
(`referee/hide.py`); else it is *silently wrong*.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import Pool
from typing import TYPE_CHECKING, Literal

import numpy as np

from pi_controller.board.messages import Touch
from pi_controller.sensing.events import HandIn, HandOut
from pi_controller.sensing.hands import HandDetector
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.hand_motion import Cover, Hand, HandStyle
from pi_controller.simulation.touch_strips import TouchStrips

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HZ = 50
Side = Literal["hider", "hitter"]
Span = tuple[float, float]
PLAIN: Span = (28.0, 70.0)


@dataclass(frozen=True)
class Style:
    """How somebody hides: ways in (s), counts, reach past the middle (mm), stay and pause between pads (s)."""

    move: Span = (0.25, 0.6)
    counts: Span = PLAIN
    reach: Span = (30.0, 100.0)
    dwell: Span = (0.25, 0.9)
    gap: Span = (0.06, 0.4)
    habit: str = ""
    sleeve: Span = (0.0, 0.0)


STYLES = {
    "steady": Style(),
    "quick": Style(move=(0.12, 0.2), dwell=(0.1, 0.25), gap=(0.03, 0.1)),
    "slow": Style(move=(1.0, 3.5), dwell=(0.5, 3.0), gap=(0.2, 1.0)),
    "light": Style(counts=(18.0, 26.0)),
    "heavy": Style(counts=(70.0, 110.0)),
    "shallow": Style(reach=(0.0, 25.0)),
    "deep": Style(reach=(100.0, 145.0)),
    "sleeve": Style(sleeve=(0.12, 0.3)),
    "lingering": Style(dwell=(5.0, 45.0)),
    "two hands": Style(habit="two hands"),
    "brushing": Style(habit="brushing"),
    "hesitant": Style(habit="hesitant"),
}
WET = replace(Conditions.drums(), touch_drift=20.0)
MATS = {"quiet": Conditions.quiet(), "drums": Conditions.drums(), "wet": WET}


@dataclass(frozen=True)
class Surroundings:
    """What is worse than on the simulated mats. Shares are of the counts that a hand takes from a strip."""

    trail: float = 0.0
    """The share that stays on a strip when a damp hand leaves it, fading with a time constant of 5 s."""
    remainder: float = 0.0
    """... and the share that stays for good: the cloth was pushed down, or a puddle moved."""
    drift: float = 0.0
    """Fall of all strips, counts a second, each strip with 0.7 to 1.3 of it, from the hide's start for 20 s."""
    spread: float = 0.0
    """The share that a hand takes from the strips of the pads beside it: wet cloth."""
    gain: float = 1.0
    """Sensitivity of all strips: a metal table takes some of it."""

    def make_spoiler(self, scene: Scene) -> Callable[[float, np.ndarray], None]:
        """Return the function that alters the counts of each scan."""
        own, since, cover = scene.rng.uniform(0.7, 1.3, (4, 3)), scene.t, Cover()
        trail, left = np.zeros((4, 3)), np.zeros((4, 3))

        def spoil(t: float, counts: np.ndarray) -> None:
            losses = [found for hand in scene.hands if (found := cover.counts(hand, t)) is not None]
            loss = np.sum(losses, axis=0).reshape(4, 3) if losses else np.zeros((4, 3))
            np.maximum(trail * np.exp(-1 / HZ / 5.0), self.trail * loss, out=trail)
            np.maximum(left, self.remainder * loss, out=left)
            beside = np.zeros((4, 3))
            beside[1:] += loss[:-1]
            beside[:-1] += loss[1:]
            away = np.maximum(np.maximum(trail, left) - loss, 0.0) + self.spread * beside
            away += self.drift * own * min(t - since, 20.0) - (1.0 - self.gain) * loss
            counts -= np.rint(away).astype(np.int16)

        return spoil


WORLDS = {
    "damp trail of 35 %": Surroundings(trail=0.35),
    "damp trail of 50 %": Surroundings(trail=0.5),
    "a third stays": Surroundings(remainder=0.33),
    "drift of 3 counts/s": Surroundings(drift=3.0),
    "trail and drift": Surroundings(trail=0.35, drift=1.5),
    "wet cloth": Surroundings(spread=0.12, trail=0.2),
    "metal table": Surroundings(gain=0.6),
}


@dataclass
class Scene:
    """Strips, hands and a detector on virtual time. `spoil` may alter the counts of a scan (pads, strips) in place."""

    seed: int
    conditions: Conditions
    detector: HandDetector = field(default_factory=HandDetector)
    spoil: Callable[[float, np.ndarray], None] | None = None
    t: float = 0.0
    events: list[HandIn | HandOut] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.strips = TouchStrips(self.seed, self.conditions)
        self.left, self.right = Hand("hider"), Hand("hider")
        self.hands = [self.left, self.right, Hand("hitter")]
        self.rng = np.random.default_rng([self.seed, 1])
        self.t = float(self.rng.uniform(0.0, 1.0 / HZ))
        self.wait(1.0)

    def until(self, end: float) -> None:
        while self.t < end:
            self.t += 1.0 / HZ
            data = self.strips.read(self.t, self.hands)
            if data is not None:
                counts = np.frombuffer(data, "<u2").astype(np.int16).reshape(4, 3)
                if self.spoil is not None:
                    self.spoil(self.t, counts)
                self.events += self.detector.feed(Touch(self.t, counts))

    def wait(self, seconds: float) -> None:
        self.until(self.t + seconds)

    def pick(self, span: Span) -> float:
        return float(self.rng.uniform(*span))

    def hide(self, style: Style, order: Iterable[int], side: Side = "hider") -> list[tuple[int, str]]:
        """Act a whole hide; return its passes as they ought to be felt."""
        hand = self.hands[0] if side == "hider" else self.hands[2]
        sleeve = self.pick(style.sleeve)
        counts = self.pick(style.counts)
        for pad in order:
            way = HandStyle(self.pick(style.move), counts, self.pick(style.reach), sleeve)
            if style.habit == "brushing" and self.rng.random() < 0.6:  # to the edge of a pad, no farther
                brush = replace(way, reach_mm=-self.pick((75.0, 140.0)))
                self.until(hand.go_in(self.t, int(self.rng.integers(1, 5)), brush) + self.pick((0.0, 0.5)))
                self.until(hand.go_out(self.t) + self.pick(style.gap))
            if style.habit == "hesitant":
                edge = replace(way, reach_mm=-self.pick((75.0, 120.0)))
                self.until(hand.go_in(self.t, pad, edge) + self.pick((0.1, 2.0)))
            self.until(hand.go_in(self.t, pad, way) + self.pick(style.dwell))
            if style.habit == "two hands":  # this hand leaves its pad when the other one is under the next
                other = self.right if hand is self.left else self.left
                if other.pad is not None:
                    out = other.go_out(self.t)
                    self.until(out if self.rng.random() < 0.5 else self.t)
                hand = other
            else:
                self.until(hand.go_out(self.t))
                self.wait(self.pick(style.gap))
        for each in self.hands:
            if each.pad is not None:
                self.until(each.go_out(self.t))
            each.go_home(self.t)
        self.wait(1.0)
        return [(pad, side) for pad in order]


def told(events: Iterable[HandIn | HandOut]) -> tuple[Counter[tuple[int, str | None]], bool]:
    """Return the sure passes (pad, side) with how often, and whether any is unsure."""
    events = list(events)
    sure = Counter((e.pad, e.side) for e in events if isinstance(e, HandOut) and e.sure)
    return sure, any(not e.sure for e in events)


def verdict(events: list[HandIn | HandOut], truth: list[tuple[int, str]]) -> str:
    """Return `exact`, `no side` (but for a side not told), `unsure` or `wrong`."""
    sure, unsure = told(events)
    if sure == Counter(truth):
        return "exact"
    pads = Counter(pad for pad, _ in truth)
    if Counter(e.pad for e in events if isinstance(e, HandOut) and e.sure) == pads:
        sides = {side for _, side in truth} | {None}
        return "no side" if all(side in sides for _, side in sure) else "wrong"
    sided = Counter({(pad, side): count for (pad, side), count in sure.items() if side is not None})
    return "unsure" if unsure or sided == Counter(truth) else "wrong"


def one(first: int, i: int) -> tuple[str, str, str, int]:
    """Play one hide: style and mat by turns; return both names, the verdict and the seed."""
    style, mat = list(STYLES)[i % len(STYLES)], list(MATS)[i // len(STYLES) % len(MATS)]
    scene = Scene(first + i, MATS[mat])
    scene.wait(float(scene.rng.uniform(0.0, 8.0)))
    order = [int(pad) for pad in scene.rng.permutation(4) + 1]
    side: Side = "hider" if style == "two hands" or scene.rng.random() < 0.75 else "hitter"
    truth = scene.hide(STYLES[style], order, side)
    return style, mat, verdict(scene.events, truth), first + i


def one_in_world(first: int, i: int) -> tuple[str, str, str, int]:
    """Play one hide in worse surroundings; return style, world, verdict and seed."""
    style, world = list(STYLES)[i % 3], list(WORLDS)[i // 3 % len(WORLDS)]
    scene = Scene(first + i, Conditions.drums())
    scene.spoil = WORLDS[world].make_spoiler(scene)
    order = [int(pad) for pad in scene.rng.permutation(4) + 1]
    truth = scene.hide(STYLES[style], order)
    scene.wait(9.0)
    return style, world, "stuck" if scene.detector.occupied_pads else verdict(scene.events, truth), first + i


def main() -> int:
    """Print the table; the exit status is 1 when a hide was silently wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hides", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--worlds", action="store_true")
    asked = parser.parse_args()
    play, names = (one_in_world, [*list(STYLES)[:3], *WORLDS]) if asked.worlds else (one, [*STYLES, *MATS])
    tally: dict[str, Counter[str]] = {name: Counter() for name in [*names, "all"]}
    odd: list[tuple[str, str, str, int]] = []
    began = time.perf_counter()
    with Pool(asked.processes) as pool:
        for n, (style, mat, said, seed) in enumerate(
            pool.imap_unordered(partial(play, asked.first), range(asked.hides), chunksize=6), 1
        ):
            for name in (style, mat, "all"):
                tally[name][said] += 1
            if said != "exact":
                odd.append((said, style, mat, seed))
            if n % 50 == 0 or n == asked.hides:
                print(f"\r{n} of {asked.hides} hides, {dict(tally['all'])}", end="", file=sys.stderr, flush=True)
    print(f"\n{'':20}{'exact':>8}{'no side':>9}{'unsure':>8}{'silently wrong':>16}{'stuck':>7}")
    for name, count in tally.items():
        figures = f"{count['exact']:>8}{count['no side']:>9}{count['unsure']:>8}{count['wrong']:>16}{count['stuck']:>7}"
        print(f"{name:20}{figures}")
    for said, style, mat, seed in sorted(odd):
        print(f"{said}: {style} on a {mat} mat, seed {seed}")
    exact = tally["all"]["exact"] / max(asked.hides, 1)
    print(f"{100 * exact:.2f} % exact, {time.perf_counter() - began:.0f} s")
    return 1 if tally["all"]["wrong"] or tally["all"]["stuck"] else 0


if __name__ == "__main__":
    sys.exit(main())

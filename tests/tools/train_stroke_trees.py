"""Train trees that would confirm strokes: `python tests/tools/train_stroke_trees.py --out trees.json [--scenes 240]`.

It needs scikit-learn, which nothing else here needs: `pip install scikit-learn`. The detector has no trees: those of
240 scenes let 7 of 13 false strikes pass under drums that were 10 dB louder, but lost up to .9 % of the strokes, and
16 % where pads feel their neighbours at -15 dB. Whoever makes better scenes can measure their trees with this.

All that is learned is made here, from physics with random parameters: four pads with their modes, damping and foam, a
stick's contact, cross-talk, drums of many sizes through a floor that each pad feels in its own way, hands that press
and rub, voices, each pad's own noise floor, and the gain of either circuit. No recording is used. The same seed gives
the same file. Half of the scenes are for training, the others are counted. With `--recordings FOLDER` (laid out as in
`strike_recordings`) four-pad recordings are scored with and without the trees, too; they are never trained on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import strike_recordings
from scipy import signal
from strike_recordings import GAIN_DB, Score, as_board, four_pads

from pi_controller.sensing.strike_settings import StrikeSettings
from pi_controller.sensing.strikes import FLOOR_HOPS, MEAN_HOPS, REACH_HOPS, RISE_HOPS, STAND_HOPS, StrikeDetector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pi_controller.sensing.strikes import StrikeDecision

    Array = NDArray[np.float64]
    Node = float | list["int | float | Node"]  # a leaf, or [feature, threshold, node up to it, node above it]

RATE, BOARD_HZ = 8000, 4000
PADS, SECONDS = 4, 60.0
FULL = 32768.0
NOISE = 4.8
"""Counts rms of the board's sum of readings."""
PRE_S, POST_S, AGAIN_S = 0.005, 0.04, 0.3
TREES, LEAVES, RATE_OF_LEARNING = 60, 12, 0.12
SHARES = (0.3, 0.5)
LOWER_DB = 3.0
"""The detector's thresholds are so much lower for training: what is just below them teaches most."""
TOUCHED = 8.0  # times the floor: something touches the pad
LATELY = 24  # hops in which the first touch is looked for
EARLIER = 120  # hops before the stroke in which a softer one may have touched another pad
HISTORY = REACH_HOPS + EARLIER
USUAL_RANK, USUAL_BLOCKS = 0.9, 96  # of the loudest hops of three seconds
TINY = 1e-12


@dataclass
class Pad:
    """One pad: its modes, as struck, and what it feels of the floor."""

    hz: Array
    fade_s: Array
    weight: Array
    floor: Array
    """Impulse response from the floor to this pad."""
    noise: float


@dataclass
class Scene:
    """A minute of four pads: samples (n, pads) as the board sends them, and the strokes (time, pad 0 first)."""

    samples: Array
    strokes: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])


class Maker:
    """Makes one scene."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.x = np.zeros((round(SECONDS * RATE), PADS))
        like = self.rng.random() < 0.5
        first = self._pad()
        self.pads = [first, *(self._like(first) if like else self._pad() for _ in range(PADS - 1))]
        self.strokes: list[tuple[float, int]] = []
        self.gain = 10 ** (self.rng.choice([0.0, 11.8]) / 20)

    def _log(self, low: float, high: float, n: int | None = None) -> Array:
        return np.exp(self.rng.uniform(np.log(low), np.log(high), n))

    def _pad(self) -> Pad:
        n = int(self.rng.integers(4, 13))
        lowest = self._log(80, 350)
        hz = np.sort(np.minimum(lowest * self._log(1.0, 12.0, n), 3500.0))
        hz[0] = lowest
        fade = self._log(0.004, 0.06) * (hz[0] / hz) ** self.rng.uniform(0.2, 1.0) * self._log(0.6, 1.6, n)
        weight = self._log(0.2, 1.0, n) * (hz / hz[0]) ** self.rng.uniform(-0.8, 0.4) * self.rng.choice([-1, 1], n)
        return Pad(hz, fade, weight, self._floor(), self._log(0.7, 3.5) if self.rng.random() < 0.5 else 1.0)

    def _like(self, pad: Pad) -> Pad:
        """Return a pad of the same make."""
        n = len(pad.hz)
        noise = self._log(0.7, 3.5) if self.rng.random() < 0.5 else 1.0
        return Pad(
            pad.hz * self._log(0.95, 1.05, n),
            pad.fade_s * self._log(0.8, 1.25, n),
            pad.weight * self._log(0.7, 1.4, n),
            self._floor(),
            noise,
        )

    def _floor(self) -> Array:
        """Return what a pad feels of a blow on the floor: some modes, a little later, each pad its own."""
        n = int(self.rng.integers(6, 20))
        hz, fade = self._log(40, 1800, n), self._log(0.003, 0.05, n)
        weight = (hz / 100.0) ** self.rng.uniform(-1.6, -0.3) * self._log(0.3, 1.0, n)
        late = round(self.rng.uniform(0, 0.003) * RATE)
        return np.concatenate((np.zeros(late), self._ring(hz, fade, weight, 0.12))) * self._log(0.6, 1.6)

    def _ring(self, hz: Array, fade: Array, weight: Array, seconds: float) -> Array:
        t = np.arange(round(seconds * RATE)) / RATE
        waves = np.exp(-t / fade[:, None]) * np.sin(
            2 * np.pi * hz[:, None] * t + self.rng.uniform(0, 0.6, (len(hz), 1))
        )
        return weight @ waves

    def _contact(self, shortest_s: float, longest_s: float) -> Array:
        """Return the force of a contact: rises and falls, sometimes bounces."""
        n = max(2, round(self._log(shortest_s, longest_s) * RATE))
        force = np.sin(np.pi * (np.arange(n) + 0.5) / n) ** self.rng.uniform(1.0, 2.0)
        if self.rng.random() < 0.25:
            again = np.zeros(n + round(self.rng.uniform(0.002, 0.012) * RATE))
            again[-n:] = force * self.rng.uniform(0.1, 0.6)
            again[:n] += force
            return again
        return force

    def _add(self, t: float, pad: int, shape: Array) -> None:
        at = round(t * RATE)
        part = shape[max(0, -at) : len(self.x) - at]
        self.x[max(0, at) : max(0, at) + len(part), pad] += part

    def _hit(self, t: float, pad: int, peak_db: float, force: Array) -> None:
        """Make the pad ring with this force to a peak in dB of full scale, and its neighbours later and weaker."""
        own = self.pads[pad]
        bend = self._log(0.5, 2.0, len(own.hz))  # another place on the plate
        ring = signal.fftconvolve(self._ring(own.hz, own.fade_s, own.weight * bend, 0.35), force)
        peak = 10 ** (peak_db / 20)
        ring *= peak / np.abs(ring).max()
        self._add(t, pad, ring)
        heard = self.rng.uniform(13, 45)
        for other in range(PADS):
            if other != pad:
                away = abs(other - pad)
                theirs = self.pads[other]
                rocks = self._ring(theirs.hz, theirs.fade_s * self._log(1, 3), theirs.weight, 0.3)
                through = signal.fftconvolve(ring[: round(0.06 * RATE)], rocks)
                through *= peak * 10 ** (-(heard + self.rng.uniform(0, 5) * away) / 20) / np.abs(through).max()
                self._add(t + self.rng.uniform(0.0004, 0.005) * away, other, through)

    def strike(self) -> None:
        """Strike pads every second or so, from a feather's weight to the rail."""
        t = 1.5
        while t < SECONDS - 1.0:
            pad, level = int(self.rng.integers(PADS)), self.rng.uniform(-60, -8)
            at = t
            if self.rng.random() < 0.12:  # the pole brushes one pad and then hits the next
                after = self.rng.uniform(0.004, 0.04)
                self._hit(at + after, (pad + 1) % PADS, level + self.rng.uniform(-6, 6), self._contact(0.0004, 0.004))
            self._hit(at, pad, level, self._contact(0.0003, 0.004))
            self.strokes.append((at, pad))
            t += self.rng.uniform(0.6, 1.8)

    def drum(self) -> None:
        """Let up to three drums be beaten, felt through the floor."""
        if self.rng.random() < 0.15:
            return
        loud = self.rng.uniform(-54, -18)
        for _ in range(int(self.rng.integers(1, 4))):
            force = np.zeros(len(self.x))
            every = self._log(0.16, 0.9)
            skin = self._log(45, 180)
            modes = skin * np.array([1.0, 1.59, 2.14, 2.3, 2.65, 2.92, 3.6, 4.6])
            fades = self._log(0.02, 0.25) / np.sqrt(modes / skin)
            slope = self.rng.uniform(-1.5, -0.2)
            click = self._log(0.003, 0.5)
            t = self.rng.uniform(0, every)
            while t < SECONDS - 0.4:
                blow = self._ring(modes, fades, (modes / skin) ** slope * self._log(0.6, 1.6, len(modes)), 0.3)
                short = self._contact(0.0003, 0.004)
                blow[: len(short)] += click * short * np.abs(blow).max() * self._log(0.5, 2.0)
                at = round(t * RATE)
                force[at : at + len(blow)] += blow * self._log(0.4, 1.6)
                t += every * (self._log(0.97, 1.03) if self.rng.random() < 0.9 else 0.5)
            felt = np.stack([signal.fftconvolve(force, pad.floor)[: len(force)] for pad in self.pads], axis=1)
            peaks = np.abs(felt).reshape(-1, round(0.5 * RATE), PADS).max(axis=1)
            self.x += felt * 10 ** ((loud + self.rng.uniform(-6, 0)) / 20) / np.median(peaks.mean(axis=1))

    def hands(self) -> None:
        """Let hands bump, press and rub pads."""
        for _ in range(int(self.rng.integers(0, 24))):
            t, pad = self.rng.uniform(1, SECONDS - 3), int(self.rng.integers(PADS))
            n = round(self.rng.uniform(0.05, 0.3) * RATE)
            swell = np.sin(np.pi * np.arange(n) / n) ** 2
            self._add(t, pad, swell * self.rng.choice([-1, 1]) * 10 ** (self.rng.uniform(-50, -26) / 20))
            n = round(self.rng.uniform(0.2, 1.5) * RATE)
            cloth = signal.sosfilt(
                signal.butter(2, [self._log(60, 150), self._log(400, 1500)], "bandpass", fs=RATE, output="sos"),
                self.rng.normal(0, 1, n),
            )
            cloth *= np.minimum(1.0, np.minimum(np.arange(n), np.arange(n)[::-1]) / (0.05 * RATE))
            self._add(t + 0.1, pad, cloth / cloth.std() * 10 ** (self.rng.uniform(-75, -52) / 20))

    def sing(self) -> None:
        """Let voices be felt by all pads."""
        if self.rng.random() < 0.5:
            return
        t = np.arange(len(self.x)) / RATE
        pitch = self._log(90, 350) * (1 + 0.02 * np.sin(2 * np.pi * self.rng.uniform(4, 6) * t))
        phase = 2 * np.pi * np.cumsum(pitch) / RATE
        wave = np.sum([np.sin(k * phase) / k ** self.rng.uniform(0.7, 1.5) for k in range(1, 7)], axis=0)
        sung = np.clip(np.sin(2 * np.pi * t * self.rng.uniform(0.1, 0.5)) * 3, 0, 1)
        level = 10 ** (self.rng.uniform(-85, -58) / 20)
        self.x += (wave * sung * level)[:, None] * self._log(0.4, 1.6, PADS)

    def make(self) -> Scene:
        """Return the scene as the board sends it."""
        self.strike()
        self.drum()
        self.hands()
        self.sing()
        low, high = (110.0, 1400.0)
        x = signal.sosfilt(signal.butter(1, low, "highpass", fs=RATE, output="sos"), self.x, axis=0)
        x = signal.sosfilt(signal.butter(1, high, "lowpass", fs=RATE, output="sos"), x, axis=0)
        x *= 1.3 * self.gain  # the passband's own gain
        board = x.reshape(-1, RATE // BOARD_HZ, PADS).mean(axis=1) * FULL
        board += self.rng.normal(0, NOISE, board.shape)
        for k, pad in enumerate(self.pads):
            if pad.noise > 1.0:  # a pad of more noise in the detector's bands
                board[:, k] += self.rng.normal(0, NOISE * np.sqrt(pad.noise**2 - 1), len(board))
        return Scene(np.rint(np.clip(board, -FULL, FULL - 1)), self.strokes)


def describe_stroke(p: Array, e: Array, floor: Array, usual: Array, least: float, pad: int) -> list[float]:
    """The features of a stroke on `pad` (0 first) that is decided in the last hop.

    `p` (bands, pads, hops) is the energy of each hop, `e` that of two; `floor` (bands, pads) and the smallest one
    `least` are the detector's, `usual` (bands, pads, blocks) the loudest hops of the blocks of the last seconds.
    """
    peak, mean = e[:, :, -REACH_HOPS:].max(axis=2) + TINY, p[:, :, -MEAN_HOPS:].mean(axis=2) + TINY
    before = e[:, :, -REACH_HOPS - STAND_HOPS : -REACH_HOPS]
    risen = np.maximum(before[:, :, -RISE_HOPS:].max(axis=2), least)
    stood = np.maximum(quantile(before, 0.75), least)
    slow = np.maximum(quantile(usual, USUAL_RANK), floor)
    ratios = to_db(np.stack((peak / floor, mean / floor, peak / risen, peak / stood, peak / slow, peak, mean)))
    others = np.delete(ratios, pad, axis=2)
    own, lead = ratios[:, :, pad], ratios[:, :, pad] - others.max(axis=2)
    now = to_db((e[:, pad, -1] + TINY) / peak[:, pad])
    above_mean = mean[:, pad] / np.delete(mean / floor, pad, axis=1).mean(axis=1) / floor[:, pad]
    return [
        *own[:5].ravel().tolist(),
        *lead[[0, 1, 2, 4, 5, 6]].ravel().tolist(),
        *to_db(above_mean).tolist(),
        *to_db(floor[:, pad]).tolist(),
        *now.tolist(),
        *first_touches(e[:, :, -LATELY:], floor, pad),
        *earlier_leads(e[:, :, -REACH_HOPS - EARLIER : -REACH_HOPS], floor, pad),
    ]


def to_db(ratio: Array) -> Array:
    return 10.0 * np.log10(ratio)


def quantile(x: Array, rank: float) -> Array:
    at = int(rank * (x.shape[2] - 1))
    return np.partition(x, at, axis=2)[:, :, at]


def first_touches(e: Array, floor: Array, pad: int) -> tuple[float, float, float]:
    """Return how many hops ago the pad was touched, the first other one was, and the difference."""
    touched = (e > TOUCHED * floor[:, :, None]).any(axis=0)
    ago = np.where(touched.any(axis=1), e.shape[2] - touched.argmax(axis=1), 0)
    own, other = float(ago[pad]), float(np.delete(ago, pad).max())
    return own, other, own - other


def earlier_leads(e: Array, floor: Array, pad: int) -> tuple[float, float]:
    """Return the largest lead, dB, of an earlier touch of the pad, and of another one."""
    above = e / floor[:, :, None]
    second, first = np.partition(above, -2, axis=1)[:, -2:].swapaxes(0, 1)
    lead = np.where((above == first[:, None]) & (above > TOUCHED), above / (second[:, None] + TINY), 1.0)
    most = to_db(lead.max(axis=(0, 2)))
    return float(most[pad]), float(np.delete(most, pad).max())


class Listener(StrikeDetector):
    """The shipped detector, which keeps the features of what it finds, or drops what the trees do not confirm."""

    trees: tuple[float, list[Node]] | None = None
    least_odds = 0.0

    def _restart(self) -> None:
        super()._restart()
        self._loudest = deque(maxlen=USUAL_BLOCKS)
        self.described: list[list[float]] = []

    def _update_floor(self, hop: int) -> None:
        super()._update_floor(hop)
        at = hop - self._base
        self._loudest.append(self._e[:, :, at - FLOOR_HOPS : at].max(axis=2))

    def _judge(self, hop: int, floor: Array) -> StrikeDecision | None:
        found, end = super()._judge(hop, floor), hop + 1 - self._base
        if found is None or end < HISTORY:
            return None
        past = self._p[:, :, end - HISTORY : end], self._e[:, :, end - HISTORY : end]
        row = describe_stroke(*past, floor, np.stack(self._loudest, axis=2), self._least, found.pad - 1)
        if self.trees is not None and log_odds(*self.trees, row) <= self.least_odds:
            return None
        self.described.append(row)
        return found


def lower_thresholds(by_db: float) -> StrikeSettings:
    """The shipped settings with lower thresholds."""
    s = StrikeSettings()
    names = ("peak_db", "mean_db", "rise_db", "stand_db", "dominance_db")
    return replace(s, **{name: getattr(s, name) - by_db for name in names})


def log_odds(start: float, trees: Sequence[Node], features: Sequence[float]) -> float:
    """The log of the odds that the stroke with these features was made."""
    total = start
    for tree in trees:
        node = tree
        while isinstance(node, list):
            node = node[2] if features[node[0]] <= node[1] else node[3]
        total += node
    return total


def find_candidates(scene: Scene, lower_db: float) -> tuple[list[list[float]], list[bool], list[float]]:
    """Return the features of what the detector finds, whether it is a stroke on that pad, and its margin."""
    listener = Listener(BOARD_HZ, PADS, FULL, lower_thresholds(lower_db))
    found = listener.feed_samples(scene.samples) + listener.finish()
    assert len(found) == len(listener.described)
    rows, made, margins = [], [], []
    for d, row in zip(found, listener.described, strict=True):
        t = d.decided_index / BOARD_HZ
        near = [pad for at, pad in scene.strokes if at - PRE_S <= t <= at + POST_S]
        if near or not any(at < t <= at + AGAIN_S for at, _ in scene.strokes):
            rows.append(row)
            made.append(d.pad - 1 in near)
            margins.append(d.margin_db)
    return rows, made, margins


def to_node(nodes: NDArray, at: int, scale: float = 1.0) -> Node:
    """Return the node as nested lists."""
    node = nodes[at]
    if node["is_leaf"]:
        return round(float(node["value"]) * scale, 3)
    low, high = to_node(nodes, node["left"], scale), to_node(nodes, node["right"], scale)
    return [int(node["feature_idx"]), round(float(node["num_threshold"]), 2), low, high]


def train(x: Array, y: NDArray[np.bool_], seed: int) -> tuple[float, list[Node]]:
    """Return the start and the trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # of this program alone

    model = HistGradientBoostingClassifier(
        max_iter=TREES, max_leaf_nodes=LEAVES, learning_rate=RATE_OF_LEARNING, min_samples_leaf=30,
        l2_regularization=5.0, early_stopping=False, random_state=seed,
    )  # fmt: skip
    model.fit(x, y)
    start = round(float(model._baseline_prediction.item()), 3)
    return start, [to_node(stage[0].nodes, 0) for stage in model._predictors]


def show_held(x: Array, y: NDArray[np.bool_], margin: Array, trees: tuple[float, list[Node]]) -> None:
    """Print how many strokes and false ones of the scenes that were not trained on pass."""
    odds = np.array([log_odds(*trees, row) for row in x.tolist()])
    for lower_db in (1.0, 0.0):
        over = margin > LOWER_DB - lower_db
        line = [f"thresholds -{lower_db:g} dB: {(y & over).sum()} strokes, {(~y & over).sum()} false"]
        for share in SHARES:
            passed = over & (odds > np.log(share / (1 - share)))
            line.append(f"trees > {share}: {(y & passed).sum()}, {(~y & passed).sum()}")
        print("; ".join(line))


def show_recordings(folder: Path, board: str, trees: tuple[float, list[Node]]) -> None:
    """Print how the recordings of four pads are scored with the trees and without."""
    recordings = [as_board(r, board, n) for n, r in enumerate(four_pads(folder))]
    strike_recordings.StrikeDetector = Listener
    for lower_db in (0.0, 1.0):
        for share in (None, *SHARES):
            Listener.trees = None if share is None else trees
            Listener.least_odds = 0.0 if share is None else float(np.log(share / (1 - share)))
            score = sum((r.score(lower_thresholds(lower_db)) for r in recordings), Score())
            print(
                f"{board} -{lower_db:g} dB, trees > {share}: right {score.recall:.4f}, false {score.false}", flush=True
            )


def main(argv: Sequence[str]) -> int:
    """Train, write and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scenes", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--recordings", type=Path)
    parser.add_argument("--board", choices=sorted(GAIN_DB), default="passive")
    args = parser.parse_args(argv)
    x, y, margins, halves = list[list[float]](), list[bool](), list[float](), list[int]()
    for n in range(args.scenes):
        rows, made, margin = find_candidates(Maker(10_000 * args.seed + n).make(), LOWER_DB)
        x, y, margins, halves = x + rows, y + made, margins + margin, halves + [n % 2] * len(rows)
        print(f"\r{n + 1} of {args.scenes} scenes", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    features, truth, held = np.array(x), np.array(y), np.array(halves) == 1
    trees = train(features[~held], truth[~held], args.seed)
    text = json.dumps({"start": trees[0], "trees": trees[1]}, separators=(",", ":"))
    args.out.write_text(text + "\n", "utf-8")
    print(f"{len(text)} bytes, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}")
    show_held(features[held], truth[held], np.array(margins)[held], trees)
    if args.recordings:
        show_recordings(args.recordings, args.board, trees)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

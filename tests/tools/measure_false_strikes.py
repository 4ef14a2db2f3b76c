"""Count the strikes that a game would take wrongly, in hours of simulated pow wow.

    python tests/tools/measure_false_strikes.py --hours 2 [--board passive] [--recordings FOLDER] [--seed 1]

Each game of four minutes has the drums of one level of the four-pad scenes, cut between the strokes, joined anew, and
changed in tempo, pitch, level and order of the pads. Hides with presses, bumps and rubbed cloth alternate with waits
for one or two hits, which are strokes of the quiet scenes. In one wait of seven a hider's hand goes under a pad. All of
it passes the board's circuit and converter, then `MatSensors`, with the simulated touch strips; strikes are reported
only while a hit is due, as the daemon does it.

A strike counts as *false* if it is reported in a wait, belongs to no stroke, and no hand at its pad explains it to the
referee. Games go on after a false strike, and a hit is due until the last stroke is felt, or 0.6 s after it. Status 1
if a sure strike was false or on a wrong pad. FOLDER (or $STRIKE_RECORDINGS) is laid out as in `strike_recordings`.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import signal
from strike_recordings import BOARD_HZ, GAIN_DB, POST_S, Recording, as_board, four_pads

from pi_controller.board.messages import Piezo, Touch
from pi_controller.sensing.events import Strike
from pi_controller.sensing.sensors import MatSensors
from pi_controller.simulation.conditions import Conditions
from pi_controller.simulation.hand_motion import Hand, HandStyle
from pi_controller.simulation.touch_strips import TouchStrips

if TYPE_CHECKING:
    from collections.abc import Sequence

GAME_S = 240.0
RATE = 8000
FULL = 32768.0
LEVELS = ("drums50", "drums40", "drums30")
SCAN_S = 0.02
BLOCK = 64
FADE_S = 0.3
"""Parts fade into each other so slowly that no join looks like a stroke."""
RING_S = 0.6
"""A stroke has died away by then, and what follows is drums alone."""
LEAD_S = 0.15
EARLY_S = 0.01
"""A stroke may be felt so long before its label: with the ring of what came before, its start is told too early."""
TEMPOS = ((1, 1), (8, 9), (9, 8), (10, 11), (11, 10))
BUMP_DB, PRESS_DB, RUB_DB = -40.0, -38.0, -55.0
"""Peak of a hand's bump and of its press, rms of rubbed cloth, of full scale: as the simulated mat with drums."""


@dataclass
class Tally:
    """Counts; they can be added."""

    hours: float = 0.0
    waited: float = 0.0
    strokes: int = 0
    right: int = 0
    other_sure: int = 0
    other_unsure: int = 0
    false_sure: int = 0
    false_unsure: int = 0
    by_hand: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def show(self, name: str) -> None:
        """Print one row."""
        print(
            f"{name:<10}{self.hours:6.2f} h, hit due {self.waited:5.2f} h  strokes {self.strokes:>5}  right "
            f"{self.right / max(1, self.strokes):.3f}  other pad {self.other_sure} sure, {self.other_unsure} unsure  "
            f"false an hour {self.false_sure / self.hours:.2f} sure, {self.false_unsure / self.hours:.2f} unsure "
            f"({self.false_sure}, {self.false_unsure})  by hand {self.by_hand}",
            flush=True,
        )


@dataclass
class Wait:
    """A time in which a hit is due: from `start` until the last of `strokes` (time, pad)."""

    start: float
    strokes: list[tuple[float, int]]
    felt: set[float] = field(default_factory=set)

    @property
    def over_at(self) -> float:
        """Return when the hit is due no more."""
        last = self.strokes[-1][0]
        return last + (POST_S if last in self.felt else RING_S)


def cut_drums(scenes: Sequence[Recording], level: str) -> list[np.ndarray]:
    """Return what lies between the strokes of the scenes of a level, each part (n, pads)."""
    parts = []
    for scene in (each for each in scenes if each.level == level):
        starts = [0.0, *(t + RING_S for t, *_ in scene.strokes)]
        ends = [*(t - 0.03 for t, *_ in scene.strokes), len(scene.samples) / RATE]
        parts += [scene.samples[round(a * RATE) : round(b * RATE)] for a, b in zip(starts, ends, strict=True)]
    return [part for part in parts if len(part) > 3 * FADE_S * RATE]


def cut_strokes(scenes: Sequence[Recording]) -> list[tuple[np.ndarray, int]]:
    """Return the strokes of the quiet scenes from `LEAD_S` before: (n, pads) and the column of the pad struck."""
    n, before = round((LEAD_S + RING_S) * RATE), round(LEAD_S * RATE)
    ends = np.minimum(np.arange(n) / (0.8 * before), (n - np.arange(n)) / (0.2 * RATE))
    fade = np.sin(np.clip(ends, 0.0, 1.0) * np.pi / 2)[:, None] ** 2
    cut = []
    for scene in (each for each in scenes if each.level == "quiet"):
        for t, pad, _ in scene.strokes:
            at = round(t * RATE) - before
            if at >= 0 and at + n <= len(scene.samples):
                cut.append((scene.samples[at : at + n] * fade, pad - 1))
    return cut


def is_single(shape: np.ndarray, own: int) -> bool:
    """Return True if the pad of the column `own` alone was struck; in some strokes a second pad follows."""
    peaks = np.abs(shape).max(axis=0)
    return bool(peaks[own] > 4.0 * np.delete(peaks, own).max())


class Game:
    """One game of `GAME_S`: what the board samples, the touch scans, and when hits are due."""

    def __init__(self, seed: int, drums: Sequence[np.ndarray], strokes: Sequence[tuple[np.ndarray, int]]) -> None:
        self.rng = np.random.default_rng(seed)
        self.x = self._join(drums)
        self.strokes = strokes
        self.conditions = Conditions.drums()
        self.strips, self.hand = TouchStrips(seed, self.conditions), Hand("hider")
        self.scans: list[Touch] = []
        self.waits: list[Wait] = []
        self.t = 0.0
        self._scan_until(2.0)
        while self.t < GAME_S - 45.0:
            self._hide()
            self._hit()

    def _join(self, drums: Sequence[np.ndarray]) -> np.ndarray:
        """Return the drum track: the parts in random order, with one tempo, level and order of pads."""
        up, down = TEMPOS[self.rng.integers(len(TEMPOS))]
        gain, order, fade = 10 ** (self.rng.uniform(-3, 3) / 20), self.rng.permutation(4), round(FADE_S * RATE)
        x, at, ramp = np.zeros((round(GAME_S * RATE), 4)), 0, np.sin(np.linspace(0.0, np.pi / 2, fade))[:, None] ** 2
        while at < len(x) - fade:
            part = drums[self.rng.integers(len(drums))][:, order]
            part = gain * (part if up == down else signal.resample_poly(part, up, down, axis=0))
            part[:fade] *= ramp
            part[-fade:] *= ramp[::-1]
            n = min(len(part), len(x) - at)
            x[at : at + n] += part[:n]
            at += len(part) - fade
        return x

    def _pick(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def _scan_until(self, end: float) -> None:
        while self.t < end:
            self.t += SCAN_S
            data = self.strips.read(self.t, [self.hand])
            if data is not None:
                self.scans.append(Touch(self.t, np.frombuffer(data, "<u2").astype(np.int16).reshape(4, 3)))

    def _add(self, t: float, pad: int, shape: np.ndarray) -> None:
        """Add a sound (n,) to one pad, or (n, pads) to all."""
        at = round(t * RATE)
        target = self.x[at : at + len(shape)]
        if shape.ndim == 1:
            target[:, pad - 1] += shape[: len(target)]
        else:
            target += shape[: len(target)]

    def _strike(self, t: float, pad: int, peak_db: float | None = None) -> None:
        """Add a recorded stroke on `pad`, as loud as it was within 3 dB, or with a peak of `peak_db`."""
        usable = self.strokes if peak_db is None else [each for each in self.strokes if is_single(*each)]
        shape, own = usable[self.rng.integers(len(usable))]
        others = self.rng.permutation([k for k in range(4) if k != own]).tolist()
        others.insert(pad - 1, own)
        gain = 10 ** (self._pick(-3, 3) / 20)
        if peak_db is not None:
            gain = FULL * 10 ** (peak_db / 20) / np.abs(shape[:, own]).max()
        self._add(t - LEAD_S, pad, gain * shape[:, others])

    def _press(self, t: float, pad: int) -> None:
        """Add a press on the plate by a moving hand: slow, without a ring."""
        n = round(self._pick(0.05, 0.16) * RATE)
        swell = np.sin(np.pi * np.arange(n) / n) ** 2
        self._add(t, pad, self.rng.choice([-1, 1]) * FULL * 10 ** (PRESS_DB / 20) * swell)

    def _visit(self, pad: int) -> None:
        """Put the hider's hand under `pad` and take it out, with all that the pad feels of it."""
        style = HandStyle(self._pick(0.2, 0.6), self._pick(28.0, 70.0), self._pick(30.0, 100.0))
        started, arrived = self.t, self.hand.go_in(self.t, pad, style)
        # the fingers reach the pad's edge at two thirds of the way
        self._strike(arrived - self._pick(0.05, 0.3) * (arrived - started), pad, self._pick(-12, 0) + BUMP_DB)
        self._press(arrived - 0.1, pad)
        leaves = arrived + self._pick(0.25, 1.5)
        n = round((leaves - arrived) * RATE)
        rub = signal.lfilter(*signal.butter(2, [80, 600], "bandpass", fs=RATE), self.rng.normal(0, 1, n))
        swell = np.minimum(1.0, np.minimum(np.arange(n), np.arange(n)[::-1]) / (0.1 * RATE))
        self._add(arrived, pad, swell * rub * FULL * 10 ** (RUB_DB / 20) / max(float(rub.std()), 1e-9))
        self._press(leaves - 0.05, pad)
        self._scan_until(leaves)
        self._scan_until(self.hand.go_out(self.t) + self._pick(0.06, 0.4))

    def _hide(self) -> None:
        for _ in range(self.rng.integers(4, 9)):
            self._visit(int(self.rng.integers(1, 5)))
        self.hand.go_home(self.t)
        self._scan_until(self.t + self._pick(0.6, 1.5))

    def _hit(self) -> None:
        """Wait for one hit or two."""
        start, strokes, peek = self.t, list[tuple[float, int]](), self.rng.random() < 1 / 7
        for _ in range(1 if self.rng.random() < 0.5 else 2):
            self._scan_until(self.t + self._pick(2.0, 10.0))
            if peek:
                self._visit(int(self.rng.integers(1, 5)))
                self.hand.go_home(self.t)
                self._scan_until(self.t + self._pick(1.0, 3.0))
                peek = False
            pad = int(self.rng.integers(1, 5))
            strokes.append((self.t, pad))
            self._strike(self.t, pad)
        self.waits.append(Wait(start, strokes))
        self._scan_until(self.t + self._pick(3.0, 7.0))

    def count(self, circuit: str, seed: int) -> Tally:
        """Play the game behind the circuit; return what was felt."""
        span = [(0.0, len(self.x) / RATE)]
        made = Recording("", np.clip(self.x, -FULL, FULL - 1), float(RATE), FULL, [], [], span)
        samples = as_board(made, circuit, seed).samples.astype(np.int16)
        sensors, tally = MatSensors(), Tally(hours=len(samples) / BOARD_HZ / 3600)
        sensors.reporting_enabled = False
        scans, waits = iter(self.scans), iter(self.waits)
        scan, wait = next(scans, None), next(waits, None)
        for first in range(0, len(samples), BLOCK):
            t, end = first / BOARD_HZ, (first + BLOCK) / BOARD_HZ
            if wait is not None and t >= wait.over_at:
                tally.waited += (t - wait.start) / 3600
                tally.strokes += len(wait.strokes)
                wait = next(waits, None)
            due = wait is not None and t >= wait.start
            if sensors.reporting_enabled != due:
                sensors.reporting_enabled = due
            events = sensors.feed(Piezo(t, first, float(BOARD_HZ), samples[first : first + BLOCK], int(FULL)))
            while scan is not None and scan.t <= end:
                events += sensors.feed(scan)
                scan = next(scans, None)
            for event in events:
                if isinstance(event, Strike) and wait is not None and due:
                    self._judge(event, wait, sensors, tally)
        return tally

    def _judge(self, strike: Strike, wait: Wait, sensors: MatSensors, tally: Tally) -> None:
        """Count one strike reported in a wait."""
        belongs = ((t, pad) for t, pad in wait.strokes if t not in wait.felt and -EARLY_S <= strike.t - t <= POST_S)
        t, pad = next(belongs, (None, 0))
        if t is not None:
            wait.felt.add(t)
            right = strike.pads[0] == pad
            tally.right += right
            tally.other_sure += strike.sure and not right
            tally.other_unsure += not strike.sure and not right
        elif strike.hand in {"hider", "unclear"} or any(each in sensors.hands.occupied_pads for each in strike.pads):
            tally.by_hand += 1
        else:
            tally.false_sure += strike.sure
            tally.false_unsure += not strike.sure


def main(argv: Sequence[str]) -> int:
    """Print the figures for each level of drums; return 1 if a sure strike was false or on a wrong pad."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=Path, default=os.environ.get("STRIKE_RECORDINGS", "recordings/strikes"))
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--board", choices=sorted(GAIN_DB), default="passive")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    if not (args.recordings / "four.csv").exists():
        parser.error(f"there are no recordings in {args.recordings}")
    scenes = four_pads(args.recordings)
    strokes, drums = cut_strokes(scenes), {level: cut_drums(scenes, level) for level in LEVELS}
    tallies = dict.fromkeys(LEVELS, Tally())
    games = max(1, round(args.hours * 3600 / GAME_S))
    for n in range(games):
        level = LEVELS[n % len(LEVELS)]
        tallies[level] += Game(1000 * args.seed + n, drums[level], strokes).count(args.board, n)
        print(f"\r{n + 1} of {games} games", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for level, tally in tallies.items():
        if tally.hours:
            tally.show(level)
    total = sum(tallies.values(), Tally())
    total.show("all")
    return int(total.false_sure + total.other_sure > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

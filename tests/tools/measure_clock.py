"""How far the board's clock on the host's is off, for links that delay in different ways.

    python tests/tools/measure_clock.py

prints p50, p99 and the worst error in ms of each model, over ten minutes of pings from half a minute on, and the
least that any clock could promise there. One way's delay that is always longer than the other's cannot be told from
an offset: half the difference of the two shortest delays stays, whatever is done.
"""

import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pi_controller.board.clock import BoardClock

PING_S, BLOCK_S = 0.5, 0.008


def uniform(low, high):
    return lambda rng: rng.uniform(low, high)


def usual(rng):
    """A quiet host: the USB frame of 1 ms and the board's pass."""
    return 0.0003 + rng.uniform(0.0, 0.001) + rng.expovariate(1 / 0.0004)


def bursts(rng):
    """As usual, but one in ten waits for something else on the host, up to 50 ms."""
    return usual(rng) + (rng.uniform(0.0, 0.05) if rng.random() < 0.1 else 0.0)


class Stalls:
    """As usual, but now and then all is late for two seconds on end."""

    def __init__(self):
        self.left = 0

    def __call__(self, rng):
        if not self.left and rng.random() < 0.02:
            self.left = 4
        if self.left:
            self.left -= 1
            return usual(rng) + rng.uniform(0.02, 0.05)
        return usual(rng)


MODELS = {
    "usual USB": (usual, usual, 0.0),
    "uniform 0 to 5 ms": (uniform(0.0, 0.005), uniform(0.0, 0.005), 0.0),
    "bursts to 50 ms": (bursts, bursts, 0.0),
    "stalls of 2 s": (Stalls, usual, 0.0),
    "one way 1 ms, the other 0 to 10 ms": (uniform(0.001, 0.001), uniform(0.0, 0.010), 0.0005),
    "one way always 4 ms longer": (uniform(0.0, 0.001), uniform(0.004, 0.005), 0.002),
}
"""Name -> delay to the board, delay back (s, from a random generator), and the offset that must stay (s)."""


def errors(name, ppm, seed, minutes=10.0, settle_s=30.0):
    """Return the errors of each block's time (s), sorted by size, once it has settled."""
    there, back, _ = MODELS[name]
    there = there() if isinstance(there, type) else there
    rng = random.Random(seed)
    clock, slope, start = BoardClock(), 1 + ppm * 1e-6, 1000.0
    out, answers, next_ping = [], [], 0.0
    board = 0.0
    for step in range(round(minutes * 60 / BLOCK_S)):
        board = step * BLOCK_S
        true = start + board * slope
        if true - start >= next_ping:
            next_ping += PING_S
            reached = true + there(rng)
            came = reached + back(rng)
            if answers:
                came = max(came, answers[-1][1])  # a serial line keeps its order
            answers.append((true, came, (reached - start) / slope))
        while answers and answers[0][1] <= true:
            clock.take_pong(*answers.pop(0))
        if clock.known:
            got = clock.to_host(board, board + BLOCK_S)
            if board >= settle_s:
                out.append(abs(got - true))
    return sorted(out)


def figures(name, ppm, seed):
    """Return p50, p99 and the worst error (s)."""
    found = errors(name, ppm, seed)
    return found[len(found) // 2], found[len(found) * 99 // 100], found[-1]


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    print(f"{'delays':36} {'ppm':>5} {'p50':>7} {'p99':>7} {'worst':>7}   least, ms")
    for name, (_, _, least) in MODELS.items():
        for ppm in (-100, 0, 100):
            runs = [figures(name, ppm, seed) for seed in range(3)]
            p50, p99, worst = (1000 * max(column) for column in zip(*runs, strict=True))
            print(f"{name:36} {ppm:5} {p50:7.3f} {p99:7.3f} {worst:7.3f}   {1000 * least:.1f}")


if __name__ == "__main__":
    main()

"""How long a table works at the chances of winning before it plays, and how long one look-up takes then.

OMP_NUM_THREADS=1 python tests/benchmarks/chances_beside.py

Each game is solved in a process of its own: seconds with the solver's own loading, the most memory of that process,
and the mean look-up over the states of some random games in microseconds.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from typing import Any

CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("dakota", {}),
    ("dakota", {"points": 99}),
    ("plum_stone", {}),
    ("plum_stone", {"counters": 200}),
    ("bageswin", {}),
    ("bageswin", {"sticks": 500}),
    ("patol", {}),
)


def measure(name: str, settings: dict[str, Any]) -> None:
    """Solve one game and print a line about it."""
    from pi_controller.games import chances, registry

    game = registry.game(name, settings)
    begun = time.perf_counter()
    solved = chances.beside(game)
    took = time.perf_counter() - begun
    rng, sheets = random.Random(1), []
    while len(sheets) < 2000:
        state = game.opening()
        while not game.over(state) and len(sheets) < 2000:
            state, _ = game.play(state, rng.choice(game.legal_actions(state)))
            sheets.append(game.sheet(state))
    begun = time.perf_counter()
    for sheet in sheets:
        solved.of_sheet(sheet)
    look_up = (time.perf_counter() - begun) / len(sheets)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{name:<11}{settings!s:<18}{took:6.2f} s{most:5} MB{1e6 * look_up:7.1f} us a look-up", flush=True)


def main() -> None:
    """Measure every case."""
    if len(sys.argv) > 1:
        measure(sys.argv[1], json.loads(sys.argv[2]))
        return
    for name, settings in CASES:
        subprocess.run([sys.executable, __file__, name, json.dumps(settings)], check=True)


if __name__ == "__main__":
    main()

"""From the stroke to the lights, in real time: how long until the frame that shows a hit is handed to the strips?

python tests/benchmarks/latency.py [--hits 200] [--seed 1]

The simulated mat and its people run in a process of their own on the wall's clock, through the real firmware files and
a pseudo-terminal; the daemon of `run` sits in this one. The floor is what no program can go below: samples come in
blocks (on average half a block, at worst a whole one) and the detector's decision takes its window. A real USB link
adds its own, about a millisecond.
"""

import argparse
import json
import os
import queue
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from pi_controller.daemon import Daemon
from pi_controller.drivers.buttons import MockButtons
from pi_controller.drivers.serial_port import SerialPort
from pi_controller.drivers.strips import MemoryStrip
from pi_controller.games import registry
from pi_controller.mat.feel import Feel
from pi_controller.pinmap import pinmap
from pi_controller.referee.facts import Done
from pi_controller.referee.referee import Referee
from pi_controller.referee.settings import RefereeSettings
from pi_controller.sim.mat import SimMat
from pi_controller.sim.players import Players
from pi_controller.table.journal import Journal
from pi_controller.table.table import Table
from pi_controller.table.view import View

BLOCK_S = pinmap().board.block_samples / pinmap().board.sample_hz
WINDOW_S = 0.003


def be_the_mat(seed):
    """Play people on a mat in real time: views come in on standard input, presses and strokes go out."""
    import msgspec

    views = queue.SimpleQueue()
    threading.Thread(
        target=lambda: [views.put(msgspec.json.decode(line, type=View)) for line in sys.stdin.buffer], daemon=True
    ).start()

    def say(**what):
        print(json.dumps(what), flush=True)

    with SimMat(seed) as mat:
        say(device=mat.device)
        players = Players(seed, mat.world, lambda name: say(press=name), lambda call: None)
        begun = time.monotonic() - mat.world.t
        strike = mat.world.strike

        def struck(pad, level, also, also_after_s, after_s):
            say(onset=begun + mat.world.t + after_s)
            strike(pad, level, also, also_after_s, after_s)

        mat.world.strike = struck
        wait = threading.Event().wait
        while os.getppid() != 1:
            while not views.empty():
                players.watch(views.get())
            players.act(mat.world.t)
            wait(max(0.0, begun + mat.world.t + BLOCK_S - time.monotonic()))
            mat.advance(BLOCK_S)


class Watched(MemoryStrip):
    """Notes when it is handed a frame."""

    at = 0.0

    def show(self, frame):
        """Note the time, then show."""
        self.at = time.monotonic()
        super().show(frame)


def measure(hits, seed, folder):
    """Return (stroke to lights, seconds; the daemon's share of a core)."""
    import msgspec

    child = subprocess.Popen(
        [sys.executable, __file__, "--mat", "--seed", str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    device = json.loads(child.stdout.readline())["device"]
    heard = queue.SimpleQueue()
    threading.Thread(target=lambda: [heard.put(json.loads(line)) for line in child.stdout], daemon=True).start()
    game = registry.game("dakota", {"points": "99"})
    buttons, strip = MockButtons(), Watched(pinmap().lights.count)
    with Journal(Path(folder) / "j.sqlite") as journal:
        begun = time.monotonic()
        table = Table(journal, game, {"A": "A", "B": "B"}, Referee(game, RefereeSettings(), secrets.token_bytes), begun)
        seen, onset, latencies = journal.seq, None, []

        def publish(view):
            child.stdin.write(msgspec.json.encode(view) + b"\n")
            child.stdin.flush()

        daemon = Daemon(table, Feel(), lambda: SerialPort(device), buttons, strip, publish)
        cpu, begun = time.process_time(), time.monotonic()
        while len(latencies) < hits:
            daemon.step(time.monotonic())
            while not heard.empty():
                what = heard.get()
                if "press" in what:
                    buttons.press(what["press"], time.monotonic())
                onset = what.get("onset", onset)
            if journal.seq != seen:
                new = [fact for seq, _, fact in journal.records() if seq > seen] if onset is not None else []
                seen = journal.seq
                if any(isinstance(fact, Done) and fact.action["do"] == "hit" for fact in new):
                    latencies.append(strip.at - onset)
                    onset = None
            if daemon.port is not None:
                daemon.port.wait(0.01)
        share = (time.process_time() - cpu) / (time.monotonic() - begun)
        daemon.close()
    child.kill()
    child.communicate()
    return latencies, share


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mat", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.mat:
        return be_the_mat(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        latencies, share = measure(args.hits, args.seed, folder)
    p50, p99 = np.percentile(latencies, [50, 99]) * 1000
    print(f"{len(latencies)} hits, stroke to lights: p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    print(f"floor: half a block and the window {(BLOCK_S / 2 + WINDOW_S) * 1000:.1f} ms, a whole block and the window "
          f"{(BLOCK_S + WINDOW_S) * 1000:.1f} ms")  # fmt: skip
    print(f"the daemon's share of a core while playing: {share * 100:.1f} %")
    return None


if __name__ == "__main__":
    main()

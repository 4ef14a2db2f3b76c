"""From the stroke to the lights, in real time: how long until the frame that shows a hit is handed to the strips?

python tests/benchmarks/latency.py [--hits 100] [--rounds 3] [--seed 1] [--profile FILE]

All of `moccasin-mat run` plays in this process, as it does at a table: the port, the pages with one phone that watches,
the judge's console on a terminal, the lights. The simulated mat, its people, that phone and who looks at that terminal
are in a process of their own on the wall's clock, through the real firmware files and a pseudo-terminal. A real USB
link adds its own, about a millisecond. People take some five seconds over each hit, so a round takes minutes.

The floor is what no program can go below: the board writes samples in blocks, and the detector's decision takes its
window. So beside each stroke stands when the board had written the block in which that window ends. The touch strips,
which are asked whether it was a hand that bumped the pad, are scanned fifty times a second; that is no part of it.

It also says what playing costs, in processor time (the wall's clock tells nothing of that on a busy machine): of a
core all in all but for this benchmark's own work between the steps, in `Daemon.step` and around it, and how often a
second the process is woken. The floor of that is a bare reader of the same bytes: afterwards they come once more
through a pseudo-terminal, read by read, pyserial reads them, the wire's decoder takes them apart, and the strike filter
goes over the samples once; nothing else.

Each round is a process of its own; at the end stand the ratios with their spread.
"""

import argparse
import json
import os
import queue
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty
from pathlib import Path

import msgspec
import numpy as np
from pty_mat import PtyMat

from pi_controller.board import wire
from pi_controller.board.buttons import MockButtons
from pi_controller.board.serial_port import SerialPort
from pi_controller.board.strips import MemoryStrip
from pi_controller.cli.tables import run
from pi_controller.games.dakota.people import Players
from pi_controller.journal.journal import Journal
from pi_controller.pinmap import pinmap
from pi_controller.referee.facts import ActionPlayed
from pi_controller.runtime import assembly
from pi_controller.runtime.daemon import Daemon
from pi_controller.sensing.strikes import StrikeDetector
from pi_controller.table.view import View

WINDOW_S = 0.003
TTY_BYTES = 2048
"""What a pseudo-terminal surely takes at once."""
STARTED_S = 3.0
"""What comes before is the start."""
SETTINGS = """[table]
journal = "{folder}/j.sqlite"
[game.options]
points = "99"
[board]
port = "{device}"
[strips]
kind = "memory"
[web]
port = 0
"""
ASK = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"


SERIAL_READ = SerialPort.read


def be_the_mat(seed, terminal):
    """Play people on a mat in real time: views come in on standard input, presses and strokes go out."""
    views = queue.SimpleQueue()
    threading.Thread(
        target=lambda: [views.put(msgspec.json.decode(line, type=View)) for line in sys.stdin.buffer], daemon=True
    ).start()
    threading.Thread(target=look, args=(terminal,), daemon=True).start()

    def say(**what):
        print(json.dumps(what), flush=True)

    with PtyMat(seed) as mat:
        say(device=mat.device)
        players = Players(seed, mat.world, lambda name: say(press=name), lambda call: None)
        begun = time.monotonic() - mat.world.t
        strike, due = mat.world.strike, []

        def struck(pad, level, also, also_after_s, after_s):
            say(onset=begun + mat.world.t + after_s)
            due.append(mat.world.t + after_s)
            strike(pad, level, also, also_after_s, after_s)

        mat.world.strike = struck
        wait, block_s = threading.Event().wait, pinmap().board.block_samples / pinmap().board.sample_hz
        while os.getppid() != 1:
            while not views.empty():
                players.watch(views.get())
            players.act(mat.world.t)
            wait(max(0.0, begun + mat.world.t + block_s - time.monotonic()))
            mat.advance(block_s)
            written = time.monotonic() - begun
            while due and mat.world.t >= due[0] + WINDOW_S:
                say(floor=written - due.pop(0))


def look(terminal):
    """Look at the judge's terminal, and watch the page that it tells of."""
    with os.fdopen(terminal, "rb") as lines:
        watched = False  # the address stands below each picture until play begins
        for line in lines:
            if line.startswith(b"live page: ") and not watched:
                watched = True
                threading.Thread(
                    target=watch, args=(int(line.strip(b"/\r\n").rpartition(b":")[2]),), daemon=True
                ).start()


def watch(port):
    """Be a phone."""
    with socket.create_connection(("127.0.0.1", port)) as page:
        page.sendall(ASK)
        while page.recv(65536):
            pass


class Table:
    """What this benchmark puts into `run`: the buttons, an ear for hits, a watch on the strip, and meters."""

    def __init__(self, child, hits):
        self.child, self.hits = child, hits
        self.heard = queue.SimpleQueue()
        self.latencies, self.onset, self.hit, self.shown = [], None, False, None
        self.floors, self.reads = [], []
        self.lit_at = 0.0
        self.own = 0.0  # processor seconds of this benchmark itself, in the table's thread
        self.stepping = self.steps = 0
        self.begun = self.until = None
        threading.Thread(
            target=lambda: [self.heard.put(json.loads(line)) for line in child.stdout], daemon=True
        ).start()

    def put_in(self):
        """Go where `run` builds its table."""
        table, step, append, show = self, Daemon.step, Journal.append, MemoryStrip.show
        read = SerialPort.read

        class Buttons(MockButtons):
            def tick(self, t):
                while not table.heard.empty():
                    what = table.heard.get()
                    if "press" in what:
                        self.press(what["press"], t)
                    table.onset = what.get("onset", table.onset)
                    if "floor" in what:
                        table.floors.append(what["floor"])
                super().tick(t)

        def timed(daemon, t, **how):
            before = time.thread_time()
            step(daemon, t, **how)
            after = time.thread_time()
            table.stepping += after - before
            table.steps += 1
            table.after(daemon.table.view)
            table.own += time.thread_time() - after

        def listened(journal, facts):
            table.hit |= any(isinstance(fact, ActionPlayed) and fact.action["do"] == "hit" for fact in facts)
            return append(journal, facts)

        def noted(strip, frame):
            table.lit_at = time.monotonic()
            show(strip, frame)

        def kept(port, at_least=0):
            data = read(port, at_least)
            if data:
                table.reads.append((table.begun is not None and table.until is None, data))
            return data

        assembly.make_buttons = lambda settings, clock: Buttons()
        Daemon.step, Journal.append, MemoryStrip.show, SerialPort.read = timed, listened, noted, kept

    def after(self, view):
        """See what came of a step."""
        if view is not self.shown:
            self.shown = view
            self.child.stdin.write(msgspec.json.encode(view) + b"\n")
            self.child.stdin.flush()
        if self.hit and self.onset is not None:
            self.latencies.append(self.lit_at - self.onset)
            self.onset = None
        self.hit = False
        if self.begun is None and (self.steps and time.monotonic() > self.started + STARTED_S):
            self.begun = self.meters()
        if len(self.latencies) >= self.hits and self.until is None:
            self.until = self.meters()
            signal.raise_signal(signal.SIGTERM)

    def meters(self):
        """Return seconds, processor seconds of the process and of its steps, steps, times woken."""
        woken = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
        return np.array([time.monotonic(), time.process_time() - self.own, self.stepping, self.steps, woken])

    def play(self, settings):
        """Play until there are enough hits; return what was measured, times in s, shares of a core."""
        self.put_in()
        self.started = time.monotonic()
        run(["--settings", str(settings)])
        spent = self.until - self.begun
        share, stepping, steps, woken = spent[1:] / spent[0]
        return {
            "latencies": self.latencies, "floors": self.floors, "share": share, "stepping": stepping, "steps": steps,
            "woken": woken, "floor": bare(self.reads) / spent[0],
            "reads": sum(counts for counts, _ in self.reads) / spent[0],
        }  # fmt: skip


def bare(reads):
    """Return the processor seconds that reading `reads`, decoding them and filtering their samples takes.

    A decoder hears nothing before the board's welcome, so all come from the start; each says whether it is measured.
    """
    maps = pinmap()
    master, slave = os.openpty()
    tty.setraw(slave)
    port = SerialPort(os.ttyname(slave))
    ears = wire.Decoder(wire.TO_HOST, wire.WELCOME)
    once = StrikeDetector(maps.board.sample_hz, maps.pads.count, wire.REST)._filter
    took = 0.0
    for counts, data in (
        (counts, read[at : at + TTY_BYTES]) for counts, read in reads for at in range(0, len(read), TTY_BYTES)
    ):
        os.write(master, data)
        began = time.thread_time()
        for kind, _, payload in ears.feed(SERIAL_READ(port, len(data))):
            if kind == wire.PIEZO:
                raw = np.frombuffer(payload, "<u2", offset=wire.PIEZO_HEAD)
                once.feed((raw - np.uint16(wire.REST)).view(np.int16).reshape(-1, maps.pads.count))
        took += counts * (time.thread_time() - began)
    port.close()
    os.close(master)
    os.close(slave)
    return took


def measure(hits, seed, folder, profiled):
    """Return what `Table.play` does, with the judge's terminal in the place of standard input and output."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    child = subprocess.Popen(
        [sys.executable, __file__, "--terminal", str(ours), "--seed", str(seed)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[ours],
    )  # fmt: skip
    device = json.loads(child.stdout.readline())["device"]
    settings = Path(folder) / "settings.toml"
    settings.write_text(SETTINGS.format(folder=folder, device=device))
    kept = os.dup(0), os.dup(1)
    os.dup2(theirs, 0)
    os.dup2(theirs, 1)
    try:
        table = Table(child, hits)
        if not profiled:
            return table.play(settings)
        import cProfile

        profile = cProfile.Profile()
        try:
            return profile.runcall(table.play, settings)
        finally:
            profile.dump_stats(profiled)
    finally:
        sys.stdout.flush()
        os.dup2(kept[0], 0)
        os.dup2(kept[1], 1)
        child.kill()
        child.communicate()


def measured(args, seed):
    """Return the figures of one round, by a process of its own."""
    words = [sys.executable, __file__, "--hits", str(args.hits), "--seed", str(seed), "--once"]
    profiled = ["--profile", args.profile] if args.profile else []
    return json.loads(subprocess.run([*words, *profiled], stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1])


def printed(found):
    """Print one round; return its ratios to the floors: p50, p99, processor."""
    ours, floors = (np.percentile(found[key], [50, 99]) * 1000 for key in ("latencies", "floors"))
    print(
        f"{len(found['latencies'])} hits, stroke to lights: p50 {ours[0]:.1f} ms, p99 {ours[1]:.1f} ms; "
        f"the floor p50 {floors[0]:.1f}, p99 {floors[1]:.1f} ms"
    )
    share, stepping = found["share"], found["stepping"]
    print(
        f"share of a core while playing: {share:.2%}, in steps {stepping:.2%}, around them {share - stepping:.2%}; "
        f"{found['steps']:.0f} steps and {found['woken']:.0f} times woken a second; "
        f"the bare reader {found['floor']:.2%} in {found['reads']:.0f} reads a second",
        flush=True,
    )
    return [*ours / floors, share / found["floor"]]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hits", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", metavar="FILE", help="where cProfile's figures of the table's thread go")
    parser.add_argument("--terminal", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.terminal is not None:
        return be_the_mat(args.seed, args.terminal)
    if args.once:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(args.hits, args.seed, folder, args.profile)))
        return None
    ratios = np.array([printed(measured(args, args.seed + n)) for n in range(args.rounds)])
    for what, values in zip(("p50", "p99", "processor"), ratios.T, strict=True):
        print(f"{what}, to its floor: {np.median(values):.2f} ({values.min():.2f} to {values.max():.2f})")
    return None


if __name__ == "__main__":
    main()

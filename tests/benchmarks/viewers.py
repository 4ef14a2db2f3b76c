"""From the journal to the phones: how long until each of many viewers has what was just committed, and what they cost.

python tests/benchmarks/viewers.py [--viewers 200] [--seconds 40] [--rounds 3] [--seed 1]

A game is played at the speed people play, through the simulated mat's bytes, journalled and served by one process;
viewers sit in this one, on raw sockets, each at an address of its own. The time runs from the journal's COMMIT to the
last byte of the event that tells it, at each viewer. First nobody watches (memory and CPU of that process), then all
do. The baseline is an asyncio server that knows nothing: it writes the same bytes at the same moments to as many
sockets, one after another, and its time runs from just before the first write; it is the floor, and each round measures
both and gives the ratio. How late the game's loop came back from its waits stands beside the same with nobody watching,
and beside a process that only waits. All clocks are CLOCK_MONOTONIC, one for the whole machine.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import re
import resource
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pi_controller.rules import registry
from pi_controller.runtime.run import tune_interpreter
from pi_controller.simulation.simulation import Simulation
from pi_controller.web.feed import Feed
from pi_controller.web.server import WebServer

EVENT = re.compile(rb"id: (\d+)[^\n]*\nevent: view\n.*?\n\n", re.DOTALL)
ASK = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
TURN_S = 0.01
LINE = 16 * 2**20  # bytes of the longest line the baseline is told


def be_the_table(seed: int) -> None:
    """Play and serve until standard input ends; say the port, then each commit's number and time."""
    ended = threading.Event()
    threading.Thread(target=lambda: [sys.stdin.read(), ended.set()], daemon=True).start()
    feed = Feed()
    server = WebServer(feed, port=0)
    server.start()
    print(server.port, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path, rules = Path(folder) / "j.sqlite", registry.game("dakota", {"points": "99"})
        with Simulation(seed, path, rules, publish=feed.publish) as table:
            append, commits = table.journal.append, list[tuple[int, float]]()
            woken: list[tuple[float, float]] = []

            def noted(facts: Any) -> int:
                batch = append(facts)
                commits.append((table.journal.seq, time.monotonic()))
                return batch

            table.journal.append = noted  # type: ignore[method-assign]
            tune_interpreter()
            begun = time.monotonic() - table.t
            while not ended.is_set():
                table.tick()
                due = begun + table.t
                # a plain sleep, as `run` has it: an Event's wait would poll
                time.sleep(max(0.0, due - time.monotonic()))
                woken.append((due, time.monotonic() - due))
    server.stop()
    print(json.dumps({"commits": commits, "woken": woken}))


def be_the_baseline() -> None:
    """Take lines of (seconds to wait, number, bytes) once all watch; write the bytes to all; say when each began."""

    async def serve() -> None:
        writers: list[asyncio.StreamWriter] = []

        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
            writers.append(writer)

        server = await asyncio.start_server(take, "127.0.0.1", 0, backlog=512)
        print(server.sockets[0].getsockname()[1], flush=True)
        lines = asyncio.StreamReader(limit=LINE)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        said = []
        while line := await lines.readline():
            wait, number, data = json.loads(line)
            await asyncio.sleep(wait)
            raw = base64.b64decode(data)
            said.append((number, time.monotonic()))
            for writer in writers:
                writer.write(raw)
        await asyncio.sleep(0.5)
        print(json.dumps({"commits": said}), flush=True)

    asyncio.run(serve())


def be_the_waiter() -> None:
    """Wait as the game's loop does, and do nothing else, until standard input ends; say how late each wait ended."""
    ended, woken = threading.Event(), list[tuple[float, float]]()
    threading.Thread(target=lambda: [sys.stdin.read(), ended.set()], daemon=True).start()
    while not ended.is_set():
        due = time.monotonic() + TURN_S
        time.sleep(TURN_S)
        woken.append((due, time.monotonic() - due))
    print(json.dumps({"woken": woken}))


class Cost(NamedTuple):
    """What a process has used: seconds of CPU, megabytes resident; and when."""

    cpu_s: float
    rss_mb: float
    at: float

    @classmethod
    def of(cls, pid: int) -> Cost:
        """Return the cost of process `pid` so far."""
        stat = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
        cpu = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
        return cls(cpu, pages * os.sysconf("SC_PAGE_SIZE") / 2**20, time.monotonic())

    def share(self, since: Cost) -> float:
        """Return the share of a core used since then."""
        return (self.cpu_s - since.cpu_s) / (self.at - since.at)


class Viewers:
    """`count` open event streams; `watch` takes in what comes."""

    def __init__(self, port: int, count: int) -> None:
        self._lines: dict[int, socket.socket] = {}
        self._poll = select.epoll()
        self.got: dict[int, list[tuple[float, bytes]]] = {}
        for n in range(count):
            line = socket.create_connection(("127.0.0.1", port), 20, (f"127.1.{n // 250}.{n % 250 + 1}", 0))
            line.sendall(ASK)
            line.setblocking(False)
            self._lines[line.fileno()], self.got[line.fileno()] = line, []
            self._poll.register(line, select.EPOLLIN)

    def watch(self, until: float) -> None:
        """Take in what comes, each piece with its time, until `until` on the monotonic clock."""
        while (left := until - time.monotonic()) > 0:
            for which, _ in self._poll.poll(left):
                data = self._lines[which].recv(2**18)
                self.got[which].append((time.monotonic(), data))
                if not data:
                    self._poll.unregister(which)

    def events(self) -> list[list[tuple[int, float, bytes]]]:
        """Return for each viewer its events: number, when the last byte was there, and the bytes."""
        told = []
        for pieces in self.got.values():
            ends = np.cumsum([len(data) for _, data in pieces])
            whole = b"".join(data for _, data in pieces)
            told.append([
                (int(one[1]), pieces[int(np.searchsorted(ends, one.end()))][0], one[0])
                for one in EVENT.finditer(whole)
            ])  # fmt: skip
        return told

    def close(self) -> None:
        """Leave."""
        for line in self._lines.values():
            line.close()
        self._poll.close()


def child(*how: str) -> subprocess.Popen[str]:
    """Start this file as another process."""
    return subprocess.Popen(
        [sys.executable, __file__, *how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def latencies(viewers: Viewers, commits: dict[int, float], since: float) -> tuple[np.ndarray, int]:
    """Return each viewer's wait for each commit after `since` that it was told, seconds; and how many were told."""
    waits = [
        at - commits[number]
        for events in viewers.events()
        for number, at, _ in events
        if commits.get(number, 0.0) > since
    ]
    told = {number for events in viewers.events() for number, _, _ in events if commits.get(number, 0.0) > since}
    return np.array(waits), len(told)


def say(what: str, waits: np.ndarray, told: int) -> np.ndarray:
    """Print and return p50 and p99, ms."""
    p50, p99, most = np.percentile(waits, [50, 99, 100]) * 1000
    print(f"{what}: {told} events, {len(waits)} receipts: p50 {p50:.2f} ms, p99 {p99:.2f} ms, most {most:.2f} ms")
    return np.array([p50, p99])


def lateness(woken: list[tuple[float, float]], since: float, until: float) -> float:
    """Return by how much the game's loop was late at most in 99 of 100 turns between `since` and `until`, ms."""
    late = [late for due, late in woken if since < due < until]
    return 1000 * float(np.percentile(late, 99))


def measure(args: argparse.Namespace, seed: int) -> np.ndarray:
    """Print one round; return the ratios to the bare writer at p50 and p99, and how late were waiter, loop alone and
    loop watched, ms."""
    table = child("--role", "table", "--seed", str(seed))
    assert table.stdout is not None
    port = int(table.stdout.readline())
    time.sleep(2.0)
    begun = Cost.of(table.pid)
    time.sleep(args.seconds / 2)
    alone = Cost.of(table.pid)
    viewers = Viewers(port, args.viewers)
    waiter = child("--role", "waiter")
    viewers.watch(time.monotonic() + 2.0)
    watched = Cost.of(table.pid)
    viewers.watch(time.monotonic() + args.seconds)
    full = Cost.of(table.pid)
    said, waited = (json.loads(one.communicate()[0]) for one in (table, waiter))
    viewers.close()
    ours = say(f"{args.viewers} viewers", *latencies(viewers, dict(said["commits"]), watched.at))
    quiet, late = lateness(said["woken"], begun.at, alone.at), lateness(said["woken"], watched.at, full.at)
    floor = lateness(waited["woken"], watched.at, full.at)
    print(
        f"the game's loop late in 99 of 100 turns by {late:.2f} ms at most, with no viewer {quiet:.2f} ms; a process "
        f"that only waits {floor:.2f} ms"
    )
    print(f"memory: {alone.rss_mb:.1f} MB with no viewer, {full.rss_mb:.1f} MB with {args.viewers}")
    print(f"share of a core: {alone.share(begun):.1%} with no viewer, {full.share(watched):.1%} with {args.viewers}")

    events = [one for one in viewers.events()[0] if one[1] > watched.at]
    plain = child("--role", "baseline")
    assert plain.stdin is not None
    assert plain.stdout is not None
    crowd = Viewers(int(plain.stdout.readline()), args.viewers)
    crowd.watch(time.monotonic() + 2.0)
    ready, last = Cost.of(plain.pid), watched.at
    for number, at, raw in events:
        plain.stdin.write(json.dumps([max(0.0, at - last), number, base64.b64encode(raw).decode()]) + "\n")
        last = at
    plain.stdin.flush()
    crowd.watch(time.monotonic() + last - watched.at + 2.0)
    spent = Cost.of(plain.pid)
    said = json.loads(plain.communicate()[0])
    crowd.close()
    bare = say("the same bytes, bare", *latencies(crowd, dict(said["commits"]), ready.at))
    print(f"share of a core, bare: {spent.share(ready):.1%}")
    return np.array([*ours / bare, floor, quiet, late])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--role", choices=("table", "baseline", "waiter"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.role == "table":
        return be_the_table(args.seed)
    if args.role == "baseline":
        return be_the_baseline()
    if args.role == "waiter":
        return be_the_waiter()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4096), most))
    found = np.array([measure(args, args.seed + n) for n in range(args.rounds)])
    for what, unit, values in zip(
        (
            "to the bare writer, p50",
            "to the bare writer, p99",
            "a process that only waits, late p99",
            "the game's loop late, no viewer, p99",
            "the game's loop late, watched, p99",
        ),
        ("times", "times", "ms", "ms", "ms"),
        found.T,
        strict=True,
    ):
        print(f"{what}: {np.median(values):.2f} {unit} ({values.min():.2f} to {values.max():.2f} in {args.rounds})")
    return None


if __name__ == "__main__":
    main()

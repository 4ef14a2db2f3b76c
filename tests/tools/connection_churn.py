"""One phone opens and closes connections as fast as it can: do judges still get their commands through?

python tests/tools/connection_churn.py [--seconds 10] [--commands 6] [--way churn|hold|streams]

The table, with its journal and its console, is a process of its own, and so is the phone, at an address of its own. In
the `churn` it opens connections and hangs up at once; `hold` has it open all it can and send nothing;
`streams` has it ask for event streams, and read none. Meanwhile a judge at another address signs in and gives commands,
each on a new connection, as a phone that was just unlocked does, and an honest phone at a third opens the live page.
Printed are the judge's commands done, the honest phone's pages and its median wait, the most descriptors that the table
held, and how late the table's loop came back from its waits, beside
how late it was just before.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in ("support", "support/real"))

import httpx
import numpy as np
from judge_house import say, sign_in
from served_house import ServedHouse as House

from pi_controller.runtime.run import Stop, tune_interpreter

PHONE, JUDGE, HONEST = "127.0.0.66", "127.0.0.2", "127.0.0.3"
PATIENCE_S = 2.0
"""So long judge and honest phone wait for an answer."""
QUIET_S = 3.0
"""The loop without an attack, to compare with."""
MOST = 6000
"""Connections that it holds; it has descriptors of its own for them."""
ASK = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Punctual(Stop):
    """Notes how much longer than wanted each wait of the table's loop was, s."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []

    def wait(self, seconds: float) -> None:
        """Wait, and note."""
        began = time.monotonic()
        super().wait(seconds)
        self.late.append(time.monotonic() - began - seconds)


def be_the_table() -> None:
    """Play and serve until standard input ends; say the port, then how late the loop was before a line and after."""
    stop = Punctual()
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder), stop=stop)
        tune_interpreter()
        print(house.server.port, flush=True)
        sys.stdin.readline()
        stop.late.clear()
        sys.stdin.readline()
        quiet = len(stop.late)
        sys.stdin.read()
        late = stop.late[:quiet], stop.late[quiet:]
        house.close()
    print(json.dumps(late))


def be_the_phone(port: int, way: str) -> None:
    """Open connections until killed."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, MOST + 100), most))
    lines: list[socket.socket] = []
    poll = select.poll()
    while os.getppid() != 1:
        line = socket.socket()
        line.setblocking(False)
        with suppress(OSError):
            line.bind((PHONE, 0))
        line.connect_ex(("127.0.0.1", port))
        lines.append(line)
        if way == "streams":
            poll.register(line, select.POLLOUT)
            poll.poll(100)
            with suppress(OSError):
                line.sendall(ASK)
            poll.unregister(line)
        if len(lines) > (0 if way == "churn" else MOST):
            lines.pop(0).close()


def child(*how: str) -> subprocess.Popen[str]:
    """Start this file as another process."""
    return subprocess.Popen([sys.executable, __file__, *how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def descriptors_of(pid: int) -> int:
    """Return how many descriptors process `pid` holds. Raises `OSError` where it has ended."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


class Descriptors(threading.Thread):
    """Looks how many descriptors process `pid` holds; `most` so far."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._pid, self._ended = pid, threading.Event()
        self.start()

    def run(self) -> None:
        """Look every 50 ms."""
        with suppress(OSError):  # it has ended
            while not self._ended.wait(0.05):
                self.most = max(self.most, descriptors_of(self._pid))

    def end(self) -> int:
        """Return the most."""
        self._ended.set()
        return self.most


def browser(port: int, address: str) -> httpx.Client:
    """Return a browser at `address` that opens a new connection for each request."""
    origin = f"http://127.0.0.1:{port}"
    return httpx.Client(
        base_url=origin,
        headers={"origin": origin, "sec-fetch-site": "same-origin", "connection": "close"},
        timeout=PATIENCE_S,
        trust_env=False,
        transport=httpx.HTTPTransport(local_address=address),
    )


def asked(ask: Any, *how: Any, **more: Any) -> float | None:
    """Return how long it took to be answered with a 200, s; None where it was not."""
    began = time.monotonic()
    with suppress(httpx.HTTPError):
        if ask(*how, **more).status_code == 200:
            return time.monotonic() - began
    return None


def measure(way: str, seconds: float, commands: int) -> dict[str, Any]:
    """Attack for `seconds`; return the figures."""
    table = child("--role", "table")
    assert table.stdin is not None
    assert table.stdout is not None
    port = int(table.stdout.readline())
    descriptors = Descriptors(table.pid)
    pages: list[float | None] = []
    with browser(port, JUDGE) as judge, browser(port, HONEST) as honest:
        assert sign_in(judge).status_code == 200
        before = descriptors_of(table.pid)
        print("quiet", file=table.stdin, flush=True)
        time.sleep(QUIET_S)
        print("attack", file=table.stdin, flush=True)
        phone = child("--role", "phone", "--port", str(port), "--way", way)
        time.sleep(1.0)
        began, turn, done = time.monotonic(), 0, 0
        while (spent := time.monotonic() - began) < seconds or turn < commands:
            if turn < commands and spent >= seconds * turn / commands:
                # one that was not answered is said again under its key, as the console does
                words = {"by": "A", "text": "x"} if done % 2 == 0 else {"ruling": "denied", "reason": "x"}
                answered = asked(say, judge, f"command-{done}", "protest" if done % 2 == 0 else "ruling", **words)
                turn, done = turn + 1, done + (answered is not None)
            pages.append(asked(honest.get, "/"))
            time.sleep(0.1)
        phone.kill()
        phone.communicate()
    quiet, late = json.loads(table.communicate()[0])
    waits = [took for took in pages if took is not None]
    return {
        "commands": done,
        "of": commands,
        "pages": len(waits),
        "asked": len(pages),
        "median_ms": 1000 * float(np.median(waits)) if waits else float("nan"),
        "before": before,
        "descriptors": descriptors.end(),
        "quiet_ms": 1000 * float(np.percentile(quiet, 99)),
        "late_ms": 1000 * np.percentile(late, [50, 99, 100]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--commands", type=int, default=6)
    parser.add_argument("--way", choices=("churn", "hold", "streams"), action="append")
    parser.add_argument("--role", choices=("table", "phone"), help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.role == "table":
        return be_the_table()
    if args.role == "phone":
        return be_the_phone(args.port, args.way[0])
    for way in args.way or ("churn", "hold", "streams"):
        found = measure(way, args.seconds, args.commands)
        p50, p99, most = found["late_ms"]
        print(
            f"{way}: the judge's commands {found['commands']} of {found['of']}; the honest phone's pages "
            f"{found['pages']} of {found['asked']}, median {found['median_ms']:.0f} ms; descriptors {found['before']} "
            f"before, {found['descriptors']} at most; the loop late p50 {p50:.2f}, p99 {p99:.2f}, most {most:.0f} ms, "
            f"{found['quiet_ms']:.2f} (p99) before",
            flush=True,
        )
    return None


if __name__ == "__main__":
    main()

"""Stop tables by signals at random moments, thousands of times in a row; each must end at once.

python tests/process/end_to_end/stops.py --stops 2000 [--processes 40] [--seed 1]

A stop is the loop of `run` in this process, with its own handlers and its own wait, mostly cut short, and a table that
does nothing, so that signals meet every part of the waiting; a loop that hangs ends the script with a traceback.
`--processes` stops whole `moccasin-mat run`s, every other one of them at a terminal, with somebody who has just asked
for the stream of events.
"""

import argparse
import contextlib
import faulthandler
import os
import pty
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

from rich.progress import track

from pi_controller.board.message_source import NoSource
from pi_controller.host.notify import Notifier
from pi_controller.runtime import run

WAITS_S = (0.0, 0.0, 0.0001, run.IDLE_S)
LATEST_S = 0.004
"""A signal comes at most so long after the loop has begun."""
HANGS_S = 30.0
SENDER = """
import os, sys, time
for line in sys.stdin:
    number, after_s = line.split()
    time.sleep(float(after_s))
    os.kill(os.getppid(), int(number))
"""
"""A process of its own: a thread would only come to send while the loop waits and has let go of the interpreter."""
SIGNALS = (signal.SIGTERM, signal.SIGINT)
SETTINGS = """
[table]
journal = "{folder}/j.sqlite"
[board]
port = "none"
[web]
port = 0
"""


def stop_loops(count, moments):
    """Stop `count` loops, one after the other, at `moments` (a random generator); return the slowest stop, s."""
    table = types.SimpleNamespace(view=None, halted=None, recovery="")
    step, slowest = (lambda t, read: None), 0.0
    daemon = types.SimpleNamespace(table=table, source=NoSource(), idle=True, step=step)
    handlers = [(number, signal.getsignal(number)) for number in SIGNALS]
    command = [sys.executable, "-c", SENDER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, bufsize=1) as sender:
        for _ in track(range(count), "loops", disable=not sys.stdout.isatty()):
            stop, number, after_s = run.Stop(), moments.choice(SIGNALS), moments.uniform(0, LATEST_S)
            stop.at_signals()
            faulthandler.dump_traceback_later(HANGS_S, exit=True)
            began = time.monotonic()
            sender.stdin.write(f"{number:d} {after_s}\n")
            with mock.patch.object(run, "IDLE_S", moments.choice(WAITS_S)):
                desk = run.TableDesk(daemon, time.monotonic, Notifier())
                run.run_loop(daemon, time.monotonic, stop, Notifier(), desk.serve)
            slowest = max(slowest, time.monotonic() - began - after_s)
        faulthandler.cancel_dump_traceback_later()
        sender.stdin.close()
    for number, handler in handlers:
        signal.signal(number, handler)
    return slowest


def stop_processes(count, moments, folder):
    """Stop `count` processes; return (the slowest stop, s; what was wrong)."""
    settings = folder / "table.toml"
    settings.write_text(SETTINGS.format(folder=folder), "utf-8")
    slowest, wrong = 0.0, []
    for n in track(range(count), "processes", disable=not sys.stdout.isatty()):
        with contextlib.ExitStack() as stack:
            ends = pty.openpty() if n % 2 else ()
            for end in ends:
                stack.callback(os.close, end)
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "pi_controller", "run", "--settings", str(settings)],
                    stdin=ends[1] if ends else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                )
            )  # fmt: skip
            stack.callback(process.kill)
            page = urlsplit(process.stdout.readline().split()[-1].decode())
            viewer = stack.enter_context(socket.create_connection((page.hostname, page.port)))
            time.sleep(moments.uniform(0, 0.3))
            viewer.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            number, sent_at = moments.choice(SIGNALS), time.monotonic()
            process.send_signal(number)
            try:
                _, said = process.communicate(timeout=HANGS_S)
            except subprocess.TimeoutExpired:
                wrong.append(f"process {n} hangs after {number.name}")
                continue
            slowest = max(slowest, time.monotonic() - sent_at)
            if process.returncode or said:
                wrong.append(f"process {n}, {number.name}: status {process.returncode}, {said.decode()}")
    return slowest, wrong


def main():
    """Stop, and tell what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stops", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    moments, wrong = random.Random(args.seed), []
    with tempfile.TemporaryDirectory() as folder:
        if args.stops:
            slowest = stop_loops(args.stops, moments)
            print(f"{args.stops} loops stopped, the slowest within {slowest * 1000:.0f} ms")
        if args.processes:
            slowest, wrong = stop_processes(args.processes, moments, Path(folder))
            print(f"{args.processes - len(wrong)} of {args.processes} processes stopped well, within {slowest:.1f} s")
    print("\n".join(wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Stop 300 loops of `run` by signals at random moments, so that they meet every part of its waiting; each ends at once.

A loop that hangs ends the script with a traceback.
"""

import faulthandler
import random
import signal
import subprocess
import sys
import time
import types
from unittest import mock

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


def stop_loops(count, moments):
    """Stop `count` loops, one after the other, at `moments` (a random generator); return the slowest stop, s."""
    table = types.SimpleNamespace(view=None, halted=None, recovery="")
    step, slowest = (lambda t: None), 0.0
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


if __name__ == "__main__":
    stop_loops(300, random.Random(1))

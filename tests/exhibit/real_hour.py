"""The installation in real time, as a host starts it, with simulated visitors.

python tests/exhibit/real_hour.py [--minutes 60]

Looks at its page every two seconds and at its memory every ten. Status 1 where the page did not answer, no visitor came
back to the beginning, a session lasted longer than it may, memory grew by more than `--most-mb` after the first five
minutes, or it did not end well.
"""

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

LOOK_S, MEASURE_S, SETTLE_S = 2.0, 10.0, 300.0
LONGEST_S = 15 * 60.0 + 60.0
"""`longest_min` of the settings, and a choice that nobody makes."""


def rss_mb(pid):
    """Return what a process holds now, MB."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def processor_s(pid):
    """Return the processor's time that a process has taken, s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def run(minutes, seed, most_mb, command):
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [*command, "exhibit", "--sim", "--port", "0", "--seed", str(seed)],
            cwd=folder, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            return watch(process, minutes * 60.0, most_mb)
        finally:
            process.kill()
            process.wait()


def watch(process, seconds, most_mb):
    url = re.search(r"http://\S+", process.stdout.readline())[0]
    began = time.monotonic()
    stages, memory, wrong = Counter(), [], []
    sessions, busy_since, longest, slowest, stage = 0, None, 0.0, 0.0, ""
    next_measure = 0.0
    while (now := time.monotonic() - began) < seconds:
        if process.poll() is not None:
            return [f"it ended by itself after {now:.0f} s with status {process.returncode}"]
        asked = time.monotonic()
        try:
            page = urllib.request.urlopen(url, timeout=10).read().decode()
        except OSError as error:
            wrong.append(f"{now:.0f} s: the page did not answer: {error}")
            page = ""
        slowest = max(slowest, time.monotonic() - asked)
        if found := re.search(r'data-stage="(\w+)"', page):
            before, stage = stage, found[1]
            stages[stage] += 1
            sessions += stage == "attract" and before not in ("", "attract")
            busy_since = None if stage == "attract" else busy_since or now
            longest = max(longest, now - busy_since if busy_since is not None else 0.0)
        if now >= next_measure:
            next_measure += MEASURE_S
            memory.append((now, rss_mb(process.pid)))
            if len(memory) % 30 == 0:
                print(f"{now / 60:5.1f} min  {sessions} visits  {memory[-1][1]:.1f} MB", flush=True)
        time.sleep(LOOK_S)
    settled = [mb for t, mb in memory if t >= min(SETTLE_S, seconds / 2)]
    grown = settled[-1] - settled[0]
    processor = processor_s(process.pid) / seconds
    process.send_signal(signal.SIGINT)
    status = process.wait(timeout=30)
    print(f"{seconds / 60:.0f} minutes, {sessions} visits back at the beginning, the longest {longest:.0f} s")
    print(f"looks that found it in: {dict(stages)}; the slowest answer {1000 * slowest:.0f} ms")
    print(f"memory {settled[0]:.1f} MB, then {min(settled):.1f} to {max(settled):.1f}, at the end {settled[-1]:.1f} MB")
    print(f"{100 * processor:.1f} % of a processor; ended with status {status}")
    wrong += [f"memory grew by {grown:.1f} MB"] if grown > most_mb else []
    wrong += [f"a visit lasted {longest:.0f} s"] if longest > LONGEST_S else []
    wrong += ["no visitor came back to the beginning"] if not sessions else []
    wrong += [f"it ended with status {status}"] if status not in (0, 130) else []
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-mb", type=float, default=8.0)
    args = parser.parse_args()
    wrong = run(args.minutes, args.seed, args.most_mb, [sys.executable, "-m", "pi_controller"])
    print("\n".join(wrong) or "nothing wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

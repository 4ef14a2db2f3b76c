"""Hours of visitors of thirteen kinds, some of whom mean no good, on virtual time.

python tests/exhibit/simulated_visitors.py --hours 72 [--seed N] [--mat sensors] [--record FOLDER]

Checked all the while: no stage lasts longer than it may, every session ends and leads back to attract, every seal of
every session holds, and what the process takes of memory is flat after the first hours. Status 1 where it is not so.
"""

import argparse
import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from exhibit_rig import Rig

from pi_controller.exhibit.check_log import faults
from pi_controller.exhibit.stage import IDLE
from pi_controller.sim.visitors import KINDS, Visitors

STEP_S = 0.2


def rss_kb():
    """Return what the process holds now, kB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(hours, seed=1, mat="screen", folder=None, say=lambda *_: None):
    """Let visitors come for so many hours; return a report with `wrong`, what did not hold."""
    rig = Rig(seed, mat=mat, folder=folder, record=folder is not None, languages=("en", "oj"), usage=False)
    visitors = Visitors(random.Random(seed))
    exhibit, wrong, checked, longest, busy = rig.exhibit, [], 0, 0.0, None
    longest_allowed = exhibit.times.longest_s + exhibit.times.answer_s + 1
    memory, end, next_look = [], hours * 3600.0, 0.0
    while rig.t < end:
        rig.t += STEP_S
        visitors.step(rig.t, exhibit)
        exhibit.tick(rig.t)
        if exhibit.stage.name in IDLE:
            busy = None
        else:
            busy = rig.t if busy is None else busy
            longest = max(longest, rig.t - busy)
            if rig.t - busy > longest_allowed:
                wrong.append(f"{rig.t:.0f} s: nobody else can play since {rig.t - busy:.0f} s")
                busy = None
        while checked < len(rig.sessions):
            checked += 1
            if found := faults(exhibit.session_log.lines().splitlines()):
                wrong.append(f"session {checked} ({rig.sessions[checked - 1]}): {found[0]}")
        if rig.t >= next_look:
            next_look += 3600.0
            memory.append(rss_kb())
            say(f"{rig.t / 3600:5.0f} h  {len(rig.sessions)} sessions  {memory[-1] / 1024:.1f} MB  {len(wrong)} wrong")
    rig.advance(longest_allowed + 100)
    if rig.stage != "attract":
        wrong.append(f"left alone it stands in {rig.stage}")
    endings = Counter(session.ending for session in rig.sessions)
    return {
        "wrong": wrong,
        "sessions": len(rig.sessions),
        "endings": dict(endings),
        "hides": sum(session.hides for session in rig.sessions),
        "came": visitors.came,
        "longest_s": round(longest, 1),
        "memory_kb": memory,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=72.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mat", choices=("screen", "sensors", "eye"), default="screen")
    parser.add_argument("--record", metavar="FOLDER", type=Path)
    args = parser.parse_args()
    began = time.monotonic()
    report = run(args.hours, args.seed, args.mat, args.record, lambda line: print(line, flush=True))
    memory = report.pop("memory_kb")
    settled = memory[min(6, len(memory) - 1) :]
    grown = (settled[-1] - settled[0]) / 1024
    for key, value in report.items():
        print(f"{key}: {value}")
    print(f"kinds: {len(KINDS)}; took {time.monotonic() - began:.0f} s; grown after the first hours: {grown:.1f} MB")
    return 1 if report["wrong"] or grown > 8 else 0


if __name__ == "__main__":
    sys.exit(main())

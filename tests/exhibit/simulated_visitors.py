"""Hours of visitors of thirteen kinds, some of whom mean no good, on virtual time.

python tests/exhibit/simulated_visitors.py --hours 72 [--seed N] [--mat sensors]
    [--record FOLDER] [--cuts N] [--resets N]

Checked all the while: no stage lasts longer than it may, every session ends and leads back to attract, and what the
process takes of memory is flat after the first hours. Status 1 where it is not so.

With `--record` games are kept, and `--cuts` cuts the power at moments by chance: the process is gone, what lies on the
disk is what was written until then. It starts anew, must stand at the beginning at once, and each journal must verify.
With `--resets` a mat's board starts over.
"""

import argparse
import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from exhibit_rig import Rig
from rude_visitors import EVERY_KIND

from pi_controller.errors import MatError
from pi_controller.exhibit.crash_count import CrashCounter
from pi_controller.exhibit.stage import IDLE
from pi_controller.exhibit.usage import Usage, usage_path
from pi_controller.journal.verify import verify_journal
from pi_controller.sensing.events import Link
from pi_controller.simulation.visitors import Visitors

STEP_S = 0.2


def rss_kb():
    """Return what the process holds now, kB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Cuts:
    """Power cuts and board resets at moments by chance, and what was found wrong after them."""

    def __init__(self, rng, cuts, resets, end):
        self._rng = rng
        self._cuts = sorted(rng.uniform(0, end) for _ in range(cuts))
        self._resets = sorted(rng.uniform(0, end) for _ in range(resets))
        self._back_at = None
        self.scared = False
        """Whether the visitors went away when the screen went dark at the last cut; others try again."""
        self.wrong, self.in_play, self.reset_in_play = [], 0, 0

    def step(self, rig):
        """Do what is due at the rig's time."""
        if self._cuts and rig.t >= self._cuts[0]:
            self._cuts.pop(0)
            self._cut(rig)
        if self._resets and rig.t >= self._resets[0]:
            self._resets.pop(0)
            self.reset_in_play += rig.stage == "play"
            rig.exhibit.handle_mat_event(rig.t, Link(rig.t, up=False, why="the board started over"))
            self._back_at = rig.t + self._rng.uniform(1.0, 5.0)
        if self._back_at is not None and rig.t >= self._back_at:
            self._back_at = None
            rig.exhibit.handle_mat_event(rig.t, Link(rig.t, up=True))

    def _cut(self, rig):
        self.scared = self._rng.random() < 0.5
        journal = rig.games.kill()
        rig.t += self._rng.uniform(10.0, 120.0)
        rig.start()
        if rig.settings.exhibit.mat == "sensors":
            self._back_at = rig.t + self._rng.uniform(1.0, 5.0)
        recoveries = CrashCounter(rig.games.folder / ".exhibit-recoveries", f"boot {len(self._cuts)}")
        if rig.stage != "attract" or recoveries.too_many:
            self.wrong.append(f"{rig.t:.0f} s: after a cut it stands in {rig.stage}, {recoveries.count} recoveries")
        if journal is None:
            return
        self.in_play += 1
        self.wrong += judged(journal)


def judged(journal):
    """Return what is wrong with a journal, as `moccasin-mat game verify` finds it."""
    try:
        found = verify_journal(journal)
    except MatError as error:
        return [f"{journal.stem}: {error.message}"]
    return [] if found.whole else [f"{journal.stem}: {found.wrong}"]


def run(hours, seed=1, mat="screen", folder=None, say=lambda *_: None, cuts=0, resets=0):
    """Let visitors come for so many hours; return a report with `wrong`, what did not hold."""
    if (cuts and folder is None) or (resets and mat != "sensors"):
        raise SystemExit("--cuts takes --record FOLDER, --resets takes --mat sensors")
    keep = {"folder": folder, "record": True, "usage": True, "keep_mb": 1000} if folder is not None else {}
    rig = Rig(seed, mat=mat, languages=("en", "oj"), **keep)
    visitors = Visitors(random.Random(seed), EVERY_KIND)
    wrong, longest, busy = [], 0.0, None
    longest_allowed = rig.exhibit.times.longest_s + rig.exhibit.times.answer_s + 1
    memory, end, next_look = [], hours * 3600.0, 0.0
    breaks = Cuts(random.Random(seed + 1), cuts, resets, end)
    while rig.t < end:
        rig.t += STEP_S
        before = rig.exhibit
        breaks.step(rig)
        exhibit = rig.exhibit
        if exhibit is not before:
            busy = None
            if breaks.scared:
                visitors.go(rig.t)
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
        if rig.t >= next_look:
            next_look += 3600.0
            memory.append(rss_kb())
            say(f"{rig.t / 3600:5.0f} h  {len(rig.sessions)} sessions  {memory[-1] / 1024:.1f} MB  {len(wrong)} wrong")
    rig.advance(longest_allowed + 100)
    if rig.stage != "attract":
        wrong.append(f"left alone it stands in {rig.stage}")
    journals = sorted(folder.glob("exhibit-*.sqlite")) if folder is not None else []
    for journal in journals:
        wrong += judged(journal)
    counted = sum(day["sessions"] for day in Usage(usage_path(rig.settings)).days.values())
    if folder is not None and counted != len(rig.sessions):
        wrong.append(f"{counted} sessions were counted of {len(rig.sessions)}")
    endings = Counter(session.ending for session in rig.sessions)
    return {
        "wrong": wrong + breaks.wrong,
        "sessions": len(rig.sessions),
        "endings": dict(endings),
        "hides": sum(session.hides for session in rig.sessions),
        "came": visitors.came,
        "longest_s": round(longest, 1),
        "memory_kb": memory,
        "cuts": f"{cuts}, {breaks.in_play} in a game",
        "resets": f"{resets}, {breaks.reset_in_play} in a game",
        "journals": len(journals),
        "in_play": breaks.in_play,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=72.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mat", choices=("screen", "sensors", "eye"), default="screen")
    parser.add_argument("--record", metavar="FOLDER", type=Path)
    parser.add_argument("--cuts", metavar="N", type=int, default=0)
    parser.add_argument("--resets", metavar="N", type=int, default=0)
    args = parser.parse_args()
    began = time.monotonic()
    report = run(
        args.hours,
        args.seed,
        args.mat,
        args.record,
        lambda line: print(line, flush=True),
        cuts=args.cuts,
        resets=args.resets,
    )
    memory = report.pop("memory_kb")
    settled = memory[min(6, len(memory) - 1) :]
    grown = (settled[-1] - settled[0]) / 1024
    for key, value in report.items():
        print(f"{key}: {value}")
    took = f"took {time.monotonic() - began:.0f} s; grown after the first hours: {grown:.1f} MB"
    print(f"kinds: {len(EVERY_KIND)}; {took}")
    return 1 if report["wrong"] or grown > 8 else 0


if __name__ == "__main__":
    sys.exit(main())

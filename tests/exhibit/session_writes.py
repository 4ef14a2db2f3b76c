"""Count what recorded sessions of an installation write: flushes and bytes per session, beside the bytes that are kept.

python tests/exhibit/session_writes.py [--sessions 3] [--seed 1]

Runs itself under strace, which counts the system calls of one process that plays sessions on virtual time.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

FLUSHES = ("fsync", "fdatasync", "sync_file_range", "sync")


def play(folder, sessions, seed):
    """Play `sessions` recorded sessions; each begins after a line on stderr, which strace shows among the calls."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
    from exhibit_rig import Rig

    rig = Rig(seed, folder=folder, record=True)
    print("MARK", flush=True)
    for _ in range(sessions):
        rig.begin("mat")
        rig.play_on()
        rig.until(lambda: rig.stage == "attract")


def count(sessions, seed):
    """Return flushes, bytes written and bytes kept of `sessions` sessions."""
    with tempfile.TemporaryDirectory() as folder:
        log, kept = Path(folder, "calls"), Path(folder, "kept")
        kept.mkdir()
        calls = f"trace={','.join(FLUSHES)},write,pwrite64"
        traced = ["strace", "-f", "-y", "-s", "8", "-e", calls, "-o", log]
        subprocess.run(
            [*traced, sys.executable, __file__, "--play", kept, f"--sessions={sessions}", f"--seed={seed}"],
            check=True, capture_output=True,
        )  # fmt: skip
        told = Counter()
        after = log.read_text("utf-8", "replace").split("MARK", 1)[1]
        for line in after.splitlines():
            if str(kept) not in line:
                continue
            call, result = re.search(r"(\w+)\(", line)[1], re.search(r"= (-?\d+)", line)
            if call in FLUSHES:
                told["flushes"] += 1
            elif result:
                told["bytes written"] += int(result[1])
        told["bytes kept"] = sum(path.stat().st_size for path in kept.iterdir())
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--play", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.play is not None:
        play(args.play, args.sessions, args.seed)
        return
    for name, number in count(args.sessions, args.seed).items():
        print(f"{name:14} {number / args.sessions:12,.0f} a session")


if __name__ == "__main__":
    main()

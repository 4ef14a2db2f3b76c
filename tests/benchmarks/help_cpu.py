"""How much of the processor the help of each verb takes, in seconds: the less of three.

    python tests/benchmarks/help_cpu.py

The exit status is 1 where any takes more than `MOST_S`.
"""

import resource
import subprocess
import sys

from pi_controller.cli import VERBS

MOST_S = 0.25


def processor_s(verb):
    """Return what `moccasin-mat VERB --help` takes of the processor, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pi_controller", *verb.split(), "--help"], stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    """Print a line a verb and the most; return the exit status."""
    took = {verb: min(processor_s(verb) for _ in range(3)) for verb in VERBS}
    for verb, seconds in took.items():
        print(f"{verb:<15}{seconds:6.3f}")
    print(f"{'most':<15}{max(took.values()):6.3f}")
    return int(max(took.values()) > MOST_S)


if __name__ == "__main__":
    sys.exit(main())

"""Wait for what other programs do."""

import time

LIMIT_S = 60.0


def until(holds):
    """Return what `holds` returns as soon as it is true; fail after a minute."""
    ends = time.monotonic() + LIMIT_S
    while not (found := holds()):
        assert time.monotonic() < ends
        time.sleep(0.01)
    return found

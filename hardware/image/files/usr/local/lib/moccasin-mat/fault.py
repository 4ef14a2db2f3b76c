"""Writes into the fault channel why the table cannot run: a part of the card that failed, or how the service ended.

systemd runs it when a mount, the card's settings or the service have failed (`OnFailure=`), and whenever the service
has ended (`ExecStopPost=`, with SERVICE_RESULT). It runs as the table's user and needs only the root and /run.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

from pi_controller.host.place import SYSTEM_SETTINGS, make_place
from pi_controller.host.status import NEW_CARD, POWER_CYCLE_HINT, RESULTS, FaultChannel, own_channel

STATE = "/state"
MIN_FREE_BYTES = 1_000_000
AGAIN = f"{POWER_CYCLE_HINT} {NEW_CARD}"


def card_fault(mountinfo: str, free_bytes: int) -> tuple[str, str, str] | None:
    """Return code, message and hint of a third partition that no table can run with; None if it is sound.

    `mountinfo` is that of proc(5). The last field has the options of the file system itself, which no sandbox changes.
    """
    mounted = {fields[4]: fields[-1].split(",") for line in mountinfo.splitlines() if (fields := line.split())}
    here = make_place()
    if STATE not in mounted:
        return (
            "state_lost",
            "The card's third partition (mat-state) cannot be read. It has settings and games.",
            AGAIN,
        )
    if "ro" in mounted[STATE]:
        message = "The card's third partition (mat-state) has errors and cannot be written any more."
        return "state_read_only", message, AGAIN
    if missing := [path for path in (here.state, SYSTEM_SETTINGS.parent) if str(path) not in mounted]:
        return "state_incomplete", f"The card's third partition (mat-state) has no folder for {missing[0]}.", AGAIN
    if free_bytes < MIN_FREE_BYTES:
        return "disk_full", "The card is full.", "Remove old recordings over ssh, or write a larger card."
    return None


def service_fault(result: str) -> tuple[str, str, str]:
    """Return code, message and hint for a service that ended with `result`, systemd's word."""
    why = RESULTS.get(result, f"it ended: {result or 'a part that it needs has failed'}")
    hint = f"Wait five minutes. {POWER_CYCLE_HINT} If this page comes back, tell your support person."
    return f"service_{result or 'failed'}".replace("-", "_"), f"The program does not run: {why}.", hint


def report(channel: FaultChannel, result: str | None, mountinfo: str, free_bytes: int, t: float) -> None:
    """Write why the table does not run at `t`; `result` is None if it was not the service that ended."""
    if result == "success" or (result == "exit-code" and channel.read() is not None):
        return  # ended on purpose, or the service has told its reason itself
    found = card_fault(mountinfo, free_bytes)
    if found is None and result is None and channel.read() is not None:
        return
    channel.write(*(found or service_fault(result or "")), t)
    if result in {None, "timeout"}:
        channel.restart_screen()


def main() -> int:
    """Look at this machine; return 0."""
    mountinfo = Path("/proc/self/mountinfo").read_text("utf-8", "replace")
    report(own_channel(), os.environ.get("SERVICE_RESULT"), mountinfo, shutil.disk_usage(STATE).free, time.time())
    return 0


if __name__ == "__main__":
    sys.exit(main())

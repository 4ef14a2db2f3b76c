"""How this board has started before: counted, and what a start is for. It needs no other file than `chip.py`.

A program that fails again and again at once would keep everybody out, because each start closes the port. So after
`FAILURES` such starts in a row the board stays in programming mode once, where `moccasin-mat mat flash` gets in. They
are counted in a register that a reset leaves alone and a loss of power clears, not in a file: flash wears out.
"""

import os

import machine
from chip import WATCHDOG

FAILURES = 5
LIVED_US = 10_000_000
"""A program that ran for so long has not failed at once."""

_SCRATCH = WATCHDOG + 0x0C  # its scratch 0; MicroPython and the boot ROM use 4 to 7
_OURS = 0x4D4D5300  # else the register holds whatever another program left


def failed_at_once():
    """Count this start as one that failed, until `lived`; return whether it is the last of too many in a row."""
    mem32 = machine.mem32
    was = mem32[_SCRATCH]
    row = 0
    if machine.reset_cause() != machine.PWRON_RESET and was & 0xFFFFFF00 == _OURS:
        row = was & 0xFF
    if row >= FAILURES:
        mem32[_SCRATCH] = 0  # the next start tries again
        return True
    mem32[_SCRATCH] = _OURS | row + 1
    return False


def lived():
    """The program has run for `LIVED_US`: the row of failures ends here."""
    machine.mem32[_SCRATCH] = 0


def count_boot(power):
    """Add one to the starts kept in the file `boots`; return that and how many in a row came early, this one included.

    A start that is not from `power` neither counts as early nor ends the row.
    """
    boots = early = 0
    try:
        with open("boots") as file:
            words = file.read().split()
        boots = int(words[0])
        early = int(words[1])
    except (OSError, ValueError, IndexError):  # the first start, or a damaged file
        pass
    boots = boots + 1 & 0xFFFFFFFF
    early = min(early + 1, 255) if power else early
    keep_boots(boots, early)
    return boots, early


def keep_boots(boots, early):
    """Write the file `boots`, whole or not at all."""
    with open("boots.new", "w") as file:
        file.write("%d %d" % (boots, early))
    os.rename("boots.new", "boots")


def stay():
    """Start anew without the mat's program, and without its watchdog, for somebody who wants to copy files."""
    with open("stay", "w"):
        pass
    machine.reset()


def asked_to_stay():
    """Return whether this start was asked for by `stay`; the next will be an ordinary one."""
    try:
        os.remove("stay")
    except OSError:
        return False
    lived()  # somebody is at work on it: what failed before counts no more
    return True

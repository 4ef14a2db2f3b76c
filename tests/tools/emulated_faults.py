"""Do the faults that apply to the emulated board, each to a game of its own, and print what happened, as a table.

    python tests/tools/emulated_faults.py [--seed 3] [--hides 2] [--only WORD]

As `fault_table.py`, with the firmware on an emulated chip; a minute or so of a core for each fault. Three of the
faults there are of the host's operating system alone, and no board has a part in them: another name after replugging, a
second daemon on the port, and a daemon that is stopped.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in ("support", "support/real"))

import fault_kinds
import fault_lab
import fault_table
from emulated_board import EmulatedBoard, edited
from emulated_cable import EmulatedCable

from pi_controller.board import wire

AS_THEY_ARE = (
    "unplugged in mid-hide, 3 s",
    "unplugged in mid-frame, 2 s",
    "unplugged in mid-strike, 2 s",
    "bit errors 1e-4, 20 s",
    "1 byte in 10,000 lost, 20 s",
    "the cable stalls, 5 s",
    "the board's watchdog resets it",
    "brown-outs, every 300 ms for 10 s",
    "restarts without hanging up, every 300 ms for 10 s",
)
FAULTS = {name: fault_kinds.FAULTS[name] for name in AS_THEY_ARE}
FOR_EVER = 1 << 30


def of_chips(name, seconds=None):
    """Put a fault of the board's own parts among `FAULTS`: it begins in mid-hide, and ends where it lasts `seconds`."""

    def keep(pair):
        begin, end = pair()

        def do(lab):
            lab.until(fault_kinds.hiding)
            lab.begin()
            begin(lab.cable)
            if seconds is not None:
                lab.wait(seconds)
                end(lab.cable)
                lab.end()

        FAULTS[name] = do

    return keep


@of_chips("the I2C bus hangs, 10 s", 10.0)
def bus_stuck():
    return lambda cable: cable.board.change("hold_sda", FOR_EVER), lambda cable: cable.board.change("hold_sda", 0)


@of_chips("one magnetometer dies")
def dead_magnetometer():
    return lambda cable: cable.board.change("remove_magnetometer", 0), None


@of_chips("one multiplexer dies")
def dead_multiplexer():
    return lambda cable: cable.board.change("silence", 0x71), None


@of_chips("one pad's ADC input at its rail")
def rail():
    return lambda cable: cable.rails.add(1), None


def of_firmware(name, files):
    """Put a board that comes back with other firmware among `FAULTS`; `files` returns those that differ."""

    def do(lab):
        lab.until(fault_kinds.hiding)
        lab.begin()
        lab.cable.unplug()
        lab.cable.board.load(files())
        fault_kinds.away(lab, 1.0)

    FAULTS[name] = do


def speaks(protocol):
    """Return the firmware's `wire.py` with another protocol in it."""
    return {"wire.py": edited("wire.py", f"PROTOCOL = {wire.PROTOCOL}", f"PROTOCOL = {protocol}")["wire.py"]}


of_firmware("firmware of another major", lambda: speaks((wire.PROTOCOL[0] + 1, 0)))


def suspended(lab):
    """The host sleeps, and its USB with it: nobody asks the board for what it has."""
    lab.until(fault_kinds.hitting)
    lab.begin()
    lab.cable.stall()
    lab.suspend(60.0)
    lab.cable.flow()
    lab.end()


FAULTS["the host sleeps, 60 s"] = suspended


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=3, help="the game that is played (default: 3)")
    parser.add_argument(
        "--hides", type=int, default=2, help="play so many hides, and the one after the fault (default: 2)"
    )
    parser.add_argument("--only", metavar="WORD", default="", help="only faults with this word in their name")
    args = parser.parse_args()
    board = EmulatedBoard()
    rows, bad = [], []
    for name, do in FAULTS.items():
        if args.only not in name:
            continue
        cable = EmulatedCable(args.seed, board)
        with tempfile.TemporaryDirectory() as folder, fault_lab.Lab(args.seed, folder, cable=cable) as lab:
            note = do(lab) or ""
            lab.play(max(args.hides, lab.view.hide + 1))
            outcome = lab.outcome(name, note)
        rows.append(fault_table.row(outcome))
        bad += [f"{name}: {line}" for line in (*outcome.invented, *outcome.lost, *outcome.wrong)]
        print(fault_table.text(rows[-1:]), end="\n\n", flush=True)
    board.close()
    print("\n".join(bad), file=sys.stderr, end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""What doctor and calibration say of wiring faults, each on a simulated mat; makes the page `hardware/FAULTS.md`.

    python tests/doctor/wiring_faults.py                    # all faults: who names each; status 1 if nobody does
    python tests/doctor/wiring_faults.py shorted-strip=4    # what is said of it
    python tests/doctor/wiring_faults.py --page             # write the page, from the first fault of each kind

A fault is named if the doctor or the calibration says which part it is. Both run as a builder runs them: the doctor
listens for five seconds, and in the calibration a person does what it asks for.
"""

from __future__ import annotations

import argparse
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from board_faults import parse_fault
from walking import walked

from pi_controller.config import Settings
from pi_controller.pinmap import pinmap
from pi_controller.tools.doctor import examine_simulated

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path(__file__).parents[2] / "hardware" / "FAULTS.md"
SEED = 2
LIMIT_S = 400.0


class Kind(NamedTuple):
    """Faults of one kind: `faults` for `mat check --sim`, what is wrong with the wires, who names the part.

    `part` is a pattern of what must be said; {n} is the fault's number.
    """

    faults: tuple[str, ...]
    wrong: str
    part: str
    by: str


BOTH, DOCTOR, CALIBRATION = "both", "doctor", "calibration"
STRIPS = pinmap().touch.strips
MAGNETOMETER = r"magnetometer {n} \("
STRIP = r"touch strip {n} \(|{strip} strip of pad {pad}\b"
KINDS = (
    Kind(("rail-piezo=1", "rail-piezo=4"), "the input is joined to 3.3 V or ground", r"pad {n}\b", BOTH),
    Kind(("silent-piezo=2", "silent-piezo=3"), "a wire of the disc's cable is off", r"pad {n}\b", BOTH),
    Kind(("no-disc=2", "no-disc=3"), "there is no disc, or its plug is off", r"pad {n}\b", BOTH),
    Kind(("shorted-disc=3", "shorted-disc=4"), "the disc or its cable is shorted to ground", r"pad {n}\b", BOTH),
    Kind(("reversed-diode=1", "reversed-diode=4"), "the clamp diode to ground is reversed", r"pad {n}\b", BOTH),
    Kind(("wrong-bias=4", "wrong-bias=2"), "a bias resistor of 10 kΩ instead of 100 kΩ", r"pad {n}\b", BOTH),
    Kind(("dead-touch=1", "dead-touch=8"), "the chip's input is joined to ground", STRIP, BOTH),
    Kind(("stuck-touch=2", "stuck-touch=12"), "the chip hangs", STRIP, BOTH),
    Kind(("loose-touch=5", "loose-touch=11"), "the strip's wire is loose", STRIP, BOTH),
    Kind(("open-strip=4", "open-strip=9", "open-strip=11"), "the strip's wire is off", STRIP, DOCTOR),
    Kind(("shorted-strip=3", "shorted-strip=4", "shorted-strip=7"), "copper of two strips touches", STRIP, DOCTOR),
    Kind(("dead-chip",), "a wire of the touch board is off", "touch", BOTH),
    Kind(
        ("dead-magnetometer=1", "dead-magnetometer=12", "dead-magnetometer=24"),
        "a wire of the module's cable is off, or its plug is turned round",
        MAGNETOMETER,
        BOTH,
    ),
    Kind(("stuck-magnetometer=5", "stuck-magnetometer=20"), "the module's chip hangs", MAGNETOMETER, BOTH),
    Kind(
        ("noisy-magnetometer=9", "noisy-magnetometer=16"), "a loose contact in the module's cable", MAGNETOMETER, BOTH
    ),
    Kind(
        ("turned-module=7", "turned-module=2:-x-yz", "turned-module=15:x-zy", "turned-module=23:zy-x"),
        "the module is glued in turned",
        MAGNETOMETER,
        CALIBRATION,
    ),
    Kind(
        ("exchanged-modules=7,10", "exchanged-modules=1,6"),
        "the plugs of two modules are exchanged",
        r"{n} \(.*{other} \(",
        CALIBRATION,
    ),
    Kind(
        ("exchanged-pads=2,3", "exchanged-pads=1,4"),
        "the plugs of two pads' modules are exchanged",
        r"pads {n} and {other}\b",
        CALIBRATION,
    ),
    Kind(
        ("dead-multiplexer=1", "dead-multiplexer=2", "dead-multiplexer=3"),
        "a wire of the multiplexer is off, or two have one address",
        "0x7[0-2]",
        BOTH,
    ),
    Kind(("dead-bus",), "SDA or SCL is off or joined to ground", "bus", BOTH),
    Kind(("exchanged-bus",), "SDA and SCL are exchanged", "bus", BOTH),
    Kind(("lost-samples",), "no wire: the board is too slow", "lost|overflow", DOCTOR),
    Kind(("mute",), "no data wire in the USB cable", "board", BOTH),
)


@cache
def ask_doctor(fault: str) -> tuple[tuple[str, str, str], ...]:
    """Return name, finding and remedy of each line that fails."""
    lines = examine_simulated(Settings(), lambda _: None, SEED, [parse_fault(fault)])
    return tuple((line.name, line.message, line.hint) for line in lines if line.outcome == "fail")


@cache
def calibrate(fault: str) -> tuple[tuple[str, str, str], ...]:
    """Return step, finding and remedy of all that is wrong, and without a remedy what was found, of a calibration."""
    view = walked(SEED, faults=[fault], limit_s=LIMIT_S).view
    found = [(step.title, str(wrong), wrong.hint) for step in view.steps for wrong in step.wrong]
    found += [(step.title, text, "") for step in view.steps for text in step.found]
    if not view.over:
        found.append(("", view.ask, view.note))
    return tuple(found)


def is_named(kind: Kind, fault: str, said: Sequence[tuple[str, str, str]]) -> bool:
    """Return whether something of what was said has the part of `fault`."""
    number = int(re.search(r"=(\d+)", f"{fault}=0").group(1))
    pad, strip = divmod(number - 1, len(STRIPS))
    part = kind.part.replace("{n}", str(number)).replace("{pad}", str(pad + 1)).replace("{strip}", STRIPS[strip])
    other = re.search(r",(\d+)", fault)
    part = part.replace("{other}", other.group(1) if other else "")
    return any(re.search(part, " ".join(line)) for line in said)


def say_kind(name: str, found: str) -> str:
    """Return a line of the doctor without the number of its part."""
    return f"{re.sub(r' (?:of pad )?[0-9][0-9a-fx]*(?: to 12)?(?: [(].*?[)])?$', '', name)}: {found}"


def page() -> str:
    """Return the page for builders: what doctor says of each fault, and what calibration says where doctor passes."""
    tables: dict[str, list[str]] = {DOCTOR: [], CALIBRATION: []}
    for kind in KINDS:
        fault = kind.faults[0]
        doctor = list(dict.fromkeys(say_kind(name, found) for name, found, _ in ask_doctor(fault)))
        named = [line for line in calibrate(fault) if is_named(kind, fault, [line])] if not doctor else []
        if doctor:
            tables[DOCTOR].append(f"| {'<br>'.join(doctor)} | {kind.wrong} |")
        else:
            tables[CALIBRATION] += dict.fromkeys(f"* {found.split(';')[0]}" for _, found, _ in named)
    rule = "| --- | --- |"
    return f"""# Fault messages and their causes

From simulated mats; numbers are examples. `moccasin-mat mat check` and `mat calibrate` name the part, and print
below each message what to do; if calibration fails, run the check.

| doctor says | cause |
{rule}
{chr(10).join(tables[DOCTOR])}

The doctor passes these; in calibration the bead step fails and names them:

{chr(10).join(tables[CALIBRATION])}

## The lights do not work

The doctor lights the strips of the Pi; it cannot see them.

| a strip | cause |
| --- | --- |
| has LEDs of a wrong colour | the strip is RGBW, which takes four numbers for each pixel: use an RGB strip |
| flickers, or shows random colours | the data wire is long or has no level shifter, or the grounds are not joined |
| gets redder and darker to its far end | the supply sags: feed both ends, or lower `[strips] brightness` |
| is dark after some pixel | that pixel, or the wire to it, is broken |
| is all dark | the fuse, the supply, or the data arrow points the wrong way |
"""


def main(argv: list[str]) -> int:
    """Print what is said, or write the page; return 1 if a fault is named by nobody."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*")
    parser.add_argument("--page", action="store_true")
    args = parser.parse_args(argv)
    if args.page:
        PAGE.write_text(page(), "utf-8")
        return 0
    unnamed = 0
    for kind in KINDS:
        for fault in args.faults or kind.faults:
            if fault not in kind.faults:
                continue
            doctor, findings = ask_doctor(fault), calibrate(fault)
            by = [name for name, said in ((DOCTOR, doctor), (CALIBRATION, findings)) if is_named(kind, fault, said)]
            unnamed += not by
            print(f"{fault:<28}{' and '.join(by) or 'NOBODY'}", flush=True)
            for said in (*doctor, *findings) if args.faults or not by else ():
                print(f"    {' | '.join(said)}")
    return int(unnamed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`moccasin-mat reset`: reset an installation to its first start, by hand or by a signed order from a stick."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, confirm, image_folder
from pi_controller.errors import UsageError
from pi_controller.system.place import DEFAULT_RESET_PARTS, NAME, RESET_PARTS, RESETS, SIGNERS, ResetPart, make_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.system.reset import Resets


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "reset",
        "Reset the installation on this machine to its first start: its settings, the host's files, who may sign in, "
        "counts and recorded sessions. Lists the files to remove and to keep, then asks.",
        "0 done, 1 the answer was no",
    )
    parser.add_argument(
        "--parts",
        metavar="PART",
        nargs="+",
        choices=RESET_PARTS,
        default=DEFAULT_RESET_PARTS,
        help=f"only these, of {', '.join(RESET_PARTS)} (all but calibration: that belongs to the mat)",
    )
    parser.add_argument(
        "--erase",
        action="store_true",
        help="erase the old files and those moved aside earlier; otherwise they are moved aside",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--order",
        metavar="FILE",
        type=Path,
        help="carry out a signed order, a file or in a folder such as a stick, and restart the machine",
    )
    what.add_argument(
        "--settle", action="store_true", help="finish an accepted reset that was interrupted; for the machine's start"
    )
    parser.add_argument(
        "--signers",
        metavar="FILE",
        type=Path,
        default=SIGNERS,
        help="who may sign an order: lines of 'host' and a public key (%(default)s)",
    )
    parser.add_argument("--root", metavar="DIR", help="reset the image below DIR; no service is stopped or started")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    return parser


def main(argv: Sequence[str]) -> int:
    """Reset the installation; return 0. Raises `ResetError`."""
    args = parser().parse_args(argv)
    here = make_place(system=True, root=image_folder("reset", args.root))
    if here.live and os.geteuid() != 0:
        raise UsageError("reset: this needs root", "use sudo")
    from pi_controller.system.reset import has_pending_reset, next_number

    if args.settle and not has_pending_reset(folder := here.on_disk(RESETS)):
        next_number(folder)  # keep a machine's first start fast: import the rest later
        return 0
    from pi_controller.system.reset import Resets

    resets = Resets(here)
    if args.settle:
        if done := resets.settle():
            print(done)
        return 0
    if args.order is not None:
        return _order(resets, args.order, args.signers)
    return _by_hand(resets, args.parts, erased=args.erase, yes=args.yes)


def _order(resets: Resets, source: Path, signers: Path) -> int:
    from pi_controller.errors import MatError
    from pi_controller.system.service import is_systemd_running, run

    try:
        pending = resets.order(source, signers)
    except MatError as error:
        resets.save_outcome(error.message)
        raise
    print(f"the order {pending.number} is accepted: {', '.join(pending.parts)}")
    if not (resets.place.live and is_systemd_running()):
        print(resets.settle())
    elif wrong := run(["systemctl", "reboot"]):
        print(f"it will be done at the next start, but the machine could not be restarted: {wrong}")
    return 0


def _by_hand(resets: Resets, parts: Sequence[ResetPart], *, erased: bool, yes: bool) -> int:
    from pi_controller.system.service import installed_kind, is_systemd_running, run, systemctl

    wanted: tuple[ResetPart, ...] = tuple(part for part in RESET_PARTS if part in parts)
    found = resets.list_items(wanted)
    how = "will be erased" if erased else "will be moved aside"
    for one in found:
        if one.stays:
            print(f"stays: {one.path}: {one.stays}")
        else:
            print(f"{one.part}: {how}: {one.path}")
    print(f"stays: {', '.join(part for part in RESET_PARTS if part not in wanted) or 'none of these'}")
    print("stays: the table's own journal and recordings, the running version, network, keys")
    confirm("reset", "Reset it?", yes=yes)
    service = resets.place.live and is_systemd_running() and installed_kind() == "system"
    if service and (wrong := run([*systemctl(system=True), "stop", NAME])):
        raise UsageError(f"reset: the service does not stop: {wrong}", f"journalctl -u {NAME}")
    resets.accept(wanted, erased=erased)
    try:
        print(resets.settle())
    finally:
        if service and (wrong := run([*systemctl(system=True), "start", NAME])):
            print(f"the service does not start: {wrong}")
    return 0

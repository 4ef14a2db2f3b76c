"""`moccasin-mat reset`: reset an installation to its first start, by hand or at the request of the staff page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, confirm, image_folder
from pi_controller.errors import UsageError
from pi_controller.system.place import DEFAULT_RESET_PARTS, NAME, RESET_PARTS, RESET_REQUEST, ResetPart, make_place

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
        "--requested",
        action="store_true",
        help="accept the reset that the staff page requested, and restart the machine; for its unit",
    )
    what.add_argument(
        "--settle", action="store_true", help="finish an accepted reset that was interrupted; for the machine's start"
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
    from pi_controller.system.reset import Resets

    resets = Resets(here)
    if args.settle:
        if done := resets.settle():
            print(done)
        return 0
    if args.requested:
        return _accept_request(resets)
    return _by_hand(resets, args.parts, erased=args.erase, yes=args.yes)


def _accept_request(resets: Resets) -> int:
    from pi_controller.errors import MatError
    from pi_controller.system.install import RUN
    from pi_controller.system.reset import read_request
    from pi_controller.system.service import is_systemd_running, run

    place = resets.place
    try:
        pending = resets.accept(erased=read_request(place.on_disk(RUN / RESET_REQUEST)))
    except MatError as error:
        resets.save_outcome(error.message)
        raise
    print(f"the reset {pending.number} is accepted: {', '.join(pending.parts)}")
    if not (place.live and is_systemd_running()):
        print(resets.settle())
    elif wrong := run(["systemctl", "reboot"]):
        told = f"the reset will be done at the next start, but the machine could not be restarted: {wrong}"
        resets.save_outcome(told)
        print(told)
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

"""`moccasin-mat update`: install a signed update from a file or a stick, try it once, and roll back if it fails."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.system.place import NAME, PROGRAMS, SIGNERS

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "update",
        "Install a signed update of this program from a file, or from a folder such as a stick: verify, unpack beside, "
        "switch over, and roll back if the new version does not start.",
        "0 done, 2 refused or rolled back: the earlier version runs",
    )
    parser.add_argument(
        "source", metavar="FILE", nargs="?", help="moccasin_mat-VERSION-....whl with its .sig, or a folder"
    )
    parser.add_argument("--settle", action="store_true", help="undo an interrupted trial; for the machine's start")
    parser.add_argument(
        "--folder", metavar="DIR", type=Path, default=PROGRAMS, help="where versions are kept (%(default)s)"
    )
    parser.add_argument(
        "--signers",
        metavar="FILE",
        type=Path,
        default=SIGNERS,
        help="who may sign: lines of 'host' and a public key (%(default)s)",
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Install the update; return 0. Raises `UpdateError`."""
    args = parser().parse_args(argv)
    from pi_controller import __version__
    from pi_controller.errors import MatError
    from pi_controller.system.service import run, systemctl
    from pi_controller.system.update import Programs, save_last_line

    programs = Programs(args.folder, __version__)
    if args.settle:
        if done := programs.settle() if programs.folder.is_dir() else "":
            print(done)
            save_last_line(programs.folder, done)
        return 0
    if not args.source:
        raise UsageError("update: name a file or a folder", "moccasin-mat update /media/stick")
    restart = [*systemctl(system=True), "restart", NAME]
    try:
        done = programs.take(Path(args.source), args.signers, lambda: run(restart))
    except MatError as error:
        save_last_line(programs.folder, error.message)
        raise
    print(done)
    save_last_line(programs.folder, done)
    return 0

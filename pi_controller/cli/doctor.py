"""`moccasin-mat doctor`: run all checks for a few seconds and report on each part in a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, settings_path
from pi_controller.simulation.faults import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "doctor",
        "Check every sensor, the link, the pins and the disk. Take the bead off the mat first.",
        "0 all checks pass, 1 a check fails",
    )
    add_settings(parser, "the table's settings")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.add_argument("--bundle", metavar="FILE.zip", help="also write diagnostic files, without any names")
    parser.add_argument(
        "--sim",
        nargs="?",
        const="",
        metavar="FAULT",
        help=f"check a simulated mat, with a FAULT if one is named: {', '.join(KINDS)}; '=N' is the part",
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Run the checks and print the report; return 0 if none fails, else 1."""
    args = parser().parse_args(argv)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from pi_controller.simulation.faults import parse_fault
    from pi_controller.system.doctor import examine, write_bundle

    sim = None if args.sim is None else [parse_fault(args.sim)] if args.sim else []
    bar = Console(stderr=True)
    with Progress(
        TextColumn("checking the mat"),
        BarColumn(),
        console=bar,
        transient=True,
        disable=args.json or not bar.is_terminal,
    ) as progress:
        task = progress.add_task("", total=1.0)
        report, settings = examine(settings_path(args), sim, lambda share: progress.update(task, completed=share))
    if args.json:
        print(report.json().decode())
    else:
        report.show(Console(highlight=False))
    if args.bundle:
        write_bundle(Path(args.bundle), report, settings)
        if not args.json:
            print(f"diagnostic files to send to support: {args.bundle}")
    return 0 if report.ok else 1

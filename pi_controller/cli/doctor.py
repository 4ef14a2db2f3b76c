"""`moccasin-mat doctor`: runs all checks for a few seconds and reports each part in a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, settings_path
from pi_controller.sim.faulty import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "doctor",
        "Look at every sensor, the link, the pins and the disk. Take the bead off the mat first.",
        "0 nothing fails, 1 something does",
    )
    add_settings(parser, "the table's settings")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.add_argument("--bundle", metavar="FILE.zip", help="also write what helps to find a fault, without any names")
    parser.add_argument(
        "--sim",
        nargs="?",
        const="",
        metavar="FAULT",
        help=f"look at a simulated mat, with a FAULT if one is named: {', '.join(KINDS)}; '=N' says which part",
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Look, tell, and return 0 when nothing fails, else 1."""
    args = parser().parse_args(argv)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from pi_controller.doctor.bundle import write
    from pi_controller.doctor.examination import examine
    from pi_controller.sim.faulty import parse

    sim = None if args.sim is None else [parse(args.sim)] if args.sim else []
    bar = Console(stderr=True)
    with Progress(
        TextColumn("listening to the mat"),
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
        write(Path(args.bundle), report, settings)
        if not args.json:
            print(f"to send to whoever helps: {args.bundle}")
    return 0 if report.ok else 1

"""`moccasin-mat run`: run one table on real hardware until it is stopped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path
from pi_controller.system import logs

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "run",
        "Run a table: the board, the buttons, the strips, the live page. Ctrl-C stops it. At a terminal, with no "
        "settings yet, it first asks the questions of 'moccasin-mat setup-table'.",
    )
    add_settings(parser, "the table's settings")
    logs.add_option(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run a table until it is stopped; return 0 or raise `MatError`."""
    args = parser().parse_args(argv)
    logs.configure(args.log_level)
    path = settings_path(args)
    if path is None and sys.stdin.isatty() and sys.stdout.isatty():
        from pi_controller.cli.setup_table import offer_setup

        path = offer_setup()
    from pi_controller.runtime.run import run_table
    from pi_controller.system.status import own_channel, report_start_faults

    with report_start_faults(own_channel()):
        run_table(load_settings(path), (path or Path()).parent)
    return 0

"""`moccasin-mat run`: one table on real hardware, until it is stopped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller import logging_setup
from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "run",
        "Run a table: the board, the buttons, the strips, the live page. Ctrl-C stops it. At a terminal, with no "
        "settings yet, it asks first what 'moccasin-mat setup-table' asks.",
    )
    add_settings(parser, "the table's settings")
    logging_setup.add_option(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run a table until it is stopped; returns 0 or raises `MatError`."""
    args = parser().parse_args(argv)
    logging_setup.configure(args.log_level)
    path = settings_path(args)
    if path is None and sys.stdin.isatty() and sys.stdout.isatty():
        from pi_controller.cli.setup_table import offered

        path = offered()
    from pi_controller.run import run_table

    run_table(load_settings(path), (path or Path()).parent)
    return 0

"""`moccasin-mat check-settings`: check a settings file, or print a commented example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, load_settings
from pi_controller.rules import registry

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "check-settings", "Check a settings file: print the effective settings, or every fault with its line."
    )
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="the settings file; without one, the defaults are shown"
    )
    parser.add_argument("--example", action="store_true", help="print a commented settings file with every default")
    parser.add_argument("--game", metavar="GAME", help=f"game of the example: {', '.join(registry.names())}")
    return parser


def main(argv: Sequence[str]) -> int:
    """Check a file, or print the example; return 0. Raises `SettingsError` with all faults."""
    reads = parser()
    args = reads.parse_args(argv)
    if args.example and args.file is not None:
        reads.error("--example takes no file")
    if args.game is not None and not args.example:
        reads.error("--game is for --example: a settings file names its own game")
    from pi_controller.config import format_example, format_settings
    from pi_controller.config.example import explain_missing_chances, game_defaults

    if args.example:
        print(format_example(game_defaults(args.game)), end="")
        return 0
    settings = load_settings(None if args.file is None else Path(args.file))
    print("ok")
    if settings.web.chances and (missing := explain_missing_chances(settings)):
        print(f"note: {missing}")
    print(format_settings(settings), end="")
    return 0

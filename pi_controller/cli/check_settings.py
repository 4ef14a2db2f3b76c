"""`moccasin-mat check-settings`: checks a settings file, or prints a commented example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, load_settings
from pi_controller.games import registry

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser("check-settings", "Check a settings file: print what will be used, or every fault with its line.")
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="the settings file; without one, the defaults are shown"
    )
    parser.add_argument("--example", action="store_true", help="print a commented settings file with every default")
    parser.add_argument("--game", metavar="GAME", help=f"of the example: {', '.join(registry.names())}")
    return parser


def main(argv: Sequence[str]) -> int:
    """Check a file, or print the example; return 0. `SettingsError` lists all faults."""
    reads = parser()
    args = reads.parse_args(argv)
    if args.example and args.file is not None:
        reads.error("--example takes no file")
    if args.game is not None and not args.example:
        reads.error("--game is of the --example: a settings file names its own")
    from pi_controller.table.settings_example import example, no_chances, of_game, used

    if args.example:
        print(example(of_game(args.game)), end="")
        return 0
    settings = load_settings(None if args.file is None else Path(args.file))
    print("ok")
    if settings.web.chances and (missing := no_chances(settings)):
        print(f"note: {missing}")
    print(used(settings), end="")
    return 0

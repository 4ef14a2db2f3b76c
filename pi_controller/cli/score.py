"""`moccasin-mat score`: keep score on paper: actions in, states and called words out, a JSON object a line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_actions, open_actions
from pi_controller.rules import registry

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser(games: Sequence[str] | None = None) -> Parser:
    """Return the parser; its help lists the options of `games` (default: all)."""
    parser = Parser(
        "score",
        "Keep score: actions in, states and called words out, a JSON object a line.",
        "0 every action was accepted",
        "\n\n".join(map(_options, registry.names() if games is None else games)),
    )
    parser.add_argument("game", metavar="GAME", help=", ".join(registry.names()))
    add_actions(parser)
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="choose an option")
    parser.usage = "moccasin-mat score GAME [--set OPTION=VALUE]... [FILE]"
    return parser


def main(argv: Sequence[str]) -> int:
    """Keep the score of one game; return 0 if every action was accepted, 2 otherwise. Raises `UsageError`."""
    named = [name for name in registry.names() if name in argv] or registry.names()
    args = parser(named if {"-h", "--help"} & set(argv) else ()).parse_intermixed_args(argv)
    from pi_controller.rules.options import from_text
    from pi_controller.rules.sheet import run

    game = registry.game(args.game, from_text(args.set))
    with open_actions(args.file) as lines:
        return run(game, lines, sys.stdout)


def _options(name: str) -> str:
    from pi_controller.rules.options import describe_options

    try:
        kind = registry.game_class(name)
    except registry.GamePackageError as error:
        return error.message
    lines = (f"options of {name} (version {kind.version}; {kind.source}):", *describe_options(kind.options))
    return "\n  ".join(lines)

"""`moccasin-mat score`: keeps score on paper, actions in, states and words called out, a JSON object a line each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.games import registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def parser(games: Sequence[str] | None = None) -> Parser:
    """Return the parser; its help lists the options of `games` (default: all there are)."""
    parser = Parser(
        "score",
        "Keep score: an action a line in, the state and the words called a line out, all JSON.",
        "0 every action was accepted",
        "\n\n".join(map(_options, registry.names() if games is None else games)),
    )
    parser.add_argument("game", metavar="GAME", help=", ".join(registry.names()))
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="the actions (default: standard input)")
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="choose an option")
    parser.usage = "moccasin-mat score GAME [--set OPTION=VALUE]... [FILE]"
    return parser


def main(argv: Sequence[str]) -> int:
    """Keep the score of one game; return 0 when every action was accepted, 2 otherwise. Raises `UsageError`."""
    named = [name for name in registry.names() if name in argv] or registry.names()
    args = parser(named if {"-h", "--help"} & set(argv) else ()).parse_intermixed_args(argv)
    from pi_controller.games.options import from_text
    from pi_controller.games.sheet import run

    game = registry.game(args.game, from_text(args.set))
    if args.file == "-":
        return run(game, _readable(sys.stdin.buffer, "standard input"), sys.stdout)
    try:
        source = Path(args.file).open("rb")  # noqa: SIM115 - closed below; here only opening it may fail
    except OSError as error:
        raise _unreadable(args.file, error) from error
    with source:
        return run(game, _readable(source, args.file), sys.stdout)


def _options(name: str) -> str:
    from pi_controller.games.options import table

    try:
        kind = registry.kind(name)
    except registry.GamePackageError as error:
        return error.what
    lines = (f"options of {name} (version {kind.version}; {kind.source}):", *table(kind.options))
    return "\n  ".join(lines)


def _readable(lines: Iterable[bytes], name: str) -> Iterator[bytes]:
    try:
        yield from lines
    except OSError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: OSError) -> UsageError:
    return UsageError(
        f"cannot read {name}: {error.strerror or error}", "name a file of actions, one JSON object a line"
    )

"""`moccasin-mat bracket`: run a tournament on paper: results in, pairings and eliminations out, a JSON line each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pi_controller.cli.arguments import Parser, add_actions, open_actions
from pi_controller.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.tournament import Competition

FORMATS = ("double", "single", "round_robin", "groups")


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "bracket",
        "Run a tournament: results in; playable matches, eliminated teams and standings out, a JSON object a line.",
        "0 every action was accepted",
    )
    parser.add_argument("--format", choices=FORMATS, default="double", help="double elimination (default), or another")
    parser.add_argument("--groups", type=int, default=2, metavar="N", help="groups: number of round robins (default 2)")
    parser.add_argument(
        "--through",
        type=int,
        default=2,
        metavar="N",
        help="groups: teams of each group that reach the elimination (default 2)",
    )
    parser.add_argument(
        "--knockout",
        choices=("single", "double"),
        default="single",
        help="groups: kind of elimination (default single)",
    )
    parser.add_argument("--best-of", type=int, choices=(1, 3, 5), default=1, help="games of a match (default 1)")
    parser.add_argument(
        "--withdrawn",
        choices=("forfeit", "annul"),
        default="forfeit",
        help="round robin: opponents win the open games of a withdrawn team, or all its games are annulled",
    )
    parser.add_argument(
        "--play-off",
        choices=("first", "all", "none"),
        default="first",
        help="round robin: ties to be played off (default: those for first place)",
    )
    parser.add_argument(
        "--page", metavar="FILE", help="write the bracket and the standings at the end, as one HTML page"
    )
    parser.add_argument("--title", default="Tournament", help="title of the page")
    add_actions(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run one tournament; return 0 when every action was accepted, 2 otherwise. Raises `UsageError`."""
    args = parser().parse_args(argv)
    from pi_controller.rules.sheet import answer
    from pi_controller.tournament import Elimination, Groups, RoundRobin

    competition: Competition
    match args.format:
        case "round_robin":
            competition = RoundRobin(args.best_of, withdrawn=args.withdrawn, play_off=args.play_off)
        case "groups":
            try:
                competition = Groups(args.groups, args.through, args.knockout, args.best_of, withdrawn=args.withdrawn)
            except ValueError as error:
                raise UsageError(str(error), "choose other --groups or --through") from error
        case _:
            competition = Elimination(args.format, args.best_of)
    state = competition.opening

    def play(action: Any) -> dict[str, Any]:
        nonlocal state
        state = competition.play(state, action)
        return competition.public_summary(state)

    with open_actions(cast("str", args.file)) as lines:
        status = answer(competition.public_summary(state), play, lines, sys.stdout)
    if args.page is not None:
        from pi_controller.web.bracket_page import page

        try:
            Path(args.page).write_text(page(competition, state, args.title), "utf-8")
        except OSError as error:
            raise UsageError(
                f"cannot write {args.page}: {error.strerror or error}", "name a file that can be written"
            ) from error
    return status

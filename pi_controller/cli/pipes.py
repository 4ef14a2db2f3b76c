"""`moccasin-mat score`, `referee` and `bracket`: programs on a pipe, JSON lines in, JSON lines out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pi_controller.cli.arguments import Parser, add_actions, add_paper, open_actions
from pi_controller.entry_points import PluginError
from pi_controller.errors import UsageError, describe_error
from pi_controller.referee.settings import FOUL_TREATMENTS, PRESETS, Mode, RefereeSettings
from pi_controller.rules import registry
from pi_controller.rules.options import describe_options, from_text
from pi_controller.text import did_you_mean, format_value, join_words

if TYPE_CHECKING:
    from pi_controller.tournament import Competition


def score_parser(games: Sequence[str] | None = None) -> Parser:
    """Return the parser; its help lists the options of `games` (default: all)."""
    parser = Parser(
        "score",
        "Keep score: actions in, states and called words out, a JSON object a line.",
        "0 every action was accepted",
        "\n\n".join(map(_game_options, registry.names() if games is None else games)),
    )
    parser.add_argument("game", metavar="GAME", help=", ".join(registry.names()))
    add_actions(parser)
    parser.add_argument("--set", metavar="OPTION=VALUE", action="append", default=[], help="choose an option")
    parser.usage = "moccasin-mat score GAME [--set OPTION=VALUE]... [FILE]"
    return parser


def score(argv: Sequence[str]) -> int:
    """Keep the score of one game; return 0 if every action was accepted, 2 otherwise. Raises `UsageError`."""
    named = [name for name in registry.names() if name in argv] or registry.names()
    args = score_parser(named if {"-h", "--help"} & set(argv) else ()).parse_intermixed_args(argv)
    from pi_controller.rules.sheet import run

    game = registry.game(args.game, from_text(args.set))
    with open_actions(args.file) as lines:
        return run(game, lines, sys.stdout)


def _game_options(name: str) -> str:
    try:
        kind = registry.game_class(name)
    except PluginError as error:
        return error.message
    lines = (f"options of {name} (version {kind.version}; {kind.source}):", *describe_options(kind.options))
    return "\n  ".join(lines)


_REFEREE_LINES = """one line in:
  {"t": 3.2, "event": "hand_in" | "hand_out", "pad": 1, "side": "hider" | "hitter" | null}    null: unknown
  {"t": 9.0, "event": "beads", "found": [{"pad": 3, "marked": true}]}
  {"t": 9.5, "event": "button", "name": "toss_a" | "toss_b" | "ready" | "shown"}       slahal: also "left", "inside" ...
  {"t": 9.6, "event": "button", "name": "ready_a" | "ready_b"}         counts only while that team hides
  {"t": 14.1, "event": "strike", "pads": [2]}
  {"t": 15.0, "event": "link", "up": false, "why": "..."}
  {"t": 20.0, "judge": "action", "action": {"do": "hit", "found": true}}
  {"t": 21.0, "judge": "answer", "answer": "play_on"}
  {"t": 22.0, "judge": "undo" | "hide_again", "reason": "..."}
  {"t": 23.0, "judge": "replace", "action": {"do": "hit", "found": false}}         undo, and this in its place
  {"t": 24.0, "judge": "hidden"}                                                   the hiders are ready
  {"t": 25.0, "judge": "set", "sheet": {...}, "reason": "..."}                     the judge sets the score
  {"t": 26.0, "judge": "sensors", "on": false, "reason": "..."}
  {"t": 27.0, "judge": "protest", "by": "A", "text": "..."}
  {"t": 28.0, "judge": "ruling", "ruling": "upheld" | "denied" | "play_on", "reason": "..."}
  {"t": 29.0, "judge": "clock", "running": false}
  {"t": 30.0, "judge": "close", "by": "A", "cause": "forfeit" | "disqualified" | "no_show", "reason": "..."}

presets:
"""


def referee_parser() -> Parser:
    """Return the parser of `referee`."""
    parser = Parser(
        "referee",
        "Judge mat events from standard input: a JSON object a line in, the facts a line out.",
        "0 every line was accepted",
        _REFEREE_LINES + "\n".join(f"  {name:<11} {what}" for name, what in PRESETS.items()),
    )
    parser.add_argument("game", metavar="GAME", help=f"one of: {', '.join(registry.names())}")
    parser.add_argument(
        "--set", metavar="OPTION=VALUE", action="append", default=[], help="choose an option of the game"
    )
    parser.add_argument(
        "--foul",
        metavar="KIND=MODE",
        action="append",
        default=[],
        help=f"automatic, ask or off for one of {', '.join(FOUL_TREATMENTS)}",
    )
    parser.add_argument("--preset", metavar="PRESET", default="home", help=f"{', '.join(PRESETS)}: defaults for --foul")
    parser.add_argument(
        "--nearest",
        metavar="PADS",
        default="",
        help="the pads, nearest to the hitter first, such as 2,3,1,4; of two struck at once the nearer counts",
    )
    return parser


def referee(argv: Sequence[str]) -> int:
    """Referee one game; return 0 if every line was accepted, 2 otherwise. Raises `MatError`."""
    args = referee_parser().parse_args(argv)
    if args.preset not in PRESETS:
        raise UsageError(
            f"there is no preset {format_value(args.preset)}{did_you_mean(args.preset, PRESETS)}",
            f"presets: {join_words(PRESETS)}",
        )
    import secrets

    from pi_controller.referee.selection import referee_for
    from pi_controller.referee.stream import run

    game = registry.game(args.game, from_text(args.set))
    seconds = game.settings.get("hit_seconds")
    settings = RefereeSettings(
        fouls=cast("dict[str, Mode]", from_text(args.foul)),
        hit_seconds=float(seconds) if isinstance(seconds, int | float) else None,
        nearest=_nearest_pads(args.nearest),
        preset=args.preset,
    )
    return run(game, referee_for(game, settings, secrets.token_bytes), sys.stdin.buffer, sys.stdout)


def _nearest_pads(text: str) -> tuple[int, ...]:
    """Return the pads in a text like `2,3,1,4`; the settings check their numbers."""
    words = text.split(",") if text else []
    if not all(word.strip().isdecimal() for word in words):
        raise UsageError(f"--nearest is invalid: {format_value(text)}", "write pads with commas: 2,3,1,4")
    return tuple(int(word[:9]) for word in words)


_LEAGUE_GAME = "slahal"
"""The game of the source's round robin."""
_FORMATS = ("double", "single", "round_robin", "groups")


def bracket_parser() -> Parser:
    """Return the parser of `bracket`."""
    parser = Parser(
        "bracket",
        "Run a tournament: results in; playable matches, eliminated teams and standings out, a JSON object a line.",
        "0 every action was accepted",
    )
    parser.add_argument("--format", choices=_FORMATS, default="double", help="double elimination (default), or another")
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
        "--third-place",
        action="store_true",
        help="single elimination: the losers of the semi-finals play for third place",
    )
    parser.add_argument(
        "--game",
        choices=registry.names(),
        help="the game that is played, for its check of the sticks of a result "
        f"(default {_LEAGUE_GAME} in a round robin or groups, else {registry.DEFAULT_GAME})",
    )
    parser.add_argument(
        "--page",
        metavar="FILE",
        help="write the bracket and the standings at the end, as an HTML page or as a PDF, by the file's ending",
    )
    add_paper(parser)
    parser.add_argument("--title", default="Tournament", help="title of the page")
    add_actions(parser)
    return parser


def bracket(argv: Sequence[str]) -> int:
    """Run one tournament; return 0 when every action was accepted, 2 otherwise. Raises `UsageError`."""
    args = bracket_parser().parse_args(argv)
    from pi_controller.rules.sheet import answer
    from pi_controller.tournament import Elimination, Groups, RoundRobin

    competition: Competition
    usual = _LEAGUE_GAME if args.format in {"round_robin", "groups"} else registry.DEFAULT_GAME
    check_slip = registry.game_class(args.game or usual).check_slip
    match args.format:
        case "round_robin":
            options = {"withdrawn": args.withdrawn, "play_off": args.play_off}
            competition = RoundRobin(args.best_of, **options, check_slip=check_slip)
        case "groups":
            try:
                competition = Groups(
                    args.groups,
                    args.through,
                    args.knockout,
                    args.best_of,
                    withdrawn=args.withdrawn,
                    third_place=args.third_place,
                    check_slip=check_slip,
                )
            except ValueError as error:
                raise UsageError(str(error), "choose other --groups or --through, or no --third-place") from error
        case _:
            try:
                competition = Elimination(args.format, args.best_of, args.third_place, check_slip)
            except ValueError as error:
                raise UsageError(str(error), "choose --format single") from error
    state = competition.opening

    def play(action: Any) -> dict[str, Any]:
        nonlocal state
        state = competition.play(state, action)
        return competition.public_summary(state)

    with open_actions(cast("str", args.file)) as lines:
        status = answer(competition.public_summary(state), play, lines, sys.stdout)
    if args.page is not None:
        from pi_controller.display.i18n import ENGLISH
        from pi_controller.host.pdf import write_pdf
        from pi_controller.web.bracket_sheets import page

        html, path = page(competition, state, args.title, ENGLISH), Path(args.page)
        if path.suffix.lower() == ".pdf":
            write_pdf(html, path, paper=args.paper)
            return status
        try:
            path.write_text(html, "utf-8")
        except OSError as error:
            raise UsageError(
                f"cannot write {args.page}: {describe_error(error)}", "name a file that can be written"
            ) from error
    return status

"""`moccasin-mat referee`: the referee on a pipe: mat events and commands in, facts out, a JSON object a line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.referee.settings import FOUL_TREATMENTS, PRESETS, Mode, RefereeSettings
from pi_controller.rules import registry
from pi_controller.text import did_you_mean, format_value, join_words

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINES = """one line in:
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


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "referee",
        "Judge mat events from standard input: a JSON object a line in, the facts a line out.",
        "0 every line was accepted",
        _LINES + "\n".join(f"  {name:<11} {what}" for name, what in PRESETS.items()),
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


def main(argv: Sequence[str]) -> int:
    """Referee one game; return 0 if every line was accepted, 2 otherwise. Raises `MatError`."""
    args = parser().parse_args(argv)
    if args.preset not in PRESETS:
        raise UsageError(
            f"there is no preset {format_value(args.preset)}{did_you_mean(args.preset, PRESETS)}",
            f"presets: {join_words(PRESETS)}",
        )
    import secrets

    from pi_controller.referee.base import referee_for
    from pi_controller.referee.stream import run
    from pi_controller.rules.options import from_text

    game = registry.game(args.game, from_text(args.set))
    seconds = game.settings.get("hit_seconds")
    settings = RefereeSettings(
        fouls=cast("dict[str, Mode]", from_text(args.foul)),
        hit_seconds=float(seconds) if isinstance(seconds, int | float) else None,
        nearest=_pads(args.nearest),
        preset=args.preset,
    )
    return run(game, referee_for(game, settings, secrets.token_bytes), sys.stdin.buffer, sys.stdout)


def _pads(text: str) -> tuple[int, ...]:
    """Return the pads in a text like `2,3,1,4`; the settings check their numbers."""
    words = text.split(",") if text else []
    if not all(word.strip().isdecimal() for word in words):
        raise UsageError(f"--nearest is invalid: {format_value(text)}", "write pads with commas: 2,3,1,4")
    return tuple(int(word[:9]) for word in words)

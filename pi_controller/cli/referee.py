"""`moccasin-mat referee`: the referee on a pipe, mat events and judge's calls in, facts out, a JSON object a line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.games.wording import listed, nearest, shown
from pi_controller.referee.settings import PRESETS, SENSED, Mode, RefereeSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINES = """one line in:
  {"t": 3.2, "event": "hand_in" | "hand_out", "pad": 1}
  {"t": 9.0, "event": "beads", "found": [{"pad": 3, "marked": true}]}
  {"t": 9.5, "event": "button", "name": "toss_a" | "toss_b" | "ready" | "shown"}       slahal: also "left", "inside" ...
  {"t": 14.1, "event": "strike", "pads": [2]}
  {"t": 15.0, "event": "link", "up": false, "why": "..."}
  {"t": 20.0, "judge": "action", "action": {"do": "hit", "found": true}}
  {"t": 21.0, "judge": "answer", "answer": "play_on"}
  {"t": 22.0, "judge": "undo" | "hide_again", "reason": "..."}
  {"t": 23.0, "judge": "replace", "action": {"do": "hit", "found": false}}         undo, and this in its place
  {"t": 24.0, "judge": "hidden"}                                                   the hiders are ready
  {"t": 25.0, "judge": "set", "sheet": {...}, "reason": "..."}                     the table stands so
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
        "Judge mat events from standard input: a JSON object a line in, what follows a line out.",
        "0 every line could be taken",
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
        help=f"automatic, ask or off for one of {', '.join(SENSED)}",
    )
    parser.add_argument(
        "--preset", metavar="PRESET", default="home", help=f"{', '.join(PRESETS)}: what --foul leaves open"
    )
    parser.add_argument(
        "--nearest",
        metavar="PADS",
        default="",
        help="the pads from the nearest to the hitter on, 2,3,1,4 say: of two struck at once the first of these counts",
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Referee one game; return 0 when every line could be taken, 2 otherwise. Raises `MatError`."""
    args = parser().parse_args(argv)
    if args.preset not in PRESETS:
        raise UsageError(
            f"there is no preset {shown(args.preset)}{nearest(args.preset, PRESETS)}", f"presets: {listed(PRESETS)}"
        )
    import secrets

    from pi_controller.games.options import from_text
    from pi_controller.referee.referees import referee_for
    from pi_controller.referee.stream import run

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
    """Return the pads that `2,3,1,4` names; which may be named is the settings' to say."""
    words = text.split(",") if text else []
    if not all(word.strip().isdecimal() for word in words):
        raise UsageError(f"--nearest cannot be {shown(text)}", "write pads with commas: 2,3,1,4")
    return tuple(int(word[:9]) for word in words)

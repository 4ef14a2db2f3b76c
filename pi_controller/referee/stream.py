"""The referee on a pipe, `moccasin-mat referee`: mat events and judge's calls in, facts out, a JSON object a line.

Time is what the lines say: a line at `t` first lets everything happen that was due by then.
"""

from __future__ import annotations

import secrets
import sys
from argparse import RawDescriptionHelpFormatter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO, cast

import msgspec

from pi_controller.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.games import registry
from pi_controller.games.base import Game, IllegalActionError, InvalidActionError
from pi_controller.games.options import from_text
from pi_controller.games.wording import listed, nearest, shown
from pi_controller.referee import lines
from pi_controller.referee.facts import Done, Fact, StateSet, Undone
from pi_controller.referee.history import History
from pi_controller.referee.reducer import blank
from pi_controller.referee.referees import referee_for
from pi_controller.referee.settings import PRESETS, SENSED_FOULS, Mode, RefereeSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pi_controller.referee.base import Referee
    from pi_controller.referee.story import Story

MOMENT_S = 0.5
_TODO = "the line is passed over; 'moccasin-mat referee --help' shows the lines it takes"
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
_HELP = _LINES + "\n".join(f"  {name:<11} {what}" for name, what in PRESETS.items())


class Pipe:
    """One game refereed from lines; `out` is called with each object to print."""

    def __init__(self, game: Game[Any], referee: Referee, out: Callable[[dict[str, Any]], None]) -> None:
        self.game = game
        self.history = History(game, replace(blank(game), link=True))  # whoever writes events has a board
        self._referee = referee
        self._out = out
        self._t = 0.0
        self._lines = 0

    @property
    def story(self) -> Story:
        """Where the game stands."""
        return self.history.now

    def line(self, line: bytes) -> bool:
        """Take in a line; return whether it could be taken. Blank lines are passed over."""
        self._lines += 1
        if not line.strip():
            return True
        try:
            said = lines.read(line)
            self._pass(said.t)
            self._t = said.t
            facts = self.history.decided(said, self._referee.decide)
        except (InvalidActionError, IllegalActionError) as error:
            message = f"line {self._lines}: {error.what}; {error.todo or _TODO}"
            self._out({"error": {"kind": error.code, "message": message, "line": self._lines}})
            return False
        self._write_facts(facts)
        if any(isinstance(fact, Undone) for fact in facts):
            self._write_facts(self._referee.tick(self.story, said.t))
        return True

    def end(self) -> None:
        """The lines have ended: the mat gets the time it would have had to look for the bead, and then asks.

        What is due within a moment still comes: a stroke that may be a hand.
        """
        due = self._referee.due(self.story)
        if due is not None and (self.story.phase == "check" or due - self._t < MOMENT_S):
            self._write_facts(self._referee.tick(self.story, due))

    def _pass(self, t: float) -> None:
        while (due := self._referee.due(self.story)) is not None and due <= t:
            facts = self._referee.tick(self.story, due)
            if not facts:
                return
            self._write_facts(facts)

    def _write_facts(self, facts: list[Fact]) -> None:
        batch = self.history.batch + 1
        for fact in facts:
            self._out(self._shown(fact, self.history.add(batch, fact)))

    def _shown(self, fact: Fact, story: Story) -> dict[str, Any]:
        told = {"t": fact.t, **cast("dict[str, Any]", msgspec.to_builtins(fact))}
        if isinstance(fact, Done):
            told["calls"] = fact.calls
        if isinstance(fact, Done | StateSet):
            told["state"] = self.game.sheet(story.state)
        return told


def run(game: Game[Any], referee: Referee, source: Iterable[bytes], out: TextIO) -> int:
    """Referee one game; return 0 when every line could be taken, 2 otherwise."""

    def write(answer: dict[str, Any]) -> None:
        out.write(msgspec.json.encode(answer).decode() + "\n")
        out.flush()

    pipe = Pipe(game, referee, write)
    taken = [pipe.line(line) for line in source]
    pipe.end()
    return 0 if all(taken) else 2


def main(argv: Sequence[str]) -> int:
    """Run `moccasin-mat referee GAME [--preset P] [--set OPTION=VALUE]... [--foul KIND=MODE]...`; return its status."""
    parser = Parser(
        "referee", "Judge mat events from standard input: a JSON object a line in, what follows a line out."
    )
    parser.formatter_class, parser.epilog = RawDescriptionHelpFormatter, _HELP
    parser.add_argument("game", metavar="GAME", help=f"one of: {', '.join(registry.names())}")
    parser.add_argument(
        "--set", metavar="OPTION=VALUE", action="append", default=[], help="choose an option of the game"
    )
    parser.add_argument(
        "--foul",
        metavar="KIND=MODE",
        action="append",
        default=[],
        help=f"automatic, ask or off for one of {', '.join(SENSED_FOULS)}",
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
    args = parser.parse_args(argv)
    if args.preset not in PRESETS:
        raise UsageError(
            f"there is no preset {shown(args.preset)}{nearest(args.preset, PRESETS)}", f"presets: {listed(PRESETS)}"
        )
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

"""The referee on a pipe, `moccasin-mat referee`: mat events and judge's calls in, facts out, a JSON object a line.

Time is what the lines say: a line at `t` first lets everything happen that was due by then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO, cast

import msgspec

from pi_controller.games.base import Game, IllegalActionError, InvalidActionError
from pi_controller.referee import lines
from pi_controller.referee.facts import Done, Fact, StateSet, Undone
from pi_controller.referee.history import History
from pi_controller.referee.reducer import blank
from pi_controller.referee.story import LinkState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_controller.referee.base import Referee
    from pi_controller.referee.story import Story

MOMENT_S = 0.5
TODO = "the line is passed over; 'moccasin-mat referee --help' shows the lines it takes"


class Pipe:
    """One game refereed from lines; `out` is called with each object to print."""

    def __init__(self, game: Game[Any], referee: Referee, out: Callable[[dict[str, Any]], None]) -> None:
        self.game = game
        self.history = History(game, replace(blank(game), link=LinkState(up=True)))  # whoever writes events has a board
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
            parsed = lines.read(line)
            self._pass(parsed.t)
            self._t = parsed.t
            facts = self.history.decided(parsed, self._referee.decide)
        except (InvalidActionError, IllegalActionError) as error:
            message = f"line {self._lines}: {error.what}; {error.todo or TODO}"
            self._out({"error": {"kind": error.code, "message": message, "line": self._lines}})
            return False
        self._write_facts(facts)
        if any(isinstance(fact, Undone) for fact in facts):
            self._write_facts(self._referee.tick(self.story, parsed.t))
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
        fields = {"t": fact.t, **cast("dict[str, Any]", msgspec.to_builtins(fact))}
        if isinstance(fact, Done):
            fields["calls"] = fact.calls
        if isinstance(fact, Done | StateSet):
            fields["state"] = self.game.sheet(story.state)
        return fields


def run(game: Game[Any], referee: Referee, source: Iterable[bytes], out: TextIO) -> int:
    """Referee one game; return 0 when every line could be taken, 2 otherwise."""

    def write(answer: dict[str, Any]) -> None:
        out.write(msgspec.json.encode(answer).decode() + "\n")
        out.flush()

    pipe = Pipe(game, referee, write)
    taken = [pipe.line(line) for line in source]
    pipe.end()
    return 0 if all(taken) else 2

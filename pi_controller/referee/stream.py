"""The referee on a pipe, `moccasin-mat referee`: mat events and judge's commands in, facts out, one JSON object a line.

Time is taken from the lines: before a line at `t` is processed, all deadlines up to `t` are.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TextIO, cast

import msgspec

from pi_controller.referee import json_lines
from pi_controller.referee.base import Referee
from pi_controller.referee.facts import ActionPlayed, Fact, StateSet, Undone
from pi_controller.referee.history import Draft, History
from pi_controller.referee.reducer import blank
from pi_controller.referee.story import LinkState, Story
from pi_controller.rules.base import Game, IllegalActionError, InvalidActionError

MOMENT_S = 0.5
LINE_HINT = "the line is skipped; 'moccasin-mat referee --help' shows the lines it takes"


class Pipe:
    """Referee of one game on lines; `out` is called with each object to print."""

    def __init__(self, game: Game[Any], referee: Referee, out: Callable[[dict[str, Any]], None]) -> None:
        self.game = game
        self.history = History(game, replace(blank(game), link=LinkState(up=True)))  # events imply a board
        self._referee = referee
        self._out = out
        self._t = 0.0
        self._lines = 0

    @property
    def story(self) -> Story:
        """The current story."""
        return self.history.now

    def line(self, line: bytes) -> bool:
        """Process a line; return True if it was accepted. Blank lines are skipped."""
        self._lines += 1
        if not line.strip():
            return True
        try:
            parsed = json_lines.parse_line(line)
            self._pass(parsed.t)
            self._t = parsed.t
            draft = self.history.resolve_event(parsed, self._referee.decide)
        except (InvalidActionError, IllegalActionError) as error:
            message = f"line {self._lines}: {error.message}; {error.hint or LINE_HINT}"
            self._out({"error": {"kind": error.code, "message": message, "line": self._lines}})
            return False
        self._write_facts(draft)
        if any(isinstance(fact, Undone) for fact in draft.facts):
            self._write_facts(self._referee.tick(self.history.begin(), parsed.t))
        return True

    def end(self) -> None:
        """Process the end of the input: let the mat's wait for a bead reading time out, so that it asks.

        Deadlines within `MOMENT_S` are also processed: a strike that may be a hand.
        """
        due = self._referee.next_deadline(self.story)
        if due is not None and (self.story.phase == "check" or due - self._t < MOMENT_S):
            self._write_facts(self._referee.tick(self.history.begin(), due))

    def _pass(self, t: float) -> None:
        while (due := self._referee.next_deadline(self.story)) is not None and due <= t:
            draft = self._referee.tick(self.history.begin(), due)
            if not draft.facts:
                return
            self._write_facts(draft)

    def _write_facts(self, draft: Draft) -> None:
        self.history.commit(draft)
        for fact, story in zip(draft.facts, draft.stories, strict=True):
            self._out(self._fact_fields(fact, story))

    def _fact_fields(self, fact: Fact, story: Story) -> dict[str, Any]:
        fields = {"t": fact.t, **cast("dict[str, Any]", msgspec.to_builtins(fact))}
        if isinstance(fact, ActionPlayed):
            fields["calls"] = fact.calls
        if isinstance(fact, ActionPlayed | StateSet):
            fields["state"] = self.game.sheet(story.state)
        return fields


def run(game: Game[Any], referee: Referee, source: Iterable[bytes], out: TextIO) -> int:
    """Referee one game; return 0 if every line was accepted, else 2."""

    def write(answer: dict[str, Any]) -> None:
        out.write(msgspec.json.encode(answer).decode() + "\n")
        out.flush()

    pipe = Pipe(game, referee, write)
    taken = [pipe.line(line) for line in source]
    pipe.end()
    return 0 if all(taken) else 2

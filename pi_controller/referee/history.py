"""Event history with undo: folds facts in order; an undo returns to the story before what it takes back.

A journal is never changed, so an undo is a fact like any other: `Undone(batch=n)` says that batch n and all after it no
longer count. What was so taken back can itself be in the way of an undo: where batch 5 took back batch 4, and batch 8
takes back batch 5, batch 4 counts again. What an undo does not take back (`facts.LASTING`) is told again after it.

The story is frozen: the one before each batch is kept, so an undo costs no more than what lasts of what it takes back.
The table, the pipe and everything that reads a journal use this and nothing else to say what counts.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.referee.facts import LASTING, Fact, Undone
from pi_controller.referee.judge import JudgeAction, JudgeReplace, JudgeUndo
from pi_controller.referee.reducer import apply_batch, blank
from pi_controller.referee.story import Story

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pi_controller.games.base import Game
    from pi_controller.mat.events import MatEvent
    from pi_controller.referee.judge import JudgeCall

S = TypeVar("S")
Record = tuple[int, Fact]
"""A fact with the number of its batch. Numbers only grow; the facts of a batch follow each other."""


class Counted(NamedTuple):
    """A record, and whether it counts in the end."""

    batch: int
    fact: Fact
    counts: bool


class Step(NamedTuple, Generic[S]):
    """A record, whether it counts in the end, and what was before and after it: as it was then, counted or not."""

    batch: int
    fact: Fact
    counts: bool
    before: S
    after: S


def counted(records: Iterable[Record]) -> list[Counted]:
    """Return each record with whether it counts: it was not taken back, or what took it back was, or it lasts."""
    records = list(records)
    gone: set[int] = set()
    first = last = 0  # the undo that was found last took back the batches from first up to last, without it
    for batch, fact in reversed(records):
        if first <= batch < last:
            gone.add(batch)
        elif isinstance(fact, Undone) and batch != last:
            first, last = fact.batch, batch
    return [Counted(batch, fact, batch not in gone or isinstance(fact, LASTING)) for batch, fact in records]


def effective(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records that count."""
    return ((batch, fact) for batch, fact, counts in counted(records) if counts)


def fold(game: Game[Any], records: Iterable[Record]) -> Story:
    """Return the story that the records of a journal tell. Raises the game's errors where the rules do not allow it."""
    history = History(game)
    for _ in history.walk(records):
        pass
    return history.now


class Timeline(Generic[S]):
    """What facts make of a value that starts as `start`; `now` is what they have made of it.

    `apply(value, batch, fact)` returns the value after one more fact and leaves the one it is given as it is.
    """

    def __init__(self, start: S, apply: Callable[[S, int, Fact], S]) -> None:
        self.now = start
        self._apply = apply
        self._numbers: list[int] = []
        self._before: list[S] = []
        self._facts: list[Fact] = []
        """The facts of the last batch."""
        self._lasting: list[Record] = []

    @property
    def batch(self) -> int:
        """The last batch, 0 before the first."""
        return self._numbers[-1] if self._numbers else 0

    def add(self, batch: int, fact: Fact) -> S:
        """Take `fact`, of the last batch or of a new one; return `now`. Where `apply` raises nothing has changed."""
        facts = self._facts if batch == self.batch else []
        value = self._next(self.now, batch, facts, fact)
        if facts is not self._facts:
            self._numbers.append(batch)
            self._before.append(self.now)
            self._facts = facts
        facts.append(fact)
        if isinstance(fact, LASTING):
            self._lasting.append((batch, fact))
        self.now = value
        return value

    def after(self, facts: Sequence[Fact]) -> S:
        """Return what `now` would be after a new batch of `facts`."""
        value, batch = self.now, self.batch + 1
        for n, fact in enumerate(facts):
            value = self._next(value, batch, facts[:n], fact)
        return value

    def walk(self, records: Iterable[Record]) -> Iterator[Step[S]]:
        """Take each record and yield what comes of it.

        One that cannot be applied raises the game's errors, unless it does not count: then it changes nothing.
        """
        for batch, fact, counts in counted(records):
            before = self.now
            try:
                self.add(batch, fact)
            except (InvalidActionError, IllegalActionError):
                if counts:
                    raise
            yield Step(batch, fact, counts, before, self.now)

    def _next(self, value: S, batch: int, earlier: Sequence[Fact], fact: Fact) -> S:
        """Return the value after `fact`, where `value` is the one before it and `earlier` are the facts of its batch
        so far."""
        back = bisect_left(self._numbers, fact.batch) if isinstance(fact, Undone) else len(self._numbers)
        if back == len(self._numbers) or self._numbers[back] >= batch:  # no undo, or one that takes back nothing
            return self._apply(value, batch, fact)
        value = self._before[back]
        for number, lasting in self._lasting[bisect_left(self._lasting, self._numbers[back], key=itemgetter(0)) :]:
            if number < batch:
                value = self._apply(value, number, lasting)
        for one in (*earlier, fact):
            value = self._apply(value, batch, one)
        return value


class History(Timeline[Story]):
    """The history of one game of `game`, from `start` on (the blank story)."""

    def __init__(self, game: Game[Any], start: Story | None = None) -> None:
        super().__init__(start or blank(game), lambda story, batch, fact: apply_batch(game, story, batch, (fact,)))
        self._took_back: dict[int, int] = {}

    def add(self, batch: int, fact: Fact) -> Story:
        """Take `fact`; see `Timeline.add`."""
        story = super().add(batch, fact)
        if isinstance(fact, Undone):
            self._took_back[batch] = fact.batch
        return story

    def append(self, facts: Iterable[Fact], batch: int | None = None) -> Story:
        """Take the facts of a new batch; return the story after them. Raises the game's errors."""
        batch = self.batch + 1 if batch is None else batch
        for fact in facts:
            self.add(batch, fact)
        return self.now

    @property
    def replaced(self) -> int:
        """The batch that a replacement takes back: the last one that changed the game, 0 for none.

        What was itself put in the place of another goes with it: the other does not come back in between.
        """
        last_undoable = self.now.undoable.batch
        while last_undoable in self._took_back:
            last_undoable = self._took_back[last_undoable]
        return last_undoable

    def decided(
        self, event: MatEvent | JudgeCall, decide: Callable[[Story, MatEvent | JudgeCall], list[Fact]]
    ) -> list[Fact]:
        """Return what follows from `event` as `decide` has it (`Referee.decide`), and append nothing.

        A replacement is an undo and the action in its place: both are allowed, or neither. Raises what `decide` does.
        """
        if not isinstance(event, JudgeReplace):
            return decide(self.now, event)
        undoable, replaced = self.now.undoable, self.replaced
        called = undoable.called if replaced == undoable.batch else ""
        now = replace(self.now, undoable=replace(undoable, batch=replaced, called=called))
        undo = decide(now, JudgeUndo(event.t, event.reason))
        return undo + decide(self.after(undo), JudgeAction(event.t, event.action))

"""Event history with undo: folds facts in order; an undo returns to the story before the batch it takes back.

A journal is never changed, so an undo is itself a fact: `Undone(batch=n)` states that batch n and all later ones no
longer count. An undo can be undone: if batch 5 took back batch 4, and batch 8 takes back batch 5, batch 4 counts again.
Facts that an undo does not take back (`facts.UNDO_PROOF_FACTS`) are applied again after it.

Stories are frozen and the one before each batch is kept, so an undo only has to apply the lasting facts again. The
table, the pipe and every reader of a journal decide by this module alone which facts count.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from pi_controller.referee.facts import (
    UNDO_PROOF_FACTS,
    Fact,
    Ready,
    Undone,
)
from pi_controller.referee.judge import JudgeAction, JudgeCommand, JudgeReplace, JudgeUndo
from pi_controller.referee.reducer import apply_batch, blank
from pi_controller.referee.settings import BEAD_FOULS, PASS_FOULS
from pi_controller.referee.story import SETTLED, Story
from pi_controller.rules.base import Game, IllegalActionError, InvalidActionError
from pi_controller.sensing.events import MatEvent

S = TypeVar("S")
Record = tuple[int, Fact]
"""A fact with the number of its batch. Numbers only grow; the facts of a batch follow each other."""


class Counted(NamedTuple):
    """A record, and whether it counts in the end."""

    batch: int
    fact: Fact
    counts: bool


class HistoryStep(NamedTuple, Generic[S]):
    """A record, whether it counts in the end, and the value before and after applying it."""

    batch: int
    fact: Fact
    counts: bool
    before: S
    after: S


def with_status(records: Iterable[Record]) -> list[Counted]:
    """Return each record with whether it counts.

    A record does not count if it was undone by an undo that itself counts, unless it is a lasting fact.
    """
    records = list(records)
    gone: set[int] = set()
    first = last = 0  # the undo that was found last took back the batches from first up to last, without it
    for batch, fact in reversed(records):
        if first <= batch < last:
            gone.add(batch)
        elif isinstance(fact, Undone) and batch != last:
            first, last = fact.batch, batch
    return [Counted(batch, fact, batch not in gone or isinstance(fact, UNDO_PROOF_FACTS)) for batch, fact in records]


def effective_records(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the records that count."""
    return ((batch, fact) for batch, fact, counts in with_status(records) if counts)


def fold(game: Game[Any], records: Iterable[Record]) -> Story:
    """Return the story after the records of a journal. Raises the game's errors if they break the rules."""
    history = History(game)
    for _ in history.walk(records):
        pass
    return history.now


class Draft(NamedTuple):
    """The next batch of a history before it is written: its facts so far, applied to the story `before` it.

    `stories` has the story after each fact. `History.commit` takes the facts over without applying them again.
    """

    batch: int
    before: Story
    facts: tuple[Fact, ...] = ()
    stories: tuple[Story, ...] = ()

    @property
    def story(self) -> Story:
        """The story after the facts."""
        return self.stories[-1] if self.stories else self.before


class Timeline(Generic[S]):
    """A value folded from facts: it begins as `start`; `now` is its current value.

    `apply(value, batch, fact)` returns the value after one more fact and does not change its argument.
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
        """Apply `fact`, of the last batch or of a new one, and return `now`.

        If `apply` raises, the timeline is unchanged.
        """
        value = self._next(self.now, batch, self._facts if batch == self.batch else (), fact)
        self._record(batch, fact, value)
        return value

    def walk(self, records: Iterable[Record]) -> Iterator[HistoryStep[S]]:
        """Add each record and yield the step it makes.

        A record that cannot be applied raises the game's errors if it counts, and is skipped otherwise.
        """
        for batch, fact, counts in with_status(records):
            before = self.now
            try:
                self.add(batch, fact)
            except (InvalidActionError, IllegalActionError):
                if counts:
                    raise
            yield HistoryStep(batch, fact, counts, before, self.now)

    def _record(self, batch: int, fact: Fact, value: S) -> None:
        """Add `fact`, after which the value is `value`."""
        if batch != self.batch:
            self._numbers.append(batch)
            self._before.append(self.now)
            self._facts = []
        self._facts.append(fact)
        if isinstance(fact, UNDO_PROOF_FACTS):
            self._lasting.append((batch, fact))
        self.now = value

    def _next(self, value: S, batch: int, earlier: Sequence[Fact], fact: Fact) -> S:
        """Return the value after `fact`, given the current `value` and the `earlier` facts of the same batch."""
        back = bisect_left(self._numbers, fact.batch) if isinstance(fact, Undone) else len(self._numbers)
        if back == len(self._numbers) or self._numbers[back] >= batch:  # no undo, or one without an earlier batch
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

    def begin(self, batch: int | None = None) -> Draft:
        """Return the draft of the next batch, without facts; its number is `batch`, by default the next one."""
        return Draft(self.batch + 1 if batch is None else batch, self.now)

    def extend(self, draft: Draft, facts: Iterable[Fact]) -> Draft:
        """Return `draft` with more `facts`, which are applied. Raises the game's errors."""
        done, stories, story = list(draft.facts), list(draft.stories), draft.story
        for fact in facts:
            story = self._next(story, draft.batch, done, fact)
            done.append(fact)
            stories.append(story)
        return draft._replace(facts=tuple(done), stories=tuple(stories))

    def commit(self, draft: Draft) -> Story:
        """Add the facts of `draft` without applying them again; return the story after them.

        Raises `ValueError` if another batch was added since the draft was begun.
        """
        if draft.before is not self.now:
            raise ValueError("the draft was begun before the last batch was added")
        for fact, story in zip(draft.facts, draft.stories, strict=True):
            self._record(draft.batch, fact, story)
        return self.now

    def append(self, facts: Iterable[Fact], batch: int | None = None) -> Story:
        """Apply the facts of a new batch and return the story after them. Raises the game's errors."""
        batch = self.batch + 1 if batch is None else batch
        for fact in facts:
            self.add(batch, fact)
        return self.now

    def _record(self, batch: int, fact: Fact, value: Story) -> None:
        super()._record(batch, fact, value)
        if isinstance(fact, Undone):
            self._took_back[batch] = fact.batch

    @property
    def replaced_batch(self) -> int:
        """The batch that a replacement takes back: the last one that changed the game, or 0.

        If that batch itself replaced another, the other is taken back too and does not return in between.
        """
        last_undoable = self.now.undo_target.batch
        while last_undoable in self._took_back:
            last_undoable = self._took_back[last_undoable]
        return last_undoable

    def resolve_event(
        self,
        event: MatEvent | JudgeCommand,
        decide: Callable[[Draft, MatEvent | JudgeCommand], Draft],
        begun: Draft | None = None,
    ) -> Draft:
        """Return the facts that follow from `event` according to `decide` (`Referee.decide`), without adding them.

        They continue `begun`, by default an empty draft. A replacement is an undo and the action in its place: both are
        allowed, or neither. If a strike causes the undo of an earlier call, `decide` is asked again about the strike.
        Raises the errors of `decide`.
        """
        begun = begun or self.begin()
        if isinstance(event, JudgeUndo):
            return self._with_ready(self._fold_undo(begun, decide(begun, event)), event.t)
        if not isinstance(event, JudgeReplace):
            decided = decide(begun, event)
            taken_back = decided.facts[len(begun.facts) :] and isinstance(decided.facts[-1], Undone)
            return decide(self._fold_undo(begun, decided), event) if taken_back else decided
        undoable, replaced = begun.story.undo_target, self.replaced_batch
        called = undoable.called if replaced == undoable.batch else ""
        now = replace(begun.story, undo_target=replace(undoable, batch=replaced, called=called))
        undo = decide(Draft(begun.batch, now), JudgeUndo(event.t, event.reason))
        return decide(self.extend(begun, undo.facts), JudgeAction(event.t, event.action))

    def _fold_undo(self, begun: Draft, decided: Draft) -> Draft:
        """Return `decided`, in which an undo follows `begun`, with the story before the batch that is taken back."""
        return self.extend(begun, decided.facts[len(begun.facts) :])

    def _with_ready(self, undo: Draft, t: float) -> Draft:
        """Return `undo`, followed by the hiders' ready if the undo took ready back together with a foul called at once.

        The hide then continues unchanged. If a hand went under a pad since, that pass belongs to another hide, and
        ready is not restored.
        """
        now, undone = self.now, undo.facts[-1]
        of_ready = isinstance(undone, Undone) and undone.waives in (*PASS_FOULS, *BEAD_FOULS)
        if not of_ready or now.phase not in SETTLED or now.hide.passes:
            return undo
        return self.extend(undo, [Ready(t)]) if undo.story.phase == "hide" else undo

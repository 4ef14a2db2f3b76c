"""From the journal's records to the story: what was undone does not count, and is still there to read."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pi_controller.referee.facts import LASTING, Fact, Undone
from pi_controller.referee.telling import blank, tell_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_controller.games.base import Game
    from pi_controller.referee.story import Story

Batch = tuple[int, tuple[Fact, ...]]


def batches(records: Iterable[tuple[int, Fact]]) -> Iterator[Batch]:
    """Yield each batch with its facts."""
    for number, group in groupby(records, key=itemgetter(0)):
        yield number, tuple(fact for _, fact in group)


def undone(all_batches: Iterable[Batch]) -> frozenset[int]:
    """Return the numbers of the batches that no longer count.

    Read from the end: an undo that counts takes away its batch and all between. One that was itself taken back
    takes nothing, so what it had undone counts again.
    """
    gone: set[int] = set()
    until: int | None = None
    for number, facts in reversed(list(all_batches)):
        if until is not None and number >= until:
            gone.add(number)
            continue
        for fact in facts:
            if isinstance(fact, Undone):
                until = fact.batch
    return frozenset(gone)


def effective(records: Iterable[tuple[int, Fact]]) -> Iterator[Batch]:
    """Yield the batches that count. Of an undone one the link's ups and downs stay: the board did come and go."""
    everything = list(batches(records))
    gone = undone(everything)
    for number, facts in everything:
        if number in gone:
            facts = tuple(fact for fact in facts if isinstance(fact, LASTING))  # noqa: PLW2901
        if facts:
            yield number, facts


def fold(game: Game[Any], records: Iterable[tuple[int, Fact]]) -> Story:
    """Return the story that the records of a journal tell. Raises the game's errors where the rules do not allow it."""
    story = blank(game)
    for number, facts in effective(records):
        story = tell_batch(game, story, number, facts)
    return story

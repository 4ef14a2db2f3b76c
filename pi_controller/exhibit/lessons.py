"""The guided first game: what is explained, and when. One idea at a time, each exactly when it first happens.

A word of the game is explained in the words of the table's own glossary (`show.words`): how it sounds where the booklet
says so, what it means literally where the booklet says so, what it comes to, and the booklet's caveat on the sounds.
The other steps say what a newcomer does for the first time. Which comes when is decided by facts of the game alone.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.show.i18n import catalogue, mark
from pi_controller.show.words import sounds_by, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_controller.table.view import View

TERMS = ("paguga", "wheya", "yawapi", "sahdogan", "it_stays", "eyeya", "eyeya_obojun", "obojun")
"""Words called that are explained, by their calls."""
FIRSTS: Mapping[str, tuple[str, str]] = {
    "under_way": (
        mark("A game that is under way"),
        mark(
            "We join in the middle. Twenty long sticks pass between the two sides. The hiders have twelve already; "
            "eight lie in the middle and count as the hitters’. With fourteen or sixteen the hiders come near a point."
        ),
    ),
    "hiding": (
        mark("You hide"),
        mark("The hand goes once under each of the four cloths, so that nobody sees where the bead stays."),
    ),
    "hitting": (
        mark("You hit"),
        mark("The bead stays under one cloth. Touch the one where you think it is: finding it now is what you want."),
    ),
    "found_first": (
        mark("Found at the first hit"),
        mark("Four sticks go to the side that found it, from the middle first. That side hides next."),
    ),
    "second_owed": (
        mark("The second hit"),
        mark(
            "There are always two hits. After a miss the hitters want to miss again: to find it now costs more sticks."
        ),
    ),
    "missed_twice": (
        mark("Missed twice"),
        mark("Two sticks go to the side that hid it well, and it hides again."),
    ),
}
"""Steps that are no word of the game: title and text."""
STAND = {
    "hider": "A",
    "long": {"A": 12, "B": 0},
    "middle": 8,
    "short": {"A": 0, "B": 0},
    "owed": "first",
    "situation": None,
    "winner": None,
    "finish": None,
}
"""How the guided game stands at its beginning: near enough to a point that the words come up in a few hides."""


Sticks = tuple[int, int, int]
"""The long sticks of A, of the middle and of B."""


class Lesson(NamedTuple):
    """One step: its `key`, a title, how it sounds and what it means literally (empty where no source says), the text.

    `before` and `after` are the long sticks of A, of the middle and of B; where they differ the sticks that moved are
    lit. `caveat` is what the booklet says of its own spellings of sounds.
    """

    key: str
    title: str
    sounds: str
    text: str
    caveat: str
    before: Sticks
    after: Sticks


class Lessons:
    """What one visitor was shown, and what is still to be shown."""

    def __init__(self) -> None:
        self.explained: list[str] = []
        self._pending: deque[tuple[str, Sticks, Sticks]] = deque()

    @property
    def open(self) -> str:
        """The key of the step that is shown now, empty for none."""
        return self._pending[0][0] if self._pending else ""

    def first(self, key: str, before: Sticks, after: Sticks) -> None:
        """Something happens: explain it unless it was explained. `before` and `after` are the sticks around it."""
        if key in self.explained or (key not in TERMS and key not in FIRSTS):
            return
        self.explained.append(key)
        self._pending.append((key, before, after))

    def hit(self, number: int, calls: Sequence[str], before: Sticks, after: Sticks, *, found: bool) -> None:
        """The first or second hit of a hide is settled: explain what that is, then the words called, in their order."""
        if found and number == 1 and _given(before, after) == 4:
            self.first("found_first", before, after)
        elif not found and number == 2 and _given(before, after) == 2:
            self.first("missed_twice", before, after)
        for call in calls:
            self.first(call, before, after)

    def next(self) -> None:
        """The open step was read."""
        if self._pending:
            self._pending.popleft()

    def lesson(self, language: str) -> Lesson | None:
        """Return the open step in `language`; None for none."""
        if not self._pending:
            return None
        key, before, after = self._pending[0]
        if key in FIRSTS:
            title, said = (catalogue(language).gettext(part) for part in FIRSTS[key])
            return Lesson(key, title, "", said, "", before, after)
        known = word(key, language)
        sounds = " · ".join(filter(None, (known.spoken, f"“{known.literal}”" if known.literal else "")))
        return Lesson(key, known.shown, sounds, known.meaning, sounds_by((key,), language), before, after)


def sticks(view: View) -> Sticks:
    """Return the long sticks of A, of the middle and of B."""
    return view.long.get("A", 0), view.middle, view.long.get("B", 0)


def _given(before: Sticks, after: Sticks) -> int:
    """Return how many sticks one side was given."""
    return max(after[0] - before[0], after[2] - before[2])

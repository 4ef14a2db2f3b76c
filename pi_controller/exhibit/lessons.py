"""The guided first game: which explanations are shown, and when.

Each comes one at a time, when its event first happens. A called word is explained with the table's own glossary
(`game_display.words_of`): pronunciation and literal meaning if the booklet gives them, the effect of the word, and the
booklet's caveat on its spellings of sounds. The other steps explain an action that a newcomer does for the first time.
Only facts of the game decide which step comes when.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import Translator
from pi_controller.rules.scoreboard import Scoreboard
from pi_controller.text import mark

if TYPE_CHECKING:
    from pi_controller.table.view import View


TERMS = ("paguga", "wheya", "yawapi", "sahdogan", "it_stays", "eyeya", "eyeya_obojun", "obojun")
"""Called words that are explained, by their calls."""
FIRSTS: Mapping[str, tuple[str, str]] = {
    "under_way": (
        mark("A game in progress"),
        mark(
            "We join in the middle. Twenty long sticks go back and forth between two sides. The hiders already have "
            "twelve. The eight in the middle count for the hitters. With fourteen or sixteen the hiders are close to "
            "a point."
        ),
    ),
    "hiding": (
        mark("You hide"),
        mark("Your hand goes under each of the four cloths once. So the others cannot see where the bead stays."),
    ),
    "hitting": (
        mark("You hit"),
        mark("The bead is under one cloth. Touch the cloth where you think it is. Now you want to find it."),
    ),
    "found_first": (
        mark("Found at the first hit"),
        mark("Four sticks go to the side that found it, first from the middle. That side hides next."),
    ),
    "second_owed": (
        mark("The second hit"),
        mark("There are two hits. After a miss, the hitters want to miss again: finding it now costs more sticks."),
    ),
    "missed_twice": (
        mark("Missed twice"),
        mark("Two sticks go to the side that hid it, and it hides again."),
    ),
}
"""Steps that explain no called word: title and text."""
_ONLY_TWO = mark("This time only two were left to give: a side keeps its last four.")
"""Added to `found_first` if only two sticks moved."""
START_POSITION = {
    "hider": "A",
    "long": {"A": 12, "B": 0},
    "middle": 8,
    "short": {"A": 0, "B": 0},
    "owed": "first",
    "situation": None,
    "winner": None,
    "finish": None,
}
"""Score sheet at the start of the guided game: so near to a point that the words come up within a few hides."""


Sticks = tuple[int, int, int]
"""The long sticks of A, of the middle and of B."""


class Lesson(NamedTuple):
    """One step: its `key`, a title, pronunciation and literal meaning (empty if no source gives them), and the text.

    `before` and `after` are the long sticks of A, of the middle and of B; if they differ, the sticks that moved are
    lit. `caveat` is the booklet's remark on its own spellings of sounds.
    """

    key: str
    title: str
    sounds: str
    text: str
    caveat: str
    before: Sticks
    after: Sticks


class Lessons:
    """The steps already explained to one visitor, and those waiting to be shown."""

    def __init__(self) -> None:
        self.explained: list[str] = []
        self._pending: deque[tuple[str, Sticks, Sticks]] = deque()

    @property
    def open_step(self) -> str:
        """The key of the step on show; "" for none."""
        return self._pending[0][0] if self._pending else ""

    def explain_once(self, key: str, before: Sticks, after: Sticks) -> None:
        """Queue the step `key` unless it was explained already.

        `before` and `after` are the sticks around its event.
        """
        if key in self.explained or (key not in TERMS and key not in FIRSTS):
            return
        self.explained.append(key)
        self._pending.append((key, before, after))

    def hit(self, number: int, calls: Sequence[str], before: Sticks, after: Sticks, *, found: bool) -> None:
        """Queue the steps for a settled first or second hit: its result, then the called words in order."""
        if found and number == 1 and _max_gain(before, after) in (2, 4):
            self.explain_once("found_first", before, after)
        elif not found and number == 2 and _max_gain(before, after) == 2:
            self.explain_once("missed_twice", before, after)
        for call in calls:
            self.explain_once(call, before, after)

    def close_step(self) -> None:
        """Close the step on show because it was read."""
        if self._pending:
            self._pending.popleft()

    def lesson(self, tr: Translator) -> Lesson | None:
        """Return the step on show in the language of `tr`, or None."""
        if not self._pending:
            return None
        key, before, after = self._pending[0]
        if key in FIRSTS:
            title, said = map(tr.text, FIRSTS[key])
            if key == "found_first" and _max_gain(before, after) == 2:
                said = f"{said} {tr.text(_ONLY_TWO)}"
            return Lesson(key, title, "", said, "", before, after)
        return Lesson(key, *explain_word(key, tr), before, after)


def explain_word(call: str, tr: Translator) -> tuple[str, str, str, str]:
    """Return a called word, its pronunciation and literal meaning, its effect, and the remark on its spelling."""
    show = get_show("dakota", tr)
    known = show.word(call)
    sounds = " · ".join(filter(None, (known.spoken, f"“{known.literal}”" if known.literal else "")))
    return known.shown, sounds, known.meaning, show.sounds_credit((call,))


def sticks(view: View) -> Sticks:
    """Return the long sticks of A, of the middle and of B."""
    return count_sticks(view.scoreboard)


def count_sticks(board: Scoreboard) -> Sticks:
    """Return the long sticks of A, of the middle and of B."""
    return board.bars["A"], board.bars[""], board.bars["B"]


def _max_gain(before: Sticks, after: Sticks) -> int:
    return max(after[0] - before[0], after[2] - before[2])

"""What to announce, derived from two successive public views and nothing else.

So what is played, and when, gives no more away than the page does. Words are called once, when they are new: not again
when the next hide begins with the last one's words still on show, and not when a judge takes something back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pi_controller.show import phrases
from pi_controller.show.game_show import has_sheet
from pi_controller.show.words import word, words_of

if TYPE_CHECKING:
    from pi_controller.table.view import View

_SETTLED = {"show", "over"}
_OVER = 9  # more hits than any hide has
_QUIET = {"check", "halted"}
"""Phases in which no sentence is said: the mat looks for a moment, or the table stands still."""


class Announcement(NamedTuple):
    """The words called, in order, by their names on the score sheet; and what an English voice says after them."""

    words: tuple[str, ...] = ()
    sentence: str = ""

    def __bool__(self) -> bool:
        """Return whether there is anything to hear."""
        return bool(self.words or self.sentence)


def announcement(before: View | None, view: View) -> Announcement:
    """Return what is new in `view`; nothing in the first one, for a table that starts again announces nothing twice."""
    if before is None or before.game != view.game or view.phase == "halted":
        return Announcement()
    return Announcement(_words(before, view), _sentence(before, view))


def _words(before: View, view: View) -> tuple[str, ...]:
    known = words_of(view.game)
    called = tuple(call for call in view.calls if call in known)
    if not called or _same(before, view) or _place(view) < _place(before):
        return ()
    if before.foul and not view.foul and _place(view) == _place(before):
        return ()  # the foul was taken back, and with it came the words of before
    return called


def _same(before: View, view: View) -> bool:
    """Return whether the calls are those that were on show already."""
    if before.calls != view.calls:
        return False
    if has_sheet(view):
        return before.sheet == view.sheet
    return _place(before)[0] == _place(view)[0]


def _place(view: View) -> tuple[int, int]:
    """Return how far play is: the hide that the calls belong to, and how many of its hits are in."""
    if view.hits or view.foul or view.phase in _SETTLED:
        return view.hide, len(view.hits)
    return view.hide - 1, _OVER


def _sentence(before: View, view: View) -> str:
    """Return the score where it changed, and what the table waits for now, in English without any name."""
    if view.phase in _QUIET:
        return ""
    was, now = _nameless(before), _nameless(view)
    words = [score(view)] if _points(view) != _points(before) else []
    waits = phrases.sentence(now)
    if waits != phrases.sentence(was) or before.phase in _QUIET:
        words.append(waits)
    return ". ".join(words)


def score(view: View) -> str:
    """Return the points as a sentence for the ear: `Team A 3, Team B 2`."""
    return ", ".join(f"Team {team} {points}" for team, points in sorted(_points(view).items()))


def _points(view: View) -> dict[str, int]:
    return view.short or view.sheet.get("short", {})


def speakable(call: str, game: str) -> bool:
    """Return whether the word is an English one: only such a word may be spoken by a voice that knows English only."""
    return call in words_of(game) and not word(call, "en", game).sounds


def _nameless(view: View) -> View:
    """Return the view with its people called by letter or number: an English voice would garble their names."""
    names = [
        one.get("name") or one.get("player") for one in view.sheet.get("players") or view.sheet.get("horses") or ()
    ]
    numbered = {name: f"Player {n}" for n, name in enumerate(names, 1)}
    return msgspec.structs.replace(view, teams={"A": "Team A", "B": "Team B"} | numbered)

"""Announcements, derived from two successive public views alone.

So the audio reveals no more than the page does. A word is called once, when it is new: not again when the next hide
begins while the last one's words are still shown, and not after a judge's undo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pi_controller.display.game_display import get_show
from pi_controller.display.i18n import ENGLISH
from pi_controller.display.phrases import Phrases
from pi_controller.referee.story import SETTLED

if TYPE_CHECKING:
    from pi_controller.table.view import View


_OVER = 9  # more hits than any hide has
_QUIET = {"check", "halted"}
"""Phases without sentences: the mat is checking a hide for a moment, or the table is halted."""


class Announcement(NamedTuple):
    """The called words, in order, by their names on the score sheet, and then an English sentence."""

    words: tuple[str, ...] = ()
    sentence: str = ""


def announcement(before: View | None, view: View) -> Announcement:
    """Return the announcement of the changes in `view`; empty for the first view, so that a restart repeats none."""
    if before is None or before.game != view.game or view.phase == "halted":
        return Announcement()
    return Announcement(_words(before, view), _sentence(before, view))


def _words(before: View, view: View) -> tuple[str, ...]:
    known = get_show(view.game, ENGLISH).words
    called = tuple(call for call in view.calls if call in known)
    if not called or _has_same_calls(before, view) or _place(view) < _place(before):
        return ()
    if before.foul and not view.foul and _place(view) == _place(before):
        return ()  # the foul was undone, which brought back the earlier words
    return called


def _has_same_calls(before: View, view: View) -> bool:
    if before.calls != view.calls:
        return False
    return _place(before)[0] == _place(view)[0] if view.hide else before.sheet == view.sheet


def _place(view: View) -> tuple[int, int]:
    """Return how far play is: the hide that the calls belong to, and its number of hits."""
    if view.hits or view.foul or view.phase in SETTLED:
        return view.hide, len(view.hits)
    return view.hide - 1, _OVER


def _sentence(before: View, view: View) -> str:
    """Return the score if it changed, and the next action of the table, in English without names."""
    if view.phase in _QUIET:
        return ""
    was, now = _nameless(before), _nameless(view)
    words = [score(view)] if _points(view) != _points(before) else []
    say = Phrases(ENGLISH)
    waits = say.sentence(now)
    if waits != say.sentence(was) or before.phase in _QUIET:
        words.append(waits)
    return ". ".join(words)


def score(view: View) -> str:
    """Return the points as a spoken sentence: `Team A 3, Team B 2`."""
    return ", ".join(f"Team {team} {points}" for team, points in _points(view).items())


def _points(view: View) -> dict[str, int]:
    return view.scoreboard.scores if view.scoreboard.goal else {}


def is_english_word(call: str, game: str) -> bool:
    """Return whether the word is English: a voice that knows only English may speak no other word."""
    words = get_show(game, ENGLISH).words
    return call in words and not words[call].sounds


def _nameless(view: View) -> View:
    """Return the view with teams and players called by letter or number: an English voice would garble their names."""
    names = {key: f"Player {n}" for n, key in enumerate(view.scoreboard.scores, 1)}
    return msgspec.structs.replace(view, teams={"A": "Team A", "B": "Team B"} if view.scoreboard.of_teams else names)

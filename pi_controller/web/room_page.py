"""The tables of the hall's two pages: the scoreboard or the final screen, and a score bar to lay over a video.

The score bar has the same shape for every game: a cell for each team or player, and one for the pool.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pi_controller.display import game_display
from pi_controller.display.i18n import Translator
from pi_controller.journal.score_history import ScoreHistory
from pi_controller.table.view import View
from pi_controller.web.check_page import sealed_games
from pi_controller.web.game_page import page_of
from pi_controller.web.templates import render

LONG_SENTENCE_CHARS = (34, 76, 110)
"""Limits above which a sentence is set smaller, step by step."""
WIDE, HIGH = 600, 300
"""The box of the score chart's lines, in its own units."""


def room_table(view: View, tr: Translator) -> str:
    """Return the table of the room's page as HTML; after the game it is the final screen."""
    return end(view, tr) if view.phase == "over" and not view.void else page_of(view, tr).table(view)


def end(view: View, tr: Translator) -> str:
    """Return the final screen as HTML: the winner, each side's score, and the score chart."""
    rows = sorted(page_of(view, tr).draw_sides(view), key=lambda side: side.state != "won")
    after = tr.text(game_display.get_show(view.game, tr).after)
    return render("end.html", tr, rows=rows, after=after, **describe_course(view, tr))


def describe_course(view: View, tr: Translator) -> dict[str, Any]:
    """Return the score chart as values for its macro: a line and a name for each side, and what is told of it.

    Before the end of the game there are no lines.
    """
    if view.course is None:
        return {"lines": (), "names": {}, "told": ""}
    sides = dict(zip(view.scoreboard.scores, page_of(view, tr).draw_sides(view), strict=True))
    return {
        "lines": score_lines({sides[key].look: scores for key, scores in view.course.scores.items()}),
        "names": {side.look: side.name for side in sides.values()},
        "told": " · ".join(_summary(view, view.course, tr)),
    }


def score_lines(course: Mapping[str, Sequence[int]]) -> Sequence[dict[str, str]]:
    """Return a line for each side: its score after each turn, from left to right, in a box of `WIDE` by `HIGH`.

    `course` has the scores by the looks of the sides; without scores there are no lines.
    """
    most = max((1, *(n for scores in course.values() for n in scores)))
    lines: list[dict[str, str]] = []
    for place, (look, scores) in enumerate(course.items()):
        steps, aside = max(1, len(scores) - 1), 3 * place  # a small offset keeps overlapping lines visible
        points = [
            f"{WIDE * i / steps:.0f},{(HIGH - 14) * (1 - n / most) + 4 + aside:.0f}" for i, n in enumerate(scores)
        ]
        lines.append({"key": look, "points": " ".join(points)})
    return lines


def _summary(view: View, course: ScoreHistory, tr: Translator) -> list[str]:
    if view.game in sealed_games():
        summary = [tr.plural("{n} hide", "{n} hides", course.turns)]
    else:
        summary = [tr.plural("{n} throw", "{n} throws", course.turns)]
    if course.leads:
        summary.append(tr.plural("the lead changed once", "the lead changed {n} times", course.leads))
    if course.misses:
        summary.append(tr.text("most misses in a row: {n}", n=course.misses))
    return summary


def strip(view: View, tr: Translator) -> str:
    """Return the strip as HTML: team A has a circle, B a square, and players the shapes of the other pages."""
    sides, pool = page_of(view, tr).draw_sides(view), page_of(view, tr).draw_pool(view)
    return render("strip.html", tr, sides=sides, pool=pool, teams=view.scoreboard.of_teams)

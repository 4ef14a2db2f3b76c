"""Content of the hall's two pages: a scoreboard with the mat at a fixed place, and a score bar to lay over a video.

The score bar has the same shape for every game: a cell for each team or player, and one for the pool.
"""

from collections.abc import Mapping, Sequence

from pi_controller.display import game_display
from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.journal.score_history import ScoreHistory
from pi_controller.pads import EVERY_PAD
from pi_controller.table.view import View
from pi_controller.web.check_page import sealed_games
from pi_controller.web.game_page import page_of
from pi_controller.web.live_page import CALLS, Board, make_board
from pi_controller.web.templates import render, text_size

LONG_SENTENCE_CHARS = (34, 76, 110)
"""Limits above which a sentence is set smaller, step by step."""
WIDE, HIGH = 600, 300
"""The box of the score chart's lines, in its own units."""


def room(view: View, tr: Translator) -> Board:
    """Return the room page's content for `view`; after the game its table is the final screen."""
    whole, board = make_board(view, tr), view.scoreboard
    texts, marks = {**whole.texts, "result": Phrases(tr).result(view)}, dict(whole.marks)
    show = game_display.get_show(view.game, tr)
    texts["gist"] = tr.text(show.gist)
    marks["turn"] = (board.winner or board.turn or "").lower() if board.of_teams else ""
    marks["tell"] = text_size(texts["sentence"], LONG_SENTENCE_CHARS)
    marks["tell_result"] = text_size(texts["result"], LONG_SENTENCE_CHARS)
    table = end(view, tr) if view.phase == "over" and not view.void else whole.table
    return Board(texts, marks, whole.layout, table)


def end(view: View, tr: Translator) -> str:
    """Return the final screen as HTML: the winner, each side's score, and the score chart."""
    show, course, sides = game_display.get_show(view.game, tr), view.course, page_of(view, tr).draw_sides(view)
    keys = {key: side.look for key, side in zip(view.scoreboard.scores, sides, strict=True)}
    return render(
        "end.html",
        tr,
        rows=sorted(sides, key=lambda side: side.state != "won"),
        lines=score_lines(course.scores, keys) if course else [],
        names={side.look: side.name for side in sides},
        told=_summary(view, course, tr) if course else [],
        after=tr.text(show.after),
    )


def score_lines(course: Mapping[str, Sequence[int]], keys: Mapping[str, str]) -> Sequence[dict[str, str]]:
    """Return a line for each side: its score after each turn, from left to right, in a box of `WIDE` by `HIGH`.

    `course` has the scores by side, `keys` the looks of the sides; without scores there are no lines.
    """
    most = max((1, *(n for scores in course.values() for n in scores)))
    lines: list[dict[str, str]] = []
    for place, (side, scores) in enumerate(course.items()):
        steps, aside = max(1, len(scores) - 1), 3 * place  # a small offset keeps overlapping lines visible
        points = [
            f"{WIDE * i / steps:.0f},{(HIGH - 14) * (1 - n / most) + 4 + aside:.0f}" for i, n in enumerate(scores)
        ]
        lines.append({"key": keys.get(side, ""), "points": " ".join(points)})
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


_TEXTS = {
    "title",
    "heading",
    "sentence",
    "result",
    "meaning_1",
    "turn_worth",
    "label_as_of",
    "label_live",
    "label_stale",
    "label_ends",
    "label_limit",
}
_PADS = {f"{key}_{pad}" for key in ("pad", "worth") for pad in EVERY_PAD}
_TEXTS |= _PADS | {f"call_{i + 1}" for i in range(CALLS)}
_MARKS = {"phase", "turn_worth", "ends", "ends_stood", "limit", "limit_stood", "calls", "moment", "asked", "struck_by"}
_MARKS |= {f"{key}_{pad}" for key in ("pad", "high") for pad in EVERY_PAD}


def overlay(view: View, tr: Translator) -> Board:
    """Return the overlay's content for `view`, with its strip as the table."""
    whole = room(view, tr)
    texts = dict.fromkeys(_PADS, "") | {key: value for key, value in whole.texts.items() if key in _TEXTS}
    marks = dict.fromkeys(_MARKS, "") | {key: mark for key, mark in whole.marks.items() if key in _MARKS}
    marks["pads"] = "yes" if whole.layout == "pads" else ""
    return Board(texts, marks, "overlay", strip(view, tr))


def strip(view: View, tr: Translator) -> str:
    """Return the strip as HTML: team A has a circle, B a square, and players the shapes of the other pages."""
    sides, pool = page_of(view, tr).draw_sides(view), page_of(view, tr).draw_pool(view)
    return render("strip.html", tr, sides=sides, pool=pool, teams=view.scoreboard.of_teams)

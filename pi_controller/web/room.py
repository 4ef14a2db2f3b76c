"""Content of the page for the room: a hall's scoreboard with the mat always in its place, and a screen for the end.

A game with pads has the layout `pads`, which the script patches key by key; the others stand there by their table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.games.base import other
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap
from pi_controller.show import phrases
from pi_controller.show.game_show import everything, has_sheet, show_of
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import player_name
from pi_controller.show.paint import share
from pi_controller.web.game_page import STROKES, page_of
from pi_controller.web.page_content import Board, board
from pi_controller.web.templates import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.show.chances_bar import ShownChances
    from pi_controller.table.course import Course
    from pi_controller.table.view import View

    Text = Callable[[str], str]

LONG = 34
"""A sentence of more letters is set smaller, on two lines."""
WIDE, HIGH = 600, 300
"""The box that the lines of a game's course are drawn in, in its own units."""


def room(view: View, language: str = "en", chances: ShownChances | None = None) -> Board:  # noqa: ARG001 - shows none
    """Return what the room sees of `view`; once the game is over its table is the screen for the end."""
    whole, page = board(view, language), page_of(view)
    texts, marks, counts, table = dict(whole.texts), dict(whole.marks), dict(whole.counts), whole.table
    counts.pop("chances", None)
    layout = "pads" if page.pads(view, language) else "sheet"
    texts = {"hide_line": "", "goal_line": "", **texts, "result": phrases.result(view, language)}
    gist = show_of(view.game).gist
    texts["gist"] = catalogue(language).gettext(gist) if gist else ""
    marks["turn"] = (page.turn(view) or "").lower() if not show_of(view.game).of_players(view.sheet) else ""
    marks["tell"] = "long" if len(texts["sentence"]) > LONG else ""
    if layout == "pads":
        _pads(view, texts, marks, counts, language)
    if view.phase == "over":
        table = end(view, language)
    elif layout == "pads":
        table = ""
    return Board(texts, marks, counts, layout, table)


def _pads(
    view: View, texts: dict[str, str], marks: dict[str, str], counts: dict[str, tuple[int, int]], language: str
) -> None:
    """Tell the teams and the pads by the keys that Hampa Apena has, where another game is told by its sheet."""
    text, page = catalogue(language).gettext, page_of(view)
    for number, pad in zip(EVERY_PAD, page.pads(view, language), strict=True):
        marks[f"pad_{number}"], marks[f"high_{number}"] = pad.mark, pad.look
        texts[f"pad_{number}"], texts[f"worth_{number}"] = pad.said, pad.worth
    hid = view.before.get("hider") if view.phase in {"show", "over"} else None
    hid = hid or page.turn(view)
    marks["struck_by"] = other(hid).lower() if hid in ("A", "B") else ""
    texts |= {"said_a": "", "said_b": ""}
    if not has_sheet(view):
        return
    strip, sides, lights = page.strip(view, language), page.sides(view, language), pinmap().lights
    for cell in strip.cells:
        key, side = cell.player.lower(), sides[cell.player]
        texts |= {f"name_{key}": side.name, f"role_{key}": side.role, f"points_{key}": str(cell.points)}
        texts |= {f"long_{key}": str(cell.sticks), f"said_{key}": page.of_side(view, cell.player, text)}
        marks[f"role_{key}"] = side.mark
        slots = min(lights.short, max(cell.points, lights.short // 2 + 1))
        counts[f"short_{key}"] = (min(cell.points, slots), slots)
        counts[f"long_{key}"] = (cell.sticks or 0, STROKES)
    amount = strip.rest.amount if strip.rest else 0
    texts |= {
        "middle": str(amount),
        "label_points": text("short sticks"),
        "hits": "",
        "label_middle": text("In the pool"),
    }
    counts["middle"], marks["hits"] = (amount, STROKES), ""


def end(view: View, language: str = "en") -> str:
    """Return the screen for the end as HTML: who won, what each side has, and the lines of the course."""
    page, teams = page_of(view), not show_of(view.game).of_players(view.sheet)
    winner, cells = page.turn(view), page.strip(view, language).cells
    of, total = _most(view), everything(view.sheet)
    rows = [
        {
            "key": cell.player.lower() if teams else f"p{number}",
            "name": player_name(view, cell.player),
            "points": cell.points,
            "won": cell.player == winner,
            "of": of or STROKES,
            "lit": min(cell.points, of) if of else share(cell.points, total, STROKES),
        }
        for number, cell in enumerate(cells, 1)
    ]
    keys = {cell.player: row["key"] for cell, row in zip(cells, rows, strict=True)}
    rows.sort(key=lambda row: not row["won"])
    course = view.course
    return render(
        "end.html",
        language,
        rows=rows,
        lines=_lines(course, keys) if course else [],
        told=_summary(view, course, language) if course else [],
        after=catalogue(language).gettext(show_of(view.game).after) if show_of(view.game).after else "",
    )


def _most(view: View) -> int:
    """Return how many sticks a side's points are drawn as at most; 0 where a stroke is a share of all there is."""
    points = [cell.points for cell in page_of(view).strip(view, "en").cells]
    return max(points, default=0) if max(points, default=0) <= STROKES and "progress" not in str(view.sheet) else 0


def _lines(course: Course, keys: dict[str, Any]) -> Sequence[dict[str, str]]:
    """Return a line for each side: its score after each turn, from left to right, in a box of `WIDE` by `HIGH`."""
    most = max(1, *(n for scores in course.scores.values() for n in scores))
    lines: list[dict[str, str]] = []
    for place, (side, scores) in enumerate(course.scores.items()):
        steps, aside = max(1, len(scores) - 1), 3 * place  # lines that lie on each other are both seen
        points = [
            f"{WIDE * i / steps:.0f},{(HIGH - 14) * (1 - n / most) + 4 + aside:.0f}" for i, n in enumerate(scores)
        ]
        lines.append({"key": str(keys.get(side, "")), "points": " ".join(points)})
    return lines


def _summary(view: View, course: Course, language: str) -> list[str]:
    text, plural = catalogue(language).gettext, catalogue(language).ngettext
    hides = view.hide or "hider" in view.sheet or "hiding" in view.sheet
    turns = plural("{n} hide", "{n} hides", course.turns) if hides else plural("{n} throw", "{n} throws", course.turns)
    leads = plural("the lead changed once", "the lead changed {n} times", course.leads) if course.leads else ""
    misses = text("most misses in a row: {n}") if course.misses else ""
    numbers = ((turns, course.turns), (leads, course.leads), (misses, course.misses))
    return [template.format(n=n) for template, n in numbers if template]

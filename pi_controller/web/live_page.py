"""Content of the live page: a view as texts, marks and a table, by the keys of the page and its script.

The server fills the page with it and the script updates the page with it, so both use one set of keys: `texts` of the
elements, `marks` for their style; the `table` is the scoreboard as one piece of HTML. The `layout` is `pads` for a game
with pads, else `sheet`.
"""

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import msgspec

from pi_controller.display import game_display, phrases
from pi_controller.display.game_display import PadMark
from pi_controller.display.i18n import catalogue
from pi_controller.display.shown_names import player_name
from pi_controller.journal.score_history import ScoreHistory
from pi_controller.pads import EVERY_PAD
from pi_controller.rules.base import opposing_team
from pi_controller.table.view import View
from pi_controller.web.check_page import sealed_games
from pi_controller.web.game_page import draw_pool, draw_sides, page_of
from pi_controller.web.templates import render, text_size

Text = Callable[[str], str]

CALLS = 3
"""Maximum calls shown at once."""

PAST = 4
"""How many of the last hides or throws the page shows."""


class Past(msgspec.Struct, frozen=True):
    """A finished hide or throw: its side, by `look` (a, b, p1 to p8) and `side` (a letter or number), and its text.

    `number` is the hide's, "" for a throw.
    """

    look: str
    side: str
    number: str
    text: str


class Board(msgspec.Struct, frozen=True):
    """The content of the page."""

    texts: dict[str, str]
    marks: dict[str, str]
    layout: str
    table: str


def make_board(view: View, language: str = "en") -> Board:
    """Return the page's content for `view` in `language`."""
    text, note, board = catalogue(language).gettext, phrases.notice(view, language), view.scoreboard
    heading = game_display.game_name(view.game, language)
    turn_worth = "" if view.question else phrases.describe_stakes(view, language)
    hide_line = text("Hide {n}").format(n=view.hide) if view.hide else ""
    goal_line = text("First to {points}").format(points=board.goal) if board.goal else ""
    texts = {
        **_labels(text),
        "heading": heading,
        "credit": game_display.credit(view.game, language),
        "title": f"{'–'.join(map(str, board.scores.values()))} {heading}" if board.of_teams else heading,
        "score": ", ".join(f"{player_name(view, side)} {n}" for side, n in board.scores.items()) if board.goal else "",
        "hide_line": hide_line,
        "goal_line": goal_line,
        "sentence": phrases.sentence(view, language),
        "note": note,
        "turn_worth": turn_worth,
        "link": _link(view, language),
        "label_seal": text(game_display.get_show(view.game).seal_label),
    }
    marks = {
        "phase": view.phase,
        "link": "up" if view.link else "",
        "note": "yes" if note else "",
        "turn_worth": "yes" if turn_worth else "",
    }
    pads = game_display.get_show(view.game).pads(view, language)
    _outcome(view, texts, marks, language)
    _standing(view, texts, marks, language)
    _seal(view, texts, marks, language)
    _question(view, texts, marks, language)
    _calls(view, texts, marks, language)
    _mat(view, pads, texts, marks, language)
    _past(view, texts, marks, language)
    return Board(texts, marks, "pads" if pads else "sheet", page_of(view).table(view, language))


def list_past_turns(view: View, most: int, language: str = "en") -> list[Past]:
    """Return the last hides or throws, the newest first, at most `most` of them."""
    sides = dict(zip(view.scoreboard.scores, draw_sides(view, language), strict=True))
    found: list[Past] = []
    for turn in view.past[: -most - 1 : -1]:
        look, sign = (sides[turn.side].look, sides[turn.side].sign) if turn.side in sides else ("", "")
        found.append(Past(look, sign, str(turn.number or ""), phrases.describe_turn(view, turn, language)))
    return found


def _past(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    lines = list_past_turns(view, PAST, language)
    marks["past"] = "yes" if lines else ""
    for i in range(1, PAST + 1):
        line = lines[i - 1] if i <= len(lines) else Past("", "", "", "")
        marks[f"past_{i}"] = line.look
        texts |= {f"past_{i}": line.text, f"past_side_{i}": line.side, f"past_hide_{i}": line.number}


def _labels(text: Text) -> dict[str, str]:
    return {
        "label_mat": text("The four pads, as the hider sees them"),
        "label_called": text("Last called"),
        "label_judge": text("A question for the judge"),
        "label_ends": text("Time left"),
        "label_nonce": text("Nonce"),
        "label_check": text("Check a seal"),
        "label_live": text("Live"),
        "label_stale": text("Not live"),
        "label_held": text("Paused"),
        "label_hold": text("Pause"),
        "label_go": text("Back to live"),
        "label_as_of": text("as of"),
        "label_past": text("Just played"),
        "label_sound": text("Sound on"),
        "label_silent": text("Sound off"),
    }


def _outcome(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    """Add the last event as text, with an id of its moment, so that it is announced once."""
    texts["outcome"] = phrases.outcome(view, language)
    moment = msgspec.json.encode((view.hide, view.hits, view.opened, view.foul, view.calls, view.sheet))
    marks["moment"] = f"{crc32(moment):08x}"


def _standing(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    """Add the state of the table and its time limits; the times are on the table's clock."""
    sentence = phrases.describe_status(view, language)
    texts["standing"], marks["standing"] = sentence, "yes" if sentence else ""
    texts["label_limit"] = phrases.limit_label(view, language)
    asked = view.question
    times = {
        "ends": (view.ends, view.ends_stood),
        "limit": (phrases.turn_deadline(view), view.stood),
        "unasked": (asked.until if asked else None, view.paused),
    }
    for key, (end, stood) in times.items():
        marks[key] = "" if end is None else f"{end:.2f}"
        marks[f"{key}_stood"] = "" if stood is None else f"{stood:.2f}"


def _question(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    asked = view.question if view.phase not in {"halted", "over"} else None
    marks["asked"] = "yes" if asked else ""
    texts["unasked"] = phrases.describe_default_answer(asked, language) if asked else ""
    texts["question"] = phrases.question(asked, language, view.teams) if asked else ""
    texts["choices"] = " · ".join(phrases.choice(one, language) for one in asked.choices) if asked else ""


def _calls(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    calls = view.calls[-CALLS:]
    marks["calls"] = str(len(calls))
    for i in range(CALLS):
        known = game_display.word(calls[i], language, view.game) if i < len(calls) else None
        meaning = known.meaning if known else ""
        if known and known.call == "foul" and view.foul:
            meaning = phrases.foul(view.foul, language)
        sounds = known.spoken if known else ""
        if known and known.literal:
            sounds = f"{sounds} · “{known.literal}”"
        texts |= {
            f"call_{i + 1}": known.shown if known else "",
            f"sounds_{i + 1}": sounds,
            f"meaning_{i + 1}": meaning,
        }
    texts["sounds_by"] = game_display.sounds_credit(calls, language, view.game)


def _mat(view: View, pads: Sequence[PadMark], texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    """Add the pads of this hide: struck and by whom, found, and after the hide the place that was sealed."""
    for number, pad in zip(EVERY_PAD, pads or [PadMark()] * len(EVERY_PAD), strict=True):
        marks[f"pad_{number}"], marks[f"high_{number}"] = pad.mark, pad.look
        texts[f"pad_{number}"], texts[f"worth_{number}"] = pad.said, pad.worth
    marks["struck_by"] = striking_side(view) if pads else ""
    texts["hits"] = ". ".join(phrases.hit(i, hit, language) for i, hit in enumerate(view.hits[:2], 1))
    marks["hits"] = "unplaced" if any(hit.pad is None for hit in view.hits[:2]) else ""


def striking_side(view: View) -> str:
    """Return the side whose stick strikes the pads that are shown, as `a` or `b`; "" if there is none."""
    hid = view.before.turn if view.before and view.phase in {"show", "over"} else None
    hid = hid or view.scoreboard.turn
    return opposing_team(hid).lower() if hid in ("A", "B") else ""


def _link(view: View, language: str) -> str:
    """Return the state of the mat and its faults."""
    text = catalogue(language).gettext
    if not view.link:
        return text("The judge keeps the score")
    if not view.sensors:
        return text("Mat connected, sensors switched off")
    return " ".join(filter(None, (text("Mat connected"), phrases.faults(view, language))))


def _seal(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    """Add the commitment of this hide or its withdrawal, or the last opened one with its opening."""
    text, opened = catalogue(language).gettext, view.opening
    void = view.withdrawn[-1] if view.withdrawn else ""
    shown = view.commit or void or (opened.hash if opened else "")
    texts |= {"seal": shown, "seal_short": f"{shown[:16]}…" if shown else "", "opened": "", "nonce": ""}
    marks["seal"] = ""
    if opened is not None and opened.hash == shown:
        marks["seal"] = "opened"
        pads = phrases.join_pads(str(opened.pad), language)  # in slahal one digit for each bone
        template = catalogue(language).ngettext("opened: pad {pads}", "opened: pads {pads}", len(str(opened.pad)))
        texts |= {"opened": template.format(pads=pads), "nonce": opened.nonce}
    elif shown == void != "":
        marks["seal"], texts["opened"] = "void", text("void: never opened")
    elif shown:
        marks["seal"], texts["opened"] = "sealed", text("not yet opened")
        if void:
            texts["opened"] += " · " + text("{seal} is void").format(seal=f"{void[:16]}…")


# Render the live page on the server: the board's content in the layout of a phone, room or stream.


def page(
    content: Board, *, language: str, as_of: str, t: float | None = None, frame: str = "phone", **values: Any
) -> str:
    """Return the page in its `frame`, `phone`, `room` or `overlay`, with more template `values`.

    `t` is the time on the table's clock. A key that the template needs and the board lacks raises
    `jinja2.UndefinedError`.
    """
    marks = content.marks

    def format_left(key: str) -> str:
        if t is None:
            return ""
        return phrases.remaining(float(marks[key]) if marks[key] else None, float(marks[f"{key}_stood"] or t))

    return render(
        f"{frame}.html",
        language,
        layout=content.layout,
        texts={**content.texts, "as_of": as_of},
        marks=marks,
        table=content.table,
        left=format_left,
        **values,
    )


# Content of the room's page: a scoreboard for a hall with the mat at a fixed place, and a final screen.

LONG_SENTENCE_CHARS = (34, 76, 110)
"""Limits above which a sentence is set smaller, step by step."""
WIDE, HIGH = 600, 300
"""The box of the score chart's lines, in its own units."""


def room(view: View, language: str = "en") -> Board:
    """Return the room page's content for `view`; after the game its table is the final screen."""
    whole, board = make_board(view, language), view.scoreboard
    texts, marks = {**whole.texts, "result": phrases.result(view, language)}, dict(whole.marks)
    show = game_display.get_show(view.game)
    texts["gist"] = catalogue(language).gettext(show.gist) if show.gist else ""
    marks["turn"] = (board.winner or board.turn or "").lower() if board.of_teams else ""
    marks["tell"] = text_size(texts["sentence"], LONG_SENTENCE_CHARS)
    marks["tell_result"] = text_size(texts["result"], LONG_SENTENCE_CHARS)
    table = end(view, language) if view.phase == "over" and not view.void else whole.table
    return Board(texts, marks, whole.layout, table)


def end(view: View, language: str = "en") -> str:
    """Return the final screen as HTML: the winner, each side's score, and the score chart."""
    show, course, sides = game_display.get_show(view.game), view.course, draw_sides(view, language)
    keys = {key: side.look for key, side in zip(view.scoreboard.scores, sides, strict=True)}
    return render(
        "end.html",
        language,
        rows=sorted(sides, key=lambda side: side.state != "won"),
        lines=_lines(course, keys) if course else [],
        told=_summary(view, course, language) if course else [],
        after=catalogue(language).gettext(show.after) if show.after else "",
    )


def _lines(course: ScoreHistory, keys: dict[str, Any]) -> Sequence[dict[str, str]]:
    """Return a line for each side: its score after each turn, from left to right, in a box of `WIDE` by `HIGH`."""
    most = max(1, *(n for scores in course.scores.values() for n in scores))
    lines: list[dict[str, str]] = []
    for place, (side, scores) in enumerate(course.scores.items()):
        steps, aside = max(1, len(scores) - 1), 3 * place  # a small offset keeps overlapping lines visible
        points = [
            f"{WIDE * i / steps:.0f},{(HIGH - 14) * (1 - n / most) + 4 + aside:.0f}" for i, n in enumerate(scores)
        ]
        lines.append({"key": str(keys.get(side, "")), "points": " ".join(points)})
    return lines


def _summary(view: View, course: ScoreHistory, language: str) -> list[str]:
    text, plural = catalogue(language).gettext, catalogue(language).ngettext
    hides = view.game in sealed_games()
    turns = plural("{n} hide", "{n} hides", course.turns) if hides else plural("{n} throw", "{n} throws", course.turns)
    leads = plural("the lead changed once", "the lead changed {n} times", course.leads) if course.leads else ""
    misses = text("most misses in a row: {n}") if course.misses else ""
    numbers = ((turns, course.turns), (leads, course.leads), (misses, course.misses))
    return [template.format(n=n) for template, n in numbers if template]


# Score bar of the stream overlay: players, points, sticks, state of play, and the last call.
#
# It has the same shape for every game: a cell for each team or player, and one for the pool.

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


def overlay(view: View, language: str = "en") -> Board:
    """Return the overlay's content for `view`, with its strip as the table."""
    whole = room(view, language)
    texts = dict.fromkeys(_PADS, "") | {key: value for key, value in whole.texts.items() if key in _TEXTS}
    marks = dict.fromkeys(_MARKS, "") | {key: mark for key, mark in whole.marks.items() if key in _MARKS}
    marks["pads"] = "yes" if whole.layout == "pads" else ""
    return Board(texts, marks, "overlay", strip(view, language))


def strip(view: View, language: str = "en") -> str:
    """Return the strip as HTML: team A has a circle, B a square, and players the shapes of the other pages."""
    sides, pool = draw_sides(view, language), draw_pool(view, language)
    return render("strip.html", language, sides=sides, pool=pool, teams=view.scoreboard.of_teams)

"""Content of the live page: a view as texts, marks and counts, by the keys that the page and its script use.

The server fills the page from it and the script in the browser patches the page from it, so both show the same with
one set of keys: `texts` (what an element says), `marks` (how it is styled) and `counts` (sticks: lit, of how many).
A game that is told by its score sheet has another page, `layout`, with fewer keys and its `table` in one piece of HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from pi_controller.games.base import other
from pi_controller.pads import EVERY_PAD
from pi_controller.pinmap import pinmap
from pi_controller.show import chances_bar, phrases
from pi_controller.show.game_show import has_sheet, player_rows, show_of
from pi_controller.show.i18n import catalogue
from pi_controller.show.names import player_name, team_name
from pi_controller.show.words import credit, game_name, sounds_by, word
from pi_controller.web.game_page import page_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.show.chances_bar import ShownChances
    from pi_controller.table.view import View

CALLS = 3
"""How many words called at once the page has room for."""
ONLY_HEARD = {"outcome", "score"}
"""Texts that the script says aloud where they are new; on the page they can be read off the table."""
_LIVE_LABELS = {"label_points", "label_middle", "label_mat", "label_seal"}


PAST = 4
"""How many of the last hides or throws the page has room for."""


class Past(msgspec.Struct, frozen=True):
    """A hide or throw that was played: whose, by `look` (a, b, p1 to p8) and `side` (a letter or number), and what.

    `number` is the hide's, empty of a throw.
    """

    look: str
    side: str
    number: str
    text: str


class Board(msgspec.Struct, frozen=True):
    """What the page shows."""

    texts: dict[str, str]
    marks: dict[str, str]
    counts: dict[str, tuple[int, int]]
    layout: str = "live"
    table: str = ""


def board(view: View, language: str = "en", chances: ShownChances | None = None) -> Board:
    """Return the page's content for `view` in `language`, with the `chances` of winning where they are given."""
    text, note = catalogue(language).gettext, phrases.notice(view, language)
    if has_sheet(view):
        return _sheet_board(view, language, chances)
    texts = _labels(text)
    marks = {
        "phase": view.phase,
        "link": "up" if view.link else "down",
        "note": "yes" if note else "",
    }
    texts |= {
        "heading": game_name(view.game, language),
        "credit": credit(view.game, language),
        "hide_line": text("Hide {n}").format(n=view.hide) if view.hide else text("Before the first hide"),
        "goal_line": text("First to {points}").format(points=view.points),
        "sentence": phrases.sentence(view, language),
        "note": note,
        "link": _link(view, language, text("No mat: the judge enters the hits")),
    }
    turn_worth = "" if view.question else phrases.turn_worth(view, language)
    texts["turn_worth"], marks["turn_worth"] = turn_worth, "yes" if turn_worth else ""
    _outcome(view, texts, marks, language)
    _standing(view, texts, marks, language)
    _teams(view, texts, marks, text)
    _question(view, texts, marks, language)
    _calls(view, texts, marks, language)
    _mat(view, texts, marks, language)
    _seal(view, texts, marks, language)
    _past(view, texts, marks, language)
    lights = pinmap().lights
    slots = min(lights.short, max(view.points, *(view.short.get(team, 0) for team in "AB")))
    counts = {
        "long_a": (view.long.get("A", 0), lights.a),
        "long_b": (view.long.get("B", 0), lights.b),
        "middle": (view.middle, lights.middle),
        "short_a": (view.short.get("A", 0), slots),
        "short_b": (view.short.get("B", 0), slots),
    }
    bounded = {key: (max(0, min(n, of)), of) for key, (n, of) in counts.items()}
    return Board(texts, marks, bounded | _chances(view, chances, texts, marks, language))


def _sheet_board(view: View, language: str, chances: ShownChances | None) -> Board:
    text, note = catalogue(language).gettext, phrases.notice(view, language)
    settled = view.question is not None or "value" in view.sheet  # the table itself shows what the last throw was worth
    turn_worth = "" if settled else phrases.turn_worth(view, language)
    sentence = phrases.sentence(view, language)
    texts = {
        **{key: label for key, label in _labels(text).items() if key not in _LIVE_LABELS},
        "heading": game_name(view.game, language),
        "credit": credit(view.game, language),
        "title": game_name(view.game, language),
        "sentence": sentence,
        "score": "",
        "note": note,
        "turn_worth": turn_worth,
        "link": _link(view, language, text("The judge keeps the score")),
        "label_seal": text(show_of(view.game).seal_label),
    }
    marks = {
        "phase": view.phase,
        "link": "up" if view.link else "",
        "note": "yes" if note else "",
        "turn_worth": "yes" if turn_worth else "",
    }
    _outcome(view, texts, marks, language)
    _standing(view, texts, marks, language)
    _seal(view, texts, marks, language)
    _question(view, texts, marks, language)
    _calls(view, texts, marks, language)
    _past(view, texts, marks, language)
    counts = _chances(view, chances, texts, marks, language)
    return Board(texts, marks, counts, "sheet", page_of(view).table(view, language))


def past(view: View, most: int, language: str = "en") -> list[Past]:
    """Return the last hides or throws, the newest first, at most `most` of them."""
    players = list(player_rows(view.sheet))
    found: list[Past] = []
    for turn in view.past[: -most - 1 : -1]:
        number = players.index(turn.side) + 1 if turn.side in players else 0
        look, side = (f"p{number}", str(number)) if number else (turn.side.lower(), turn.side)
        found.append(Past(look, side, str(turn.number or ""), phrases.past(view, turn, language)))
    return found


def _past(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    lines = past(view, PAST, language)
    marks["past"] = "yes" if lines else ""
    for i in range(1, PAST + 1):
        line = lines[i - 1] if i <= len(lines) else Past("", "", "", "")
        marks[f"past_{i}"] = line.look
        texts |= {f"past_{i}": line.text, f"past_side_{i}": line.side, f"past_hide_{i}": line.number}


def _labels(text: Callable[[str], str]) -> dict[str, str]:
    return {
        "label_points": text("points"),
        "label_middle": text("In the middle"),
        "label_mat": text("The four pads, as the hider sees them"),
        "label_called": text("Last called"),
        "label_judge": text("A question for the judge"),
        "label_seal": text("Sealed place of the bead"),
        "label_ends": text("Time left"),
        "label_nonce": text("Nonce"),
        "label_check": text("Check a seal"),
        "label_live": text("Live"),
        "label_stale": text("Not live"),
        "label_held": text("Held by you"),
        "label_hold": text("Hold this picture"),
        "label_go": text("Show it live"),
        "label_as_of": text("as of"),
        "label_past": text("Just played"),
        "label_sound": text("Sound on"),
        "label_silent": text("Sound off"),
    }


def _outcome(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    """Tell what came last and of which moment it is, for those who hear the page: said once for each moment."""
    texts["outcome"] = phrases.outcome(view, language)
    moment = msgspec.json.encode((view.hide, view.hits, view.opened, view.foul, view.calls, view.sheet))
    marks["moment"] = f"{crc32(moment):08x}"


def _standing(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    """Tell how the table stands, and until when what may be done in time; the times are on the table's clock."""
    sentence = phrases.standing(view, language)
    texts["standing"], marks["standing"] = sentence, "yes" if sentence else ""
    texts["label_limit"] = phrases.limit_label(view, language)
    asked = view.question
    times = {
        "ends": (view.ends, view.ends_stood),
        "limit": (phrases.until(view), view.stood),
        "unasked": (asked.until if asked else None, view.paused),
    }
    for key, (end, stood) in times.items():
        marks[key] = "" if end is None else f"{end:.2f}"
        marks[f"{key}_stood"] = "" if stood is None else f"{stood:.2f}"


def _teams(view: View, texts: dict[str, str], marks: dict[str, str], text: Callable[[str], str]) -> None:
    hitter = other(view.hider) if view.hider else None
    playing = view.phase not in {"toss", "over"}
    score: list[str] = []
    for team in ("A", "B"):
        key = team.lower()
        role, role_text = "", ""
        if view.phase == "over" and view.winner == team:
            role, role_text = "won", text("wins")
        elif playing and view.hider == team:
            role, role_text = "hides", text("hides")
        elif playing and hitter == team:
            role, role_text = "hits", text("hits")
        if role == "hits" and view.phase == "hit" and view.owed:
            role_text = text("first hit") if view.owed == "first" else text("second hit")
        points, name = view.short.get(team, 0), team_name(view, team)
        marks[f"role_{key}"], texts[f"role_{key}"] = role, role_text
        texts[f"name_{key}"] = name
        texts[f"points_{key}"] = str(points)
        texts[f"long_{key}"] = str(view.long.get(team, 0))
        score.append(f"{name} {points}")
    texts["middle"] = str(view.middle)
    texts["score"] = ", ".join(score)
    texts["title"] = f"{view.short.get('A', 0)}–{view.short.get('B', 0)} {texts['heading']}"


def _question(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    asked = view.question if view.phase not in {"halted", "over"} else None
    marks["asked"] = "yes" if asked else ""
    texts["unasked"] = phrases.unasked(asked, language) if asked else ""
    texts["question"] = phrases.question(asked, language) if asked else ""
    texts["choices"] = " · ".join(phrases.choice(one, language) for one in asked.choices) if asked else ""


def _calls(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    calls = view.calls[-CALLS:]
    marks["calls"] = str(len(calls))
    for i in range(CALLS):
        known = word(calls[i], language, view.game) if i < len(calls) else None
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
    texts["sounds_by"] = sounds_by(calls, language, view.game)


def _mat(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    """Mark the pads of this hide: struck, found, and after the hide the place that was sealed."""
    for number, pad in zip(EVERY_PAD, page_of(view).pads(view, language), strict=True):
        marks[f"pad_{number}"], texts[f"pad_{number}"] = pad.mark, pad.said
    texts["hits"] = ". ".join(phrases.hit(i, hit, language) for i, hit in enumerate(view.hits[:2], 1))
    marks["hits"] = "unplaced" if any(hit.pad is None for hit in view.hits[:2]) else ""


def _link(view: View, language: str, without: str) -> str:
    """Return whether the mat is there, and what it cannot feel; `without` is said when there is none."""
    if not view.link:
        return without
    text = catalogue(language).gettext
    if not view.sensors:
        return text("Mat connected, its sensors switched off")
    return " ".join(filter(None, (text("Mat connected"), phrases.faults(view, language))))


def _seal(view: View, texts: dict[str, str], marks: dict[str, str], language: str) -> None:
    """Show the commitment of this hide, that it was withdrawn, or the last one opened, with what opens it."""
    text, opened = catalogue(language).gettext, view.opening
    void = view.withdrawn[-1] if view.withdrawn else ""
    shown = view.commit or void or (opened.hash if opened else "")
    texts |= {"seal": shown, "seal_short": f"{shown[:16]}…" if shown else "", "opened": "", "nonce": ""}
    marks["seal"] = ""
    if opened is not None and opened.hash == shown:
        marks["seal"] = "opened"
        pads = phrases.listed(str(opened.pad), language)  # of slahal's bones: a digit each
        template = catalogue(language).ngettext("opened: pad {pads}", "opened: pads {pads}", len(str(opened.pad)))
        texts |= {"opened": template.format(pads=pads), "nonce": opened.nonce}
    elif shown == void != "":
        marks["seal"], texts["opened"] = "void", text("void: never opened")
    elif shown:
        marks["seal"], texts["opened"] = "sealed", text("not yet opened")
        if void:
            texts["opened"] += " · " + text("{seal} is void").format(seal=f"{void[:16]}…")


def _chances(
    view: View, chances: ShownChances | None, texts: dict[str, str], marks: dict[str, str], language: str
) -> dict[str, tuple[int, int]]:
    """Tell each side's chance of winning, and how much of the bar is the first one's; nothing where it is not shown."""
    marks["chances"] = "" if chances is None else "yes"
    texts |= {"label_chances": "", "chances_basis": ""}
    texts |= {f"chances_{part}_{side}": "" for part in ("mark", "name", "chance") for side in "ab"}
    if chances is None:
        return {"chances": (0, 0)}
    texts["label_chances"] = catalogue(language).gettext("Chance of winning")
    texts["chances_basis"] = chances_bar.basis(chances, language)
    rows = zip("ab", "12", chances.players, chances_bar.percents(chances, language), strict=True)
    for side, number, player, percent in rows:
        texts[f"chances_mark_{side}"] = player if chances.teams else number
        texts[f"chances_name_{side}"] = player_name(view, player)
        texts[f"chances_chance_{side}"] = percent
    return {"chances": (chances.percents[0], 100)}

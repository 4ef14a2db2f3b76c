"""Content of the live page: a view as texts, marks and a table, by the keys of the page and its script.

The server fills the page with it and the script updates the page with it, so both use one set of keys: `texts` of the
elements, `marks` for their style; the `table` is the scoreboard as one piece of HTML. The `layout` is `pads` for a game
with pads, else `sheet`.
"""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import msgspec

from pi_controller.display import game_display, phrases
from pi_controller.display.game_display import PadMark
from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.shown_names import player_name
from pi_controller.pads import EVERY_PAD
from pi_controller.rules.base import opposing_team
from pi_controller.table.view import View
from pi_controller.web.game_page import page_of
from pi_controller.web.templates import render

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


def make_board(view: View, tr: Translator) -> Board:
    """Return the page's content for `view`."""
    return _BoardWriter(view, tr).board()


class _BoardWriter:
    """Writes the texts and marks of `view`."""

    def __init__(self, view: View, tr: Translator) -> None:
        self.view, self.tr = view, tr
        self.say, self.show = Phrases(tr), game_display.get_show(view.game, tr)
        self.texts: dict[str, str] = {}
        self.marks: dict[str, str] = {}

    def board(self) -> Board:
        """Return the page's content."""
        view, text, board, pads = self.view, self.tr.text, self.view.scoreboard, self.show.pads(self.view)
        heading, note = self.show.name, self.say.notice(view)
        turn_worth = "" if view.question else self.say.describe_stakes(view)
        self.texts |= {
            **self._labels(),
            "heading": heading,
            "credit": self.show.credit,
            "title": f"{'–'.join(map(str, board.scores.values()))} {heading}" if board.of_teams else heading,
            "score": ", ".join(f"{player_name(view, side)} {n}" for side, n in board.scores.items())
            if board.goal
            else "",
            "hide_line": text("Hide {n}", n=view.hide) if view.hide else "",
            "goal_line": text("First to {points}", points=board.goal) if board.goal else "",
            "sentence": self.say.sentence(view),
            "note": note,
            "turn_worth": turn_worth,
            "link": self._link(),
            "label_seal": text(self.show.seal_label),
        }
        self.marks |= {
            "phase": view.phase,
            "link": "up" if view.link else "",
            "note": "yes" if note else "",
            "turn_worth": "yes" if turn_worth else "",
        }
        self._outcome()
        self._standing()
        self._seal()
        self._question()
        self._calls()
        self._mat(pads)
        self._past()
        return Board(self.texts, self.marks, "pads" if pads else "sheet", page_of(view, self.tr).table(view))

    def _past(self) -> None:
        lines = list_past_turns(self.view, PAST, self.tr)
        self.marks["past"] = "yes" if lines else ""
        for i in range(1, PAST + 1):
            line = lines[i - 1] if i <= len(lines) else Past("", "", "", "")
            self.marks[f"past_{i}"] = line.look
            self.texts |= {f"past_{i}": line.text, f"past_side_{i}": line.side, f"past_hide_{i}": line.number}

    def _labels(self) -> dict[str, str]:
        return {
            "label_mat": self.tr.text("The four pads, as the hider sees them"),
            "label_called": self.tr.text("Last called"),
            "label_judge": self.tr.text("A question for the judge"),
            "label_ends": self.tr.text("Time left"),
            "label_nonce": self.tr.text("Nonce"),
            "label_check": self.tr.text("Check a seal"),
            "label_live": self.tr.text("Live"),
            "label_stale": self.tr.text("Not live"),
            "label_held": self.tr.text("Paused"),
            "label_hold": self.tr.text("Pause"),
            "label_go": self.tr.text("Back to live"),
            "label_as_of": self.tr.text("as of"),
            "label_past": self.tr.text("Just played"),
            "label_sound": self.tr.text("Sound on"),
            "label_silent": self.tr.text("Sound off"),
        }

    def _outcome(self) -> None:
        """Add the last event as text, with an id of its moment, so that it is announced once."""
        self.texts["outcome"] = self.say.outcome(self.view)
        moment = msgspec.json.encode(
            (self.view.hide, self.view.hits, self.view.opened, self.view.foul, self.view.calls, self.view.sheet)
        )
        self.marks["moment"] = f"{crc32(moment):08x}"

    def _standing(self) -> None:
        """Add the state of the table and its time limits; the times are on the table's clock."""
        sentence = self.say.describe_status(self.view)
        self.texts["standing"], self.marks["standing"] = sentence, "yes" if sentence else ""
        self.texts["label_limit"] = self.say.limit_label(self.view)
        asked = self.view.question
        times = {
            "ends": (self.view.ends, self.view.ends_stood),
            "limit": (phrases.turn_deadline(self.view), self.view.stood),
            "unasked": (asked.until if asked else None, self.view.paused),
        }
        for key, (end, stood) in times.items():
            self.marks[key] = "" if end is None else f"{end:.2f}"
            self.marks[f"{key}_stood"] = "" if stood is None else f"{stood:.2f}"

    def _question(self) -> None:
        asked = self.view.question if self.view.phase not in {"halted", "over"} else None
        self.marks["asked"] = "yes" if asked else ""
        self.texts["unasked"] = self.say.describe_default_answer(asked) if asked else ""
        self.texts["question"] = self.say.question(asked, self.view.teams) if asked else ""
        self.texts["choices"] = " · ".join(map(self.say.choice, asked.choices)) if asked else ""

    def _calls(self) -> None:
        calls = self.view.calls[-CALLS:]
        self.marks["calls"] = str(len(calls))
        for i in range(CALLS):
            known = self.show.word(calls[i]) if i < len(calls) else None
            meaning = known.meaning if known else ""
            if known and known.call == "foul" and self.view.foul:
                meaning = self.say.foul(self.view.foul)
            sounds = known.spoken if known else ""
            if known and known.literal:
                sounds = f"{sounds} · “{known.literal}”"
            self.texts |= {
                f"call_{i + 1}": known.shown if known else "",
                f"sounds_{i + 1}": sounds,
                f"meaning_{i + 1}": meaning,
            }
        self.texts["sounds_by"] = self.show.sounds_credit(calls)

    def _mat(self, pads: Sequence[PadMark]) -> None:
        """Add the pads of this hide: struck and by whom, found, and after the hide the place that was sealed."""
        for number, pad in zip(EVERY_PAD, pads or [PadMark()] * len(EVERY_PAD), strict=True):
            self.marks[f"pad_{number}"], self.marks[f"high_{number}"] = pad.mark, pad.look
            self.texts[f"pad_{number}"], self.texts[f"worth_{number}"] = pad.said, pad.worth
        self.marks["struck_by"] = striking_side(self.view) if pads else ""
        self.texts["hits"] = ". ".join(self.say.hit(i, hit) for i, hit in enumerate(self.view.hits[:2], 1))
        self.marks["hits"] = "unplaced" if any(hit.pad is None for hit in self.view.hits[:2]) else ""

    def _link(self) -> str:
        """Return the state of the mat and its faults."""
        if not self.view.link:
            return self.tr.text("The judge keeps the score")
        if not self.view.sensors:
            return self.tr.text("Mat connected, sensors switched off")
        return " ".join(filter(None, (self.tr.text("Mat connected"), self.say.faults(self.view))))

    def _seal(self) -> None:
        """Add the commitment of this hide or its withdrawal, or the last opened one with its opening."""
        opened = self.view.opening
        void = self.view.withdrawn[-1] if self.view.withdrawn else ""
        shown = self.view.commit or void or (opened.hash if opened else "")
        self.texts |= {"seal": shown, "seal_short": f"{shown[:16]}…" if shown else "", "opened": "", "nonce": ""}
        self.marks["seal"] = ""
        if opened is not None and opened.hash == shown:
            self.marks["seal"] = "opened"
            pads = self.say.join_pads(str(opened.pad))  # in slahal one digit for each bone
            self.texts |= {
                "opened": self.tr.plural("opened: pad {pads}", "opened: pads {pads}", len(str(opened.pad)), pads=pads),
                "nonce": opened.nonce,
            }
        elif shown == void != "":
            self.marks["seal"], self.texts["opened"] = "void", self.tr.text("void: never opened")
        elif shown:
            self.marks["seal"], self.texts["opened"] = "sealed", self.tr.text("not yet opened")
            if void:
                self.texts["opened"] += " · " + self.tr.text("{seal} is void", seal=f"{void[:16]}…")


def list_past_turns(view: View, most: int, tr: Translator) -> list[Past]:
    """Return the last hides or throws, the newest first, at most `most` of them."""
    sides = dict(zip(view.scoreboard.scores, page_of(view, tr).draw_sides(view), strict=True))
    found: list[Past] = []
    for turn in view.past[: -most - 1 : -1]:
        look, sign = (sides[turn.side].look, sides[turn.side].sign) if turn.side in sides else ("", "")
        found.append(Past(look, sign, str(turn.number or ""), Phrases(tr).describe_turn(view, turn)))
    return found


def striking_side(view: View) -> str:
    """Return the side whose stick strikes the pads that are shown, as `a` or `b`; "" if there is none."""
    hid = view.before.turn if view.before and view.phase in {"show", "over"} else None
    hid = hid or view.scoreboard.turn
    return opposing_team(hid).lower() if hid in ("A", "B") else ""


def page(
    content: Board, *, tr: Translator, as_of: str, t: float | None = None, frame: str = "phone", **values: Any
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
        tr,
        layout=content.layout,
        texts={**content.texts, "as_of": as_of},
        marks=marks,
        table=content.table,
        left=format_left,
        **values,
    )

"""Content of a table's public pages: what a view says, as plain values for the templates."""

from collections.abc import Sequence
from zlib import crc32

import msgspec

from pi_controller.display import game_display, phrases
from pi_controller.display.game_display import PadMark
from pi_controller.display.i18n import Translator
from pi_controller.display.phrases import Phrases
from pi_controller.display.shown_names import player_name
from pi_controller.referee.story import SETTLED
from pi_controller.rules.base import opposing_team
from pi_controller.table.view import View
from pi_controller.web.game_page import page_of

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


class Countdown(msgspec.Struct, frozen=True):
    """A time limit: it `ends`, or has `stood` since, at a time on the table's clock, s; "" for never.

    `left` is the time left as text, "" for a page whose script shows it.
    """

    label: str
    ends: str
    stood: str
    left: str


class OpenQuestion(msgspec.Struct, frozen=True):
    """The question to the judge as text; `unasked` is the answer it gets by default at the end of `clock`."""

    text: str
    choices: str
    unasked: str
    clock: Countdown | None


class Called(msgspec.Struct, frozen=True):
    """A word that was called, how it sounds, and what it means."""

    word: str
    sounds: str
    meaning: str


class SealShown(msgspec.Struct, frozen=True):
    """The commitment of this hide or the last opened one: `state` is sealed, opened or void, "" for none.

    `text` is its state as text, with the place once it was opened; `nonce` is then its nonce.
    """

    state: str = ""
    hash: str = ""
    text: str = ""
    nonce: str = ""


class News(msgspec.Struct, frozen=True):
    """What the page's scripts announce: `moment` identifies the last event and `outcome` describes it.

    `lines` are the state of play and the score, `question` is the judge's with its choices; `calls` counts the words
    called.
    """

    moment: str
    phase: str
    title: str
    outcome: str
    lines: tuple[str, ...]
    question: str
    calls: int


class LiveContent(msgspec.Struct, frozen=True):
    """What the pages show of a view. `turn` is the side that is at turn or has won, `striking` the one that strikes.

    `pads` is empty for a game without pads.
    """

    phase: str
    game: str
    credit: str
    gist: str
    facts: tuple[str, ...]
    sentence: str
    result: str
    turn_worth: str
    standing: str
    note: str
    clocks: tuple[Countdown, ...]
    question: OpenQuestion | None
    calls: tuple[Called, ...]
    sounds_by: str
    pads: Sequence[PadMark]
    hits: str
    unplaced: bool
    turn: str
    striking: str
    past: tuple[Past, ...]
    link: str
    connected: bool
    seal: SealShown
    seal_label: str
    news: News


def live_content(view: View, tr: Translator, t: float | None = None) -> LiveContent:
    """Return what the pages show of `view`; with the time `t` on the table's clock also the times left."""
    return _LiveWriter(view, tr, t).content()


class _LiveWriter:
    """Writes what the pages show of `view`."""

    def __init__(self, view: View, tr: Translator, t: float | None) -> None:
        self.view, self.tr, self.t = view, tr, t
        self.say, self.show = Phrases(tr), game_display.get_show(view.game, tr)

    def content(self) -> LiveContent:
        view, say, board = self.view, self.say, self.view.scoreboard
        question, pads = self._question(), self.show.pads(view)
        sentence, note = say.sentence(view), say.notice(view)
        turn_worth = "" if view.question else say.describe_stakes(view)
        return LiveContent(
            phase=view.phase,
            game=self.show.name,
            credit=self.show.credit,
            gist=self.tr.text(self.show.gist),
            facts=self._facts(),
            sentence=sentence,
            result=say.result(view),
            turn_worth=turn_worth,
            standing=say.describe_status(view),
            note=note,
            clocks=self._clocks(),
            question=question,
            calls=tuple(self._describe_call(call) for call in view.calls[-CALLS:]),
            sounds_by=self.show.sounds_credit(view.calls[-CALLS:]),
            pads=pads,
            hits=". ".join(say.hit(i, hit) for i, hit in enumerate(view.hits[:2], 1)),
            unplaced=any(hit.pad is None for hit in view.hits[:2]),
            turn=(board.winner or board.turn or "").lower() if board.of_teams else "",
            striking=striking_side(view) if pads else "",
            past=list_past_turns(view, PAST, self.tr),
            link=self._link(),
            connected=view.link,
            seal=self._seal(),
            seal_label=self.tr.text(self.show.seal_label),
            news=self._news((sentence, turn_worth, note), question),
        )

    def _facts(self) -> tuple[str, ...]:
        hide, goal = self.view.hide, self.view.scoreboard.goal
        facts = (hide and self.tr.text("Hide {n}", n=hide), goal and self.tr.text("First to {points}", points=goal))
        return tuple(fact for fact in facts if fact)

    def _news(self, lines: tuple[str, ...], question: OpenQuestion | None) -> News:
        view, board = self.view, self.view.scoreboard
        moment = msgspec.json.encode((view.hide, view.hits, view.opened, view.foul, view.calls, view.sheet))
        score = ", ".join(f"{player_name(view, side)} {n}" for side, n in board.scores.items()) if board.goal else ""
        return News(
            moment=f"{crc32(moment):08x}",
            phase=view.phase,
            title=f"{'–'.join(map(str, board.scores.values()))} {self.show.name}" if board.of_teams else self.show.name,
            outcome=self.say.outcome(view),
            lines=(*lines, score),
            question=f"{question.text} {question.choices}" if question else "",
            calls=len(view.calls[-CALLS:]),
        )

    def _countdown(self, label: str, end: float | None, stood: float | None) -> Countdown | None:
        if end is None:
            return None
        since = self.t if stood is None else stood
        left = "" if self.t is None or since is None else phrases.remaining(end, since)
        return Countdown(label, f"{end:.2f}", "" if stood is None else f"{stood:.2f}", left)

    def _clocks(self) -> tuple[Countdown, ...]:
        view = self.view
        clocks = (
            self._countdown(self.say.limit_label(view), phrases.turn_deadline(view), view.stood),
            self._countdown(self.tr.text("Time left"), view.ends, view.ends_stood),
        )
        return tuple(clock for clock in clocks if clock)

    def _question(self) -> OpenQuestion | None:
        asked = self.view.question
        if asked is None or self.view.phase in {"halted", "over"}:
            return None
        return OpenQuestion(
            self.say.question(asked, self.view.teams),
            " · ".join(map(self.say.choice, asked.choices)),
            self.say.describe_default_answer(asked),
            self._countdown("", asked.until, self.view.paused),
        )

    def _describe_call(self, call: str) -> Called:
        known = self.show.word(call)
        foul = known.call == "foul" and self.view.foul
        sounds = f"{known.spoken} · “{known.literal}”" if known.literal else known.spoken
        return Called(known.shown, sounds, self.say.foul(foul) if foul else known.meaning)

    def _link(self) -> str:
        """Return the state of the mat and its faults."""
        if not self.view.link:
            return self.tr.text("The judge keeps the score")
        if not self.view.sensors:
            return self.tr.text("Mat connected, sensors switched off")
        return " ".join(filter(None, (self.tr.text("Mat connected"), self.say.faults(self.view))))

    def _seal(self) -> SealShown:
        """Return the commitment of this hide or its withdrawal, or the last opened one with its opening."""
        opened = self.view.opening
        void = self.view.withdrawn[-1] if self.view.withdrawn else ""
        shown = self.view.commit or void or (opened.hash if opened else "")
        if opened is not None and opened.hash == shown:
            pads = self.say.join_pads(str(opened.pad))  # in slahal one digit for each bone
            text = self.tr.plural("opened: pad {pads}", "opened: pads {pads}", len(str(opened.pad)), pads=pads)
            return SealShown("opened", shown, text, opened.nonce)
        if shown == void != "":
            return SealShown("void", shown, self.tr.text("void: never opened"))
        if not shown:
            return SealShown()
        text = self.tr.text("not yet opened")
        if void:
            text += " · " + self.tr.text("{seal} is void", seal=f"{void[:16]}…")
        return SealShown("sealed", shown, text)


def list_past_turns(view: View, most: int, tr: Translator) -> tuple[Past, ...]:
    """Return the last hides or throws, the newest first, at most `most` of them."""
    sides = dict(zip(view.scoreboard.scores, page_of(view, tr).draw_sides(view), strict=True))
    found: list[Past] = []
    for turn in view.past[: -most - 1 : -1]:
        look, sign = (sides[turn.side].look, sides[turn.side].sign) if turn.side in sides else ("", "")
        found.append(Past(look, sign, str(turn.number or ""), Phrases(tr).describe_turn(view, turn)))
    return tuple(found)


def striking_side(view: View) -> str:
    """Return the side whose stick strikes the pads that are shown, as `a` or `b`; "" if there is none."""
    hid = view.before.turn if view.before and view.phase in SETTLED else None
    hid = hid or view.scoreboard.turn
    return opposing_team(hid).lower() if hid in ("A", "B") else ""

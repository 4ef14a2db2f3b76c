"""One game of a session: visitors and the mat at a table, driven by touches, by what a real mat feels, and by time.

It has no rules of its own. Everything that happens goes to the table as what a mat feels (hands, a bead at rest, a
stroke, buttons), and the referee makes of it what it makes of any game. What visitors do on the screen becomes such
events; so does what the mat itself does when it hides or hits. Times are seconds of one clock.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Literal

from pi_controller.errors import MatError
from pi_controller.exhibit.lessons import STAND, Lessons, sticks
from pi_controller.exhibit.stage import Pace
from pi_controller.games.base import other
from pi_controller.mat.events import Bead, Beads, Blind, Button, HandIn, HandOut, Link, Sensors, Strike
from pi_controller.pads import EVERY_PAD
from pi_controller.referee.facts import Answer, Done, HideAgain, Reveal, Void
from pi_controller.referee.judge import JudgeAnswer, JudgeSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from pi_controller.exhibit.opponents import Guess, Opponent
    from pi_controller.exhibit.session_log import Sealed, SessionLog
    from pi_controller.exhibit.unrecorded_table import GameTable
    from pi_controller.mat.events import MatEvent
    from pi_controller.referee.facts import Fact
    from pi_controller.table.settings_exhibit import MatKind
    from pi_controller.table.view import View

log = logging.getLogger(__name__)

Player = Literal["visitor", "mat"]
Await = Literal["", "pads", "strike", "ready", "question", "next"]
"""What is waited for from a visitor: nothing, where the bead is to lie, a hit, ready, an answer, a step read."""
MARGIN_DB = 20.0
"""How far above any doubt a stroke stands that was made on the screen."""
BESIDE_S = 0.01
"""Between what happens in one go, so that no two events have the same time."""


class VisitorGame:
    """A game at `table` between `sides`, who plays A and who B, of at most `hides` hides.

    `opponent` guesses for the mat, `rng` tosses the coin and chooses where the mat hides, `lessons` explain a guided
    game. `kind` is what there is to play on.
    """

    def __init__(
        self,
        table: GameTable,
        sides: Mapping[str, Player],
        opponent: Opponent,
        rng: Random,
        session_log: SessionLog,
        t: float,
        *,
        kind: MatKind = "screen",
        pace: Pace | None = None,
        hides: int = 8,
        lessons: Lessons | None = None,
    ) -> None:
        self.table = table
        self.sides = sides
        self.kind = kind
        self.pace = pace or Pace()
        self.lessons = lessons
        self.hand: int | None = None
        """The pad with a hand under it, on the screen."""
        self.aim: int | None = None
        """The pad that the mat is about to strike."""
        self.seal = ""
        """The seal of this hide's guess or place, and once it is open its pads in `opened`."""
        self.opened = ""
        self.guessed: Guess | None = None
        """The mat's guess of this hide, once it is open."""
        self._opponent, self._rng, self._log, self._hides = opponent, rng, session_log, hides
        self._script: deque[tuple[float, Callable[[float], None]]] = deque()
        self._guess: Guess | None = None
        self._sealed: Sealed | None = None
        self._hide_begun, self._round = 0, 0  # the hide's number, and how many were begun: one may start over
        self._place: int | None = None
        self._hid: Player | None = None
        self._hitter: Player | None = None
        self._by: Player | None = None  # who made the stroke that is settled: visitors may say what the mat missed
        self._hits = 0
        self._learned = False
        self._sticks = sticks(table.view)
        self._key: tuple[object, ...] = ()
        self._since = self._step_since = t
        self._ended = False
        if kind == "screen":
            self._take(table.mat_event(Link(t, up=True)))
        if lessons is not None:
            self._take(table.judge(JudgeSet(t, dict(STAND), "a guided game begins in the middle")))
            self._explain("under_way")

    # what the screen shows

    @property
    def view(self) -> View:
        """The table's public picture."""
        return self.table.view

    @property
    def hider(self) -> Player | None:
        """Who hides, or has hidden in the hide that is shown: a visitor or the mat; None before the toss."""
        if self.view.phase in ("show", "over") and self._hid is not None:
            return self._hid  # a find has changed the roles already
        return self.sides[self.view.hider] if self.view.hider else None

    @property
    def hitter(self) -> Player | None:
        """Who hits in this hide."""
        if self._hitter is not None and self.view.phase != "hide":
            return self._hitter
        return self.sides[other(self.view.hider)] if self.view.hider in {"A", "B"} else None

    @property
    def over(self) -> bool:
        """Whether the session's game has ended, and was looked at."""
        return self._ended

    @property
    def goes_on(self) -> float | None:
        """When the open step of a guided game is taken as read; None for no step."""
        return self._step_since + self.pace.step_s if self.lessons is not None and self.lessons.open else None

    @property
    def awaits(self) -> Await:
        """What is waited for from a visitor now."""
        view = self.view
        if self._ended or self._script or self.aim is not None:
            return ""
        if self.lessons is not None and self.lessons.open:
            return "next"
        if view.question is not None:
            return "" if self._answers_itself() else "question"
        if view.phase == "hide" and self.hider == "visitor":
            return "pads" if self.kind == "screen" else "ready"
        if view.phase == "hit" and self.hitter == "visitor":
            return "strike"
        return ""

    @property
    def touches(self) -> Sequence[str]:
        """What a visitor may touch now, by name: `pad:3`, `ready`, `next`, `answer:found`."""
        match self.awaits:
            case "pads":
                return [f"pad:{pad}" for pad in EVERY_PAD]
            case "strike":
                struck = {hit.pad for hit in self.view.hits}
                return [f"pad:{pad}" for pad in EVERY_PAD if pad not in struck]
            case "question":
                asked = self.view.question
                return [f"answer:{choice}" for choice in asked.choices] if asked else []
            case "":
                return []
            case one:
                return [one]

    # what comes in

    def touch(self, t: float, name: str) -> bool:
        """A visitor touches `name` on the screen; return whether that meant anything now."""
        if name not in self.touches:
            return False
        _, _, value = name.partition(":")
        match self.awaits:
            case "next":
                self._read_on(t)
            case "pads":
                self._hide(t, int(value))
            case "strike":
                self._by = "visitor"
                self._strike(t, int(value))
            case "ready":
                self._hidden(t)
                self._take(self.table.mat_event(Button(t, "ready")))
            case _:
                self._by = "visitor" if value.isdecimal() else self._by
                self._judge(JudgeAnswer(t, value))
        return True

    def felt(self, t: float, event: MatEvent) -> bool:
        """Pass on what a real mat or a button felt, unless it is the mat's own turn; return whether visitors did."""
        match event:
            case Strike() | HandIn() | HandOut() | Beads() | Link() | Sensors() | Blind() if self.kind != "sensors":
                return False  # there is no mat that could feel it
            case Strike() if self.hitter == "visitor" and self.view.phase == "hit":
                if self.awaits == "next":
                    self._read_on(t)
                self._by = "visitor"
                self._take(self.table.mat_event(event))
                return True
            case Strike():
                return False
            case HandIn() | HandOut() | Beads() if self.hider == "mat":
                return False
            case Button(name="ready") if self.awaits in ("ready", "next"):
                return self.touch(t, self.awaits)
            case Button(name="toss_a" | "toss_b") if self.awaits == "question":
                answers = self.touches
                return self.touch(t, answers[0 if event.name == "toss_a" else min(1, len(answers) - 1)])
            case Button():
                return False
            case _:
                self._take(self.table.mat_event(event))
                return isinstance(event, HandIn | HandOut)

    def tick(self, t: float) -> None:
        """Let time pass to `t`."""
        if self._ended:
            return
        self._take(self.table.tick(t))
        if self.view.hide > self._hides:  # the bead was shown at once, and the next hide has begun
            self.close(t)
            return
        while self._script and self._script[0][0] <= t:
            due, act = self._script.popleft()
            act(due)
        if self.view.phase in ("show", "over"):
            self._open(t)
        key = (self.view.phase, self.view.hide, len(self.view.hits), self.view.question, bool(self._script))
        if key != self._key:
            self._key, self._since = key, t
        if self.lessons is not None and self.lessons.open:
            if t - self._step_since >= self.pace.step_s:
                self._read_on(t)
            self._since = t
        elif not self._script:
            self._step_since = t
            self._go_on(t)

    def close(self, t: float) -> None:
        """The session ends, wherever the game is: what is sealed is opened, so that all of it can be checked."""
        self._open(t)
        self._log.add("ended", t, hides=self.view.hide, over=self.view.phase == "over")
        self._ended = True
        self._script.clear()

    def _go_on(self, t: float) -> None:
        view, waited = self.view, t - self._since
        if view.phase == "halted":
            self._ended = True
        elif view.question is not None:
            self._answer_itself(t)
        elif view.phase == "toss" and waited >= self.pace.toss_s:
            self._take(self.table.mat_event(Button(t, self._rng.choice(("toss_a", "toss_b")))))
        elif view.phase == "hide":
            if self.hider == "visitor":
                self._explain("hiding")
            elif waited >= self.pace.think_s:
                self._hide_as_the_mat(t)
        elif view.phase == "hit":
            self._hit(t, waited)
        elif view.phase in ("show", "over") and waited >= self.pace.shown_s:
            self._put_away(t)

    def _begin_hide(self, t: float) -> None:
        """A hide begins: the mat's guess is made and sealed before anybody can have hidden."""
        self._open(t)
        self._hide_begun, self.seal, self.opened, self.guessed = self.view.hide, "", "", None
        self._round += 1
        self._guess, self._place, self._by, self._hits, self._learned = None, None, None, 0, False
        self._hid, self._hitter = self.hider, self.sides[other(self.view.hider or "A")]
        if self._hitter == "mat":
            self._guess = self._opponent.guess()
            if self._hid == "visitor":
                self._sealed = self._log.seal("guess", t, self._round, self._guess.digits)
                self.seal = self._sealed.hash

    def _hide_as_the_mat(self, t: float) -> None:
        place = self._rng.choice(EVERY_PAD)
        if self._hitter == "visitor":
            self._sealed = self._log.seal("bead", t, self._round, place)
            self.seal = self._sealed.hash
        self._hide(t, place)

    def _hide(self, t: float, place: int) -> None:
        """The hand goes once under every cloth, and the bead stays under one."""
        self._place = place
        for n, pad in enumerate(EVERY_PAD):
            at = t + n * self.pace.hand_s
            self._script.append((at, lambda at, pad=pad: self._hand_in(at, pad)))
            self._script.append((at + 0.8 * self.pace.hand_s, lambda at, pad=pad: self._hand_out(at, pad)))
        self._script.append((t + len(EVERY_PAD) * self.pace.hand_s, self._lay))

    def _hand_in(self, t: float, pad: int) -> None:
        self.hand = pad
        self._take(self.table.mat_event(HandIn(t, pad, "hider")))

    def _hand_out(self, t: float, pad: int) -> None:
        self.hand = None
        self._take(self.table.mat_event(HandOut(t, pad, "hider")))

    def _lay(self, t: float) -> None:
        self._hidden(t)
        self._take(self.table.mat_event(Button(t, "ready")))
        self._take(self.table.mat_event(Beads(t + BESIDE_S, (Bead(self._place),))))

    def _hidden(self, t: float) -> None:
        self._log.add("hidden", t, hide=self._round, by=self.hider)

    def _hit(self, t: float, waited: float) -> None:
        view = self.view
        if view.hits:
            self._explain("second_owed")
        if self.hitter == "visitor":
            self._explain("hitting")
            return
        if waited < self.pace.think_s or self._guess is None:
            return
        pad = self._guess.second if view.hits else self._guess.first
        self.aim = pad
        if waited >= self.pace.think_s + self.pace.aim_s:
            self.aim, self._by = None, "mat"
            self._strike(t, pad)

    def _strike(self, t: float, pad: int) -> None:
        self._take(self.table.mat_event(Strike(t, (pad,), MARGIN_DB)))

    def _answers_itself(self) -> bool:
        asked = self.view.question
        return asked is not None and asked.about == "found" and self.hider == "mat"

    def _answer_itself(self, t: float) -> None:
        """Say whether a hit found what the mat itself has hidden, where the table did not see it."""
        asked = self.view.question
        if asked is not None and self._answers_itself():
            self._judge(JudgeAnswer(t, "found" if self._place in asked.pads else "missed"))

    def _put_away(self, t: float) -> None:
        if self.view.phase == "over" or self.view.hide >= self._hides:
            self.close(t)
            return
        if self.kind == "screen" or self.hider == "mat":
            self._take(self.table.mat_event(Beads(t, ())))
        if self.view.phase == "show":
            self._take(self.table.mat_event(Button(t, "shown")))

    def _open(self, t: float) -> None:
        """Open this hide's seal, once it is over."""
        if self._sealed is not None:
            self._log.open(self._sealed, t)
            self.opened, self.guessed = str(self._sealed.digits), self._guess
            self._sealed = None

    def _judge(self, call: JudgeAnswer) -> None:
        try:
            self._take(self.table.judge(call))
        except MatError as error:  # it was answered a moment ago, by time or by another hand
            log.info("not taken: %s", error.what)

    # what follows from facts

    def _take(self, facts: Sequence[Fact]) -> None:
        said = False  # whether it is the visitors' word that a hit found, or did not
        for fact in facts:
            match fact:
                case Answer(about="found"):
                    said = self.hider != "mat"
                case Done(action={"do": "hit"} as action):
                    self._hits += 1
                    found, pad = bool(action["found"]), action.get("pad")
                    self._log.add("struck", fact.t, hide=self._round, pad=pad, by=self._by, found=found, said=said)
                    if self.lessons is not None:
                        self.lessons.hit(self._hits, fact.calls, self._sticks, sticks(self.view), found=found)
                    if found and pad is not None:
                        self._learn(pad)
                case Void():
                    self._log.add("moved", fact.t, hide=self._round)
                case Reveal():
                    self._log.add("revealed", fact.t, hide=self._round, pad=fact.pad)
                    self._learn(fact.pad)
                case _:
                    pass
        self._sticks = sticks(self.view)
        again = any(isinstance(fact, HideAgain) for fact in facts)
        if facts and self.view.phase == "hide" and (again or self.view.hide != self._hide_begun):
            self._begin_hide(facts[-1].t)

    def _learn(self, pad: int) -> None:
        """Tell the opponent where a visitor hid, once a hide."""
        if self._hid == "visitor" and not self._learned:
            self._learned = True
            self._opponent.saw(pad, found=self._hits == 1 and bool(self.view.hits) and self.view.hits[0].found)

    def _explain(self, key: str) -> None:
        if self.lessons is not None:
            self.lessons.first(key, self._sticks, self._sticks)

    def _read_on(self, t: float) -> None:
        if self.lessons is not None:
            self.lessons.next()
        self._step_since = self._since = t

"""One game of a session: visitors and the mat at a table, driven by touches, by events of a real mat, and by time.

It has no rules of its own. All actions go to the table as mat events (hands, a bead at rest, a stroke, buttons), and
the referee handles them as in any game. Visitors' touches on the screen are converted to such events, as are the mat's
own actions when it hides or hits. Times are seconds of one clock.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Literal

from pi_controller.errors import MatError
from pi_controller.exhibit.lessons import START_POSITION, Lessons, Sticks, sticks
from pi_controller.exhibit.opponents import Guess, Opponent
from pi_controller.exhibit.stage import VisitPace
from pi_controller.pads import EVERY_PAD
from pi_controller.referee.facts import ActionPlayed, Fact, HideAgain, Reveal
from pi_controller.referee.hits import ONE_STROKE_S
from pi_controller.referee.judge import JudgeAnswer, JudgeSet
from pi_controller.referee.story import SETTLED
from pi_controller.rules.base import opposing_team
from pi_controller.sensing import events

if TYPE_CHECKING:
    from pi_controller.config.model import MatKind
    from pi_controller.table.table import Table
    from pi_controller.table.view import View


log = logging.getLogger(__name__)

Player = Literal["visitor", "mat"]
Await = Literal["", "pads", "handover", "strike", "ready", "question", "next"]
"""The action expected from a visitor: none, a hiding place, to give the screen to the other side, a hit, ready, an
answer, or reading a step."""
SKIP_AFTER_S = 0.7
"""How long the mat's turn lasts before a touch skips it: the second tap of a double one must not."""
MARGIN_DB = 20.0
"""Margin of a stroke made on the screen: far above any doubt."""
EVENT_GAP_S = 0.01
"""Time between events of one action, so that no two events have the same time."""
SHOW_POSITION = {**START_POSITION, "long": {"A": 10, "B": 10}, "middle": 0}
"""Score sheet at the start of the demonstration: two finds bring the sticks back to it, and no word is called."""
SHOW_PACE = VisitPace(hand_s=0.45, think_s=0.8, aim_s=1.2, shown_s=3.2)
"""Durations of the demonstration: a whole find in less than 9 s."""


class VisitorGame:
    """A game at `table` of at most `hides` hides; `sides` says who plays A and B.

    `opponent` guesses for the mat, `rng` tosses the coin and chooses the mat's hiding places, `lessons` explain a
    guided game. `kind` is the kind of mat. `show` is the demonstration for passers-by: without a toss, and each first
    hit finds the bead.
    """

    def __init__(
        self,
        table: Table,
        sides: Mapping[str, Player],
        opponent: Opponent,
        rng: Random,
        t: float,
        *,
        kind: MatKind = "screen",
        pace: VisitPace | None = None,
        hides: int = 8,
        lessons: Lessons | None = None,
        show: bool = False,
    ) -> None:
        self.table = table
        self.sides = sides
        self.kind = kind
        self.pace = pace or VisitPace()
        self.lessons = lessons
        self.hand: int | None = None
        """The pad with a hand under it, on the screen."""
        self.aim: int | None = None
        """The pad that the mat is about to strike."""
        self.opened = ""
        """The pads of the mat's guess, or its hiding place, once the hide is over: digits in the order of the hits."""
        self.guessed: Guess | None = None
        """The mat's guess for this hide, once it is open."""
        self.hides_again = False
        """True if the team that hides also hid in the hide before."""
        self.course: list[Sticks] = []
        """The sticks at the beginning, and after each hide."""
        self.hidden_under: list[int] = []
        """The pads that visitors left the bead under, one of each hide that is over."""
        self._opponent, self._rng, self._hides, self._show = opponent, rng, hides, show
        self._script: deque[tuple[float, Callable[[float], None]]] = deque()
        self._guess: Guess | None = None
        self._sealed = ""  # the pads in the envelope on the screen, not to be shown before the hide is over
        self._hide_begun = 0
        self._place: int | None = None
        self._hid: Player | None = None
        self._hiding_team: str | None = None
        self._hitter: Player | None = None
        self._hits = 0
        self._now = self._felt = t  # the mat's own events may be a moment ahead: a touch comes after them
        self._touched = float("-inf")  # when a cloth was last touched as a hit
        self._learned = False
        self._handover = False  # the screen shows a curtain until the other side has it
        self._skipped = False  # the mat does not wait any more before its next action
        self._sticks = sticks(table.view)
        self._key: tuple[object, ...] = ()
        self._since = self._step_since = t
        self._ended = False
        if kind == "screen":
            self._feel(events.Link(t, up=True))
        if lessons is not None:
            self._process_facts(table.judge(JudgeSet(t, dict(START_POSITION), "a guided game begins in the middle")))
            self._explain("under_way")
        elif show:
            self._process_facts(table.judge(JudgeSet(t, dict(SHOW_POSITION), "the demonstration has no toss")))

    # output

    @property
    def view(self) -> View:
        """The table's public view."""
        return self.table.view

    @property
    def hider(self) -> Player | None:
        """The player who hides, or who hid in the hide on show; None before the toss."""
        if self.view.phase in SETTLED and self._hid is not None:
            return self._hid  # a find has changed the roles already
        turn = self.view.scoreboard.turn
        return self.sides[turn] if turn else None

    @property
    def hitter(self) -> Player | None:
        """The player who hits in this hide."""
        if self._hitter is not None and self.view.phase != "hide":
            return self._hitter
        turn = self.view.scoreboard.turn
        return self.sides[opposing_team(turn)] if turn else None

    @property
    def is_sealed(self) -> bool:
        """True if the mat's guess for this hide, or its hiding place, was fixed before visitors hide or hit."""
        return bool(self._sealed)

    @property
    def over(self) -> bool:
        """True if the session's game has ended and its result was shown."""
        return self._ended

    @property
    def continues_at(self) -> float | None:
        """When the open step of a guided game closes by itself; None if no step is open."""
        return self._step_since + self.pace.step_s if self.lessons is not None and self.lessons.open_step else None

    @property
    def awaits(self) -> Await:
        """The action expected from a visitor now."""
        view = self.view
        if self._ended or self._script or self.aim is not None:
            return ""
        if self.lessons is not None and self.lessons.open_step:
            return "next"
        if view.question is not None:
            return "" if self._knows_answer() else "question"
        if view.phase == "hide" and self.hider == "visitor":
            return "pads" if self.kind == "screen" else "ready"
        if view.phase == "hit" and self.hitter == "visitor":
            if self._now < self._touched + ONE_STROKE_S:
                return ""  # the stick of the first hit still flies
            return "handover" if self._handover else "strike"
        return ""

    @property
    def waits_for_lift(self) -> bool:
        """True if the bead still lies on the mat after the hide: the next one begins as soon as it is taken up."""
        return self.view.phase == "show" and self.view.notice is not None and self.view.notice.about == "lift_bead"

    def may_skip(self, t: float) -> bool:
        """Return True if at `t` the mat acts or shows a result, and a touch may end that at once."""
        view = self.view
        if self._ended or self.awaits or t - self._since < SKIP_AFTER_S or self._skipped:
            return False
        if self._script or view.phase in ("toss", "show", "over"):
            return True
        return (view.phase == "hide" and self.hider == "mat") or (view.phase == "hit" and self.hitter == "mat")

    def skip(self, t: float) -> None:
        """Do the mat's next moves at `t` instead of after a while, in the same order whatever pad holds the bead."""
        if not self._script:
            self._skipped = True
            return
        moves = list(self._script)
        self._script.clear()
        for n, (_, act) in enumerate(moves):
            self._script.append((t + n * EVENT_GAP_S, act))

    @property
    def touches(self) -> Sequence[str]:
        """Names of the controls a visitor may touch now: `pad:3`, `ready`, `next`, `answer:found`."""
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

    # input

    def touch(self, t: float, name: str) -> bool:
        """Handle a visitor's touch of `name` on the screen; return True if it was accepted."""
        if name not in self.touches:
            return False
        t = max(t, self._felt)
        _, _, value = name.partition(":")
        match self.awaits:
            case "next":
                self._read_on(t)
            case "handover":
                self._handover = False
            case "pads":
                self._hide(t, int(value))
            case "strike":
                self._touched = t
                self._feel(events.Strike(t, (int(value),), MARGIN_DB))
            case "ready":
                self._feel(events.Button(t, "ready"))
            case _:
                self._judge(JudgeAnswer(t, value))
        return True

    def handle_mat_event(self, t: float, event: events.MatEvent) -> bool:
        """Pass on an event of a real mat or a button unless it is the mat's turn.

        Return True if a visitor caused it.
        """
        match event:
            case (
                events.Strike()
                | events.HandIn()
                | events.HandOut()
                | events.BeadsAtRest()
                | events.Link()
                | events.SensorFaultsChange()
                | events.SamplesMissing()
            ) if self.kind != "sensors":
                return False  # there is no mat with sensors
            case events.Strike() if self.hitter == "visitor" and self.view.phase == "hit":
                if self.awaits == "next":
                    self._read_on(t)
                self._feel(event)
                return True
            case events.Strike():
                return False
            case events.HandIn() | events.HandOut() | events.BeadsAtRest() if self.hider == "mat":
                return False
            case events.Button(name="ready") if self.awaits in ("ready", "next"):
                return self.touch(t, self.awaits)
            case events.Button(name="toss_a" | "toss_b") if self.awaits == "question":
                answers = self.touches
                return self.touch(t, answers[0 if event.name == "toss_a" else min(1, len(answers) - 1)])
            case events.Button():
                return False
            case _:
                self._feel(event)
                return isinstance(event, events.HandIn | events.HandOut)

    def tick(self, t: float) -> None:
        """Advance the time to `t`."""
        if self._ended:
            return
        self._now = t
        self._process_facts(self.table.tick(t))
        if self.view.hide > self._hides:  # the bead was shown at once, and the next hide has begun
            self.close()
            return
        while self._script and self._script[0][0] <= t:
            due, act = self._script.popleft()
            act(due)
        if self.view.phase in SETTLED:
            self._open()
        key = (self.view.phase, self.view.hide, len(self.view.hits), self.view.question, bool(self._script))
        if key != self._key:
            self._key, self._since, self._skipped = key, t, False
        if self.lessons is not None and self.lessons.open_step:
            if t - self._step_since >= self.pace.step_s:
                self._read_on(t)
            self._since = t
        elif not self._script:
            self._step_since = t
            self._go_on(t)

    def close(self) -> None:
        """End the game at any point."""
        self._open()
        self._ended = True
        self._script.clear()

    def _go_on(self, t: float) -> None:
        view, waited = self.view, math.inf if self._skipped else t - self._since
        if view.phase == "halted":
            self._ended = True
        elif view.question is not None:
            if self._knows_answer():
                self._judge(JudgeAnswer(t, "found" if self._place in view.question.pads else "missed"))
        elif view.phase == "toss" and waited >= self.pace.toss_s:
            self._feel(events.Button(t, self._rng.choice(("toss_a", "toss_b"))))
        elif view.phase == "hide":
            if self.hider == "visitor":
                self._explain("hiding")
            elif waited >= self.pace.think_s:
                self._hide_as_the_mat(t)
        elif view.phase == "hit":
            self._hit(t, waited)
        elif view.phase in SETTLED and waited >= self.pace.shown_s:
            self._end_hide(t)

    def _begin_hide(self) -> None:
        """Start a hide: make and seal the mat's guess before anybody can have hidden."""
        self._hide_begun, self._sealed, self.opened, self.guessed = self.view.hide, "", "", None
        self._guess, self._place, self._hits, self._learned = None, None, 0, False
        self._handover = False
        team = self.view.scoreboard.turn
        if not self.course:
            self.course = [sticks(self.view)]
        self.hides_again, self._hiding_team = team == self._hiding_team, team
        self._hid, self._hitter = self.hider, self.sides[opposing_team(self.view.scoreboard.turn or "A")]
        if self._hitter == "mat":
            self._guess = self._opponent.guess()
            if self._hid == "visitor":
                self._sealed = f"{self._guess.first}{self._guess.second}"

    def _hide_as_the_mat(self, t: float) -> None:
        """Hide in a random place; in the same again if visitors' hands under the pads kept the first from counting."""
        place = self._place or self._rng.choice(EVERY_PAD)
        if self._show and self._guess is not None:
            place = self._guess.first
        if self._hitter == "visitor":
            self._sealed = str(place)
        self._hide(t, place)

    def _hide(self, t: float, place: int) -> None:
        """Schedule the hand's passes under every cloth, with the bead left under `place`."""
        self._place = place
        for n, pad in enumerate(EVERY_PAD):
            at = t + n * self.pace.hand_s
            self._script.append((at, partial(self._move_hand, events.HandIn, pad)))
            self._script.append((at + 0.8 * self.pace.hand_s, partial(self._move_hand, events.HandOut, pad)))
        self._script.append((t + len(EVERY_PAD) * self.pace.hand_s, self._finish_hiding))

    def _move_hand(self, way: type[events.HandIn | events.HandOut], pad: int, t: float) -> None:
        self.hand = pad if way is events.HandIn else None
        self._feel(way(t, pad, "hider"))

    def _finish_hiding(self, t: float) -> None:
        self._handover = self.hider == self._hitter == "visitor"
        self._feel(events.Button(t, "ready"))
        self._feel(events.BeadsAtRest(t + EVENT_GAP_S, (events.Bead(self._place),)))

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
            self.aim = None
            self._feel(events.Strike(t, (pad,), MARGIN_DB))

    def _knows_answer(self) -> bool:
        """Return True if the table asks about a bead that the mat itself has hidden."""
        asked = self.view.question
        return asked is not None and asked.about == "found" and self.hider == "mat"

    def _end_hide(self, t: float) -> None:
        if self.view.phase == "over" or self.view.hide >= self._hides:
            self.close()
            return
        if self.kind == "screen" or self.hider == "mat":
            self._feel(events.BeadsAtRest(t, ()))
        if self.view.phase == "show" and not self.waits_for_lift:
            self._feel(events.Button(t, "shown"))

    def _open(self) -> None:
        """Open the envelope, if there is one, after the hide."""
        if self._sealed:
            self.opened, self.guessed = self._sealed, self._guess

    def _judge(self, call: JudgeAnswer) -> None:
        try:
            self._process_facts(self.table.judge(call))
        except MatError as error:  # it was answered a moment ago, by time or by another hand
            log.info("the answer was not accepted: %s", error.message)

    # processing of facts

    def _feel(self, event: events.MatEvent) -> None:
        """Give the table an event of the mat."""
        self._felt = max(self._felt, event.t)
        self._process_facts(self.table.mat_event(event))

    def _process_facts(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            match fact:
                case ActionPlayed(action={"do": "hit"} as action):
                    self._hits += 1
                    found, pad = bool(action["found"]), action.get("pad")
                    if self.lessons is not None:
                        self.lessons.hit(self._hits, fact.calls, self._sticks, sticks(self.view), found=found)
                    if found and pad is not None:
                        self._learn(pad)
                case Reveal():
                    self._learn(fact.pad)
                case _:
                    pass
        self._sticks = sticks(self.view)
        if self.view.phase in SETTLED:
            self.course[self.view.hide :] = [self._sticks]
        again = any(isinstance(fact, HideAgain) for fact in facts)
        if facts and self.view.phase == "hide" and (again or self.view.hide != self._hide_begun):
            self._begin_hide()

    def _learn(self, pad: int) -> None:
        """Report a visitor's hiding place to the opponent, once a hide."""
        if self._hid == "visitor" and not self._learned:
            self._learned = True
            self.hidden_under.append(pad)
            self._opponent.learn_hide(pad, found=self._hits == 1 and bool(self.view.hits) and self.view.hits[0].found)

    def _explain(self, key: str) -> None:
        if self.lessons is not None:
            self.lessons.explain_once(key, self._sticks, self._sticks)

    def _read_on(self, t: float) -> None:
        if self.lessons is not None:
            self.lessons.close_step()
        self._step_since = self._since = t

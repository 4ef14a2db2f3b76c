"""Base class of referees: the judge's commands, the link, restarts, and the order of conclusions.

A `Referee` concludes; the journal makes it true. Everything public is in the `Story` it is given each time. What it
keeps itself (`PrivateState`) is what nobody may know or what only the mat can say again; after a restart that memory is
empty and `resume` says what follows from it. What is a game's own stands in its subclass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.mat.events import Beads, Blind, Button, HandIn, HandOut, Link, MatEvent, Sensors, Strike
from pi_controller.referee import judge_commands
from pi_controller.referee.commitment import Bound
from pi_controller.referee.facts import Answer, Away, Fact, LinkSeen, Question, SensorsSeen, Withdrawn
from pi_controller.referee.judge import (
    JudgeAction,
    JudgeAnswer,
    JudgeCall,
    JudgeClock,
    JudgeClose,
    JudgeHidden,
    JudgeHideAgain,
    JudgeNewGame,
    JudgeProtest,
    JudgeReplace,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
    JudgeTeams,
    JudgeUndo,
    Ruling,
)
from pi_controller.referee.private_state import PrivateState
from pi_controller.referee.settings import RefereeSettings
from pi_controller.referee.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Game
    from pi_controller.referee.seating import Seats
    from pi_controller.referee.story import Story


class Referee(ABC):
    """One table's referee.

    `random_bytes(n)` gives the nonces: `secrets.token_bytes` at a real table, `bound()` is what the next commitment
    is bound to. All times are seconds of one clock.
    """

    def __init__(
        self,
        game: Game[Any],
        settings: RefereeSettings | None,
        random_bytes: Callable[[int], bytes],
        bound: Callable[[], Bound] = Bound,
    ) -> None:
        self.game = game
        self.settings = settings or RefereeSettings()
        self._random_bytes = random_bytes
        self._bound = bound
        self._private = PrivateState()

    def decide(self, story: Story, event: MatEvent | JudgeCall, t: float | None = None) -> list[Fact]:
        """Return what follows from `event`, in order; nothing, when it means nothing now. `t` is now, if not `event.t`.

        A mat event never raises. A judge's call raises `InvalidActionError` or `IllegalActionError`, and changes
        nothing then.
        """
        remembered = self._private.copy()
        try:
            return self._decide(story, event, t)
        except (InvalidActionError, IllegalActionError):
            self._private = remembered  # it may have been asked of a story that will never be: half of a replacement
            raise

    def _decide(self, story: Story, event: MatEvent | JudgeCall, t: float | None) -> list[Fact]:
        tx = self._begin(story, event.t)
        self._private.wait(story, event.t if t is None else t)
        if story.held and isinstance(event, JudgeAction | JudgeAnswer | JudgeHideAgain | JudgeHidden):
            raise IllegalActionError("play stands until the protest is decided", "decide it, or let play go on")
        if (story.held or not story.sensors) and self._passed_over(story, event):
            return []
        match event:
            case JudgeUndo():
                judge_commands.undo(tx, event)
                return tx.facts  # what follows is told of the story as it will be then: `tick`
            case JudgeReplace():
                raise InvalidActionError("the table itself replaces", "say undo, then the action")
            case JudgeNewGame():
                raise InvalidActionError("the table itself begins another game", "begin a new stream for it")
            case (
                JudgeSet()
                | JudgeSensors()
                | JudgeProtest()
                | JudgeRuling()
                | JudgeClock()
                | JudgeClose()
                | JudgeTeams()
            ):
                judge_commands.rule(tx, event)
            case JudgeHidden():
                judge_commands.hidden(tx, event)
            case JudgeAction():
                self._act(tx, event)
            case JudgeAnswer():
                self._answered(tx, judge_commands.answered(tx, event), event.answer)
            case JudgeHideAgain():
                judge_commands.hide_again(tx, event)
            case Blind():
                self._missed(tx, event, "samples were missing")
            case Link():
                self._link(tx, event)
            case Sensors(faults=faults):
                if faults != story.link.faults:
                    tx.add(SensorsSeen(event.t, faults))
            case Beads() if self.settings.beads == "judge":
                pass
            case _:
                self._felt(tx, event)
        return self._finish(tx)

    def tick(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from time having come to `t`, and from a story that changed by other means (an undo)."""
        self._private.wait(story, t)
        tx = self._begin(story, t)
        unanswered, due = self.unanswered(story), self._due(story)
        if story.question is not None and unanswered is not None and t >= unanswered[0]:
            tx.by, asked, answer = "clock", story.question, unanswered[1]
            tx.add(Answer(t, asked.about, answer, "clock"))
            self._answered(tx, asked, answer)
        elif due is not None and t >= due:
            self._overdue(tx)
        return self._finish(tx)

    def due(self, story: Story) -> float | None:
        """Return when `tick` has something to say unless something happens first, or None."""
        unanswered, due = self.unanswered(story), self._due(story)
        return unanswered[0] if unanswered is not None else due

    def _due(self, story: Story) -> float | None:
        """Return when what the story waits for has taken too long, or None."""
        waits = story.question is None and not story.stands
        limit = self._limit(story) if waits else None
        if limit is None or (story.phase != "check" and story.clocks.waiting.stood is not None):
            return None
        return limit + (self._private.since if story.phase == "check" else story.clocks.waiting.began)

    def unanswered(self, story: Story) -> tuple[float, str] | None:
        """Return when the open question is answered unless somebody answers it, and how; None: it waits."""
        asked = story.question
        if asked is None or story.stands:
            return None
        # a hide that nothing was hit in can start over, whatever was asked
        answer = self.settings.unasked(asked.about, (*asked.choices, *(() if story.hide.hits else ("hide_again",))))
        return None if answer is None else (asked.t + self.settings.answer_within_s, answer)

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """What can be ruled on a protest here."""
        return self.settings.rulings

    def strike_reporting(self, story: Story) -> bool:
        """Return whether a stroke is to be felt now: one is due, or it would be a foul."""
        return story.armed

    def _passed_over(self, story: Story, event: MatEvent | JudgeCall) -> bool:
        """Return whether `event` means nothing while play stands, or goes on without the mat; remember what it says."""
        match event:
            case HandIn() | HandOut() | Beads() | Strike() | Blind():
                self.sense(event)
                return True
            case Button():
                return story.held
            case _:
                return False

    def resume(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from a restart: hands were not felt, nothing is sealed, no board is there yet."""
        why = "the controller restarted"
        self._private = PrivateState(restarted=True)
        self._private.wait(story, t)
        tx = self._begin(story, t)
        tx.add(Away(t, story.clocks.last_t))
        if story.link.up:
            tx.add(LinkSeen(t, up=False, why=why))
        if story.link.faults:
            tx.add(SensorsSeen(t))  # whatever is wrong will be felt again
        if story.phase == "hide" and story.hide.passes:
            tx.hide_again(why, "restart")
        tx.void(why)
        return tx.facts

    def sense(self, event: MatEvent) -> None:
        """Remember what `event` says of the mat and conclude nothing: for a table that stands still."""
        private = self._private
        match event:
            case HandIn() | HandOut():
                private.lost()
            case Beads():
                private.reading = event
            case Link(up=up):
                private.link = up
                private.lost()
            case _:
                pass

    def change_sides(self, seats: Seats) -> None:
        """The other team hides from now on: the mat lies the other way round for them, or another lies before them."""
        if seats == "turn":
            self._private.turn_round()
        elif seats == "each":
            self._private.lost()

    def catch_up(self, story: Story, t: float, why: str) -> list[Fact]:
        """Return what follows from a table having stood still until `t`: like a gap on the link."""
        tx = self._begin(story, t)
        self._private.wait(story, t, afresh=True)
        tx.add(Away(t, story.clocks.last_t))
        link = self._private.link
        if link is not None and link != story.link.up:
            tx.add(LinkSeen(t, link, why))
        self._missed(tx, Blind(t, t), why)
        return self._finish(tx)

    # what is a game's own

    @abstractmethod
    def _act(self, tx: Transaction, call: JudgeAction) -> None:
        """Play the judge's action, or raise the game's error."""

    @abstractmethod
    def _answered(self, tx: Transaction, asked: Question, answer: str) -> None:
        """Do what the judge's answer says; it is one of the choices and is in the story already."""

    @abstractmethod
    def _felt(self, tx: Transaction, event: MatEvent) -> None:
        """Conclude from what the mat felt, or from a button."""

    @abstractmethod
    def _look(self, tx: Transaction) -> None:
        """Conclude from what lies on the mat, while nothing is asked."""

    @abstractmethod
    def _limit(self, story: Story) -> float | None:
        """Return how long the story may wait for what it waits for, seconds, or None."""

    @abstractmethod
    def _overdue(self, tx: Transaction) -> None:
        """Conclude from the wait having been too long."""

    def _learned(self, tx: Transaction, asked: Question) -> str:
        """Return how the mat has learned the answer to `asked` since (one of `WITHDRAWN`), or nothing."""
        story, private = tx.story, self._private
        if asked.about == "disc_dead" and story.link.up and not story.deaf:
            return "disc_back"
        reading = private.reading
        seen = reading is not None and reading.sure and reading.t > asked.t and not private.hands
        match asked.about:
            case "no_reading" | "balls" | "bones" if seen and self._is_conclusive(tx):
                return "bead_seen"
            case "no_reading" if self.settings.beads == "judge" and not private.hands:
                return "hand_out"
            case "bead_moved" | "ball_moved" if seen and self._in_place(tx):
                return "bead_there"
            case "link_gap" if seen and story.link.up and self._in_place(tx):
                return "link_back"
            case _:
                return ""

    def _is_conclusive(self, tx: Transaction) -> bool:
        """Return whether the mat's last reading, a sure one, says how the hide goes on."""
        del tx
        return self._private.place is not None

    def _in_place(self, tx: Transaction) -> bool:
        """Return whether what was sealed lies where it lay."""
        sealed, place = tx.sealed, self._private.place
        return sealed is not None and place is not None and sealed.found(place)

    def _missed(self, tx: Transaction, event: Blind | Link, why: str) -> None:
        """Samples are missing: a stroke that is due and that nobody felt is the judge's to say."""
        del event, why
        story = tx.story
        if story.phase == "hit" and story.armed and "link_gap" not in story.hide.waived:
            # a cable that loses samples all the time would ask all the time: the judge may take that upon himself
            tx.add(Question(tx.t, "link_gap", ("none", *map(str, story.pads_open), "play_on")))

    # alike for all

    def _begin(self, story: Story, t: float) -> Transaction:
        if story.hide.commit is None:
            self._private.sealed = None  # opened or withdrawn, and written: an undo does not seal it again
        return Transaction(
            self.game, self.settings, self._random_bytes, self._bound, private=self._private, story=story, t=t
        )

    def _finish(self, tx: Transaction) -> list[Fact]:
        """Add what the mat's last reading says to the story as it is now, unless play stands or goes on without it."""
        if tx.sealed is None:
            tx.void("the mat no longer knows where the bead lies")
        if tx.story.sensors and not tx.story.held:
            asked = tx.story.question
            if asked is not None and (why := self._learned(tx, asked)):
                tx.add(Withdrawn(tx.t, asked.about, why))
            phase = None
            while tx.story.question is None and tx.story.phase != phase:
                phase = tx.story.phase  # what is seen may bring another one, in which it says more
                self._look(tx)
        self._private.wait(tx.story, tx.t)
        return tx.facts

    def _link(self, tx: Transaction, event: Link) -> None:
        was, private = tx.story.link.up, self._private
        if was is not False or event.up or event.why != tx.story.link.why:
            tx.add(LinkSeen(tx.t, event.up, event.why))
        back, private.link = event.up and private.restarted, event.up
        private.restarted = private.restarted and not event.up
        private.lost()
        if was or (was is False and event.up and not back):
            self._missed(tx, event, event.why)

"""What every referee does alike: the judge's word, the link, restarts, and the order in which things are concluded.

A `Keeper` concludes; the journal makes it true. Everything public is in the `Story` it is given each time. What it
keeps itself (`Senses`) is what nobody may know or what only the mat can say again; after a restart that memory is empty
and `resume` says what follows from it. What is a game's own stands in its subclass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.mat.events import Beads, Blind, Button, HandIn, HandOut, Link, MatEvent, Sensors, Strike
from pi_controller.referee import calls, rulings
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
    JudgeUndo,
    Ruling,
)
from pi_controller.referee.opening import Bound
from pi_controller.referee.senses import Senses
from pi_controller.referee.settings import RefereeSettings
from pi_controller.referee.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Game
    from pi_controller.referee.seats import Seats
    from pi_controller.referee.story import Story


class Keeper(ABC):
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
        self._senses = Senses()

    def decide(self, story: Story, event: MatEvent | JudgeCall, t: float | None = None) -> list[Fact]:
        """Return what follows from `event`, in order; nothing, when it means nothing now. `t` is now, if not `event.t`.

        A mat event never raises. A judge's call raises `InvalidActionError` or `IllegalActionError`, and changes
        nothing then.
        """
        remembered = self._senses.copy()
        try:
            return self._decide(story, event, t)
        except (InvalidActionError, IllegalActionError):
            self._senses = remembered  # it may have been asked of a story that will never be: half of a replacement
            raise

    def _decide(self, story: Story, event: MatEvent | JudgeCall, t: float | None) -> list[Fact]:
        turn = self._turn(story, event.t)
        self._senses.wait(story, event.t if t is None else t)
        if story.held and isinstance(event, JudgeAction | JudgeAnswer | JudgeHideAgain | JudgeHidden):
            raise IllegalActionError("play stands until the protest is decided", "decide it, or let play go on")
        if (story.held or not story.sensors) and self._passed_over(story, event):
            return []
        match event:
            case JudgeUndo():
                calls.undo(turn, event)
                return turn.facts  # what follows is told of the story as it will be then: `tick`
            case JudgeReplace():
                raise InvalidActionError("the table itself replaces", "say undo, then the action")
            case JudgeNewGame():
                raise InvalidActionError("the table itself begins another game", "begin a new stream for it")
            case JudgeSet() | JudgeSensors() | JudgeProtest() | JudgeRuling() | JudgeClock() | JudgeClose():
                rulings.rule(turn, event)
            case JudgeHidden():
                rulings.hidden(turn, event)
            case JudgeAction():
                self._act(turn, event)
            case JudgeAnswer():
                self._answered(turn, calls.answered(turn, event), event.answer)
            case JudgeHideAgain():
                calls.hide_again(turn, event)
            case Blind():
                self._missed(turn, event, "samples were missing")
            case Link():
                self._link(turn, event)
            case Sensors(faults=faults):
                if faults != story.faults:
                    turn.add(SensorsSeen(event.t, faults))
            case Beads() if self.settings.beads == "judge":
                pass
            case _:
                self._felt(turn, event)
        return self._finish(turn)

    def tick(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from time having come to `t`, and from a story that changed by other means (an undo)."""
        self._senses.wait(story, t)
        turn = self._turn(story, t)
        unanswered, due = self.unanswered(story), self._due(story)
        if story.question is not None and unanswered is not None and t >= unanswered[0]:
            turn.by, asked, answer = "clock", story.question, unanswered[1]
            turn.add(Answer(t, asked.about, answer, "clock"))
            self._answered(turn, asked, answer)
        elif due is not None and t >= due:
            self._overdue(turn)
        return self._finish(turn)

    def due(self, story: Story) -> float | None:
        """Return when `tick` has something to say unless something happens first, or None."""
        unanswered, due = self.unanswered(story), self._due(story)
        return unanswered[0] if unanswered is not None else due

    def _due(self, story: Story) -> float | None:
        """Return when what the story waits for has taken too long, or None."""
        waits = story.question is None and not story.stands
        limit = self._limit(story) if waits else None
        if limit is None or (story.phase != "check" and story.waiting.stood is not None):
            return None
        return limit + (self._senses.since if story.phase == "check" else story.waiting.began)

    def unanswered(self, story: Story) -> tuple[float, str] | None:
        """Return when the open question is answered unless somebody answers it, and how; None: it waits."""
        asked = story.question
        if asked is None or story.stands:
            return None
        # a hide that nothing was hit in can start over, whatever was asked
        answer = self.settings.unasked(asked.about, (*asked.choices, *(() if story.hits else ("hide_again",))))
        return None if answer is None else (asked.t + self.settings.answer_within_s, answer)

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """What can be ruled on a protest here."""
        return self.settings.rulings

    def listens(self, story: Story) -> bool:
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
        self._senses = Senses(restarted=True)
        self._senses.wait(story, t)
        turn = self._turn(story, t)
        turn.add(Away(t, story.last_t))
        if story.link:
            turn.add(LinkSeen(t, up=False, why=why))
        if story.faults:
            turn.add(SensorsSeen(t))  # whatever is wrong will be felt again
        if story.phase == "hide" and story.passes:
            turn.hide_again(why, "restart")
        turn.void(why)
        return turn.facts

    def sense(self, event: MatEvent) -> None:
        """Remember what `event` says of the mat and conclude nothing: for a table that stands still."""
        senses = self._senses
        match event:
            case HandIn() | HandOut():
                senses.lost()
            case Beads():
                senses.reading = event
            case Link(up=up):
                senses.link = up
                senses.lost()
            case _:
                pass

    def change_sides(self, seats: Seats) -> None:
        """The other team hides from now on: the mat lies the other way round for them, or another lies before them."""
        if seats == "turn":
            self._senses.turn_round()
        elif seats == "each":
            self._senses.lost()

    def catch_up(self, story: Story, t: float, why: str) -> list[Fact]:
        """Return what follows from a table having stood still until `t`: like a gap on the link."""
        turn = self._turn(story, t)
        self._senses.wait(story, t, afresh=True)
        turn.add(Away(t, story.last_t))
        link = self._senses.link
        if link is not None and link != story.link:
            turn.add(LinkSeen(t, link, why))
        self._missed(turn, Blind(t, t), why)
        return self._finish(turn)

    # what is a game's own

    @abstractmethod
    def _act(self, turn: Turn, call: JudgeAction) -> None:
        """Play the judge's action, or raise the game's error."""

    @abstractmethod
    def _answered(self, turn: Turn, asked: Question, answer: str) -> None:
        """Do what the judge's answer says; it is one of the choices and is in the story already."""

    @abstractmethod
    def _felt(self, turn: Turn, event: MatEvent) -> None:
        """Conclude from what the mat felt, or from a button."""

    @abstractmethod
    def _look(self, turn: Turn) -> None:
        """Conclude from what lies on the mat, while nothing is asked."""

    @abstractmethod
    def _limit(self, story: Story) -> float | None:
        """Return how long the story may wait for what it waits for, seconds, or None."""

    @abstractmethod
    def _overdue(self, turn: Turn) -> None:
        """Conclude from the wait having been too long."""

    def _learned(self, turn: Turn, asked: Question) -> str:
        """Return how the mat has learned the answer to `asked` since (one of `WITHDRAWN`), or nothing."""
        story, senses = turn.story, self._senses
        if asked.about == "disc_dead" and story.link and not story.deaf:
            return "disc_back"
        reading = senses.reading
        seen = reading is not None and reading.sure and reading.t > asked.t and not senses.hands
        match asked.about:
            case "no_reading" | "balls" | "bones" if seen and self._tells(turn):
                return "bead_seen"
            case "no_reading" if self.settings.beads == "judge" and not senses.hands:
                return "hand_out"
            case "bead_moved" | "ball_moved" if seen and self._in_place(turn):
                return "bead_there"
            case "link_gap" if seen and story.link and self._in_place(turn):
                return "link_back"
            case _:
                return ""

    def _tells(self, turn: Turn) -> bool:
        """Return whether the mat's last reading, a sure one, says how the hide goes on."""
        del turn
        return self._senses.place is not None

    def _in_place(self, turn: Turn) -> bool:
        """Return whether what was sealed lies where it lay."""
        sealed, place = turn.sealed, self._senses.place
        return sealed is not None and place is not None and sealed.found(place)

    def _missed(self, turn: Turn, event: Blind | Link, why: str) -> None:
        """Samples are missing: a stroke that is due and that nobody felt is the judge's to say."""
        del event, why
        story = turn.story
        if story.phase == "hit" and story.armed and "link_gap" not in story.waived:
            # a cable that loses samples all the time would ask all the time: the judge may take that upon himself
            turn.add(Question(turn.t, "link_gap", ("none", *map(str, story.pads_open), "play_on")))

    # alike for all

    def _turn(self, story: Story, t: float) -> Turn:
        if story.commit is None:
            self._senses.sealed = None  # opened or withdrawn, and written: an undo does not seal it again
        return Turn(self.game, self.settings, self._random_bytes, self._bound, senses=self._senses, story=story, t=t)

    def _finish(self, turn: Turn) -> list[Fact]:
        """Add what the mat's last reading says to the story as it is now, unless play stands or goes on without it."""
        if turn.sealed is None:
            turn.void("the mat no longer knows where the bead lies")
        if turn.story.sensors and not turn.story.held:
            asked = turn.story.question
            if asked is not None and (why := self._learned(turn, asked)):
                turn.add(Withdrawn(turn.t, asked.about, why))
            phase = None
            while turn.story.question is None and turn.story.phase != phase:
                phase = turn.story.phase  # what is seen may bring another one, in which it says more
                self._look(turn)
        self._senses.wait(turn.story, turn.t)
        return turn.facts

    def _link(self, turn: Turn, event: Link) -> None:
        was, senses = turn.story.link, self._senses
        if was is not False or event.up or event.why != turn.story.link_why:
            turn.add(LinkSeen(turn.t, event.up, event.why))
        back, senses.link = event.up and senses.restarted, event.up
        senses.restarted = senses.restarted and not event.up
        senses.lost()
        if was or (was is False and event.up and not back):
            self._missed(turn, event, event.why)

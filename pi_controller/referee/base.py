"""Base class of referees: the judge's commands, the board's link, restarts, and the order in which facts are concluded.

A `Referee` proposes facts; they count once the journal has stored them. The public state is the `Story` passed to each
call. `PrivateState` holds secrets and sensor readings that are never published. It is empty after a restart, and
`resume` returns the facts that follow from that. Subclasses hold the rules of one game.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pi_controller.referee import facts, hits, judge, judge_commands
from pi_controller.referee.commitment import CommitmentContext
from pi_controller.referee.history import Draft
from pi_controller.referee.settings import MAX_WAVED_ON, RefereeSettings
from pi_controller.referee.story import Story
from pi_controller.referee.transaction import Transaction
from pi_controller.referee.unpublished import PrivateState
from pi_controller.rules.base import Game, IllegalActionError, InvalidActionError
from pi_controller.sensing import events
from pi_controller.text import mark


class Referee(ABC):
    """One table's referee.

    `random_bytes(n)` returns n random bytes for nonces: `secrets.token_bytes` at a real table. `bound()` returns the
    context that the next commitment is bound to. All times are seconds of one clock.
    """

    def __init__(
        self,
        game: Game[Any],
        settings: RefereeSettings | None,
        random_bytes: Callable[[int], bytes],
        bound: Callable[[], CommitmentContext] = CommitmentContext,
    ) -> None:
        self.game = game
        self.settings = settings or RefereeSettings()
        self._random_bytes = random_bytes
        self._bound = bound
        self._private = PrivateState()

    def decide(self, draft: Draft, event: events.MatEvent | judge.JudgeCommand, t: float | None = None) -> Draft:
        """Return `draft` with the facts that follow from `event`, in order; unchanged if it has no effect now.

        `t` is the time now, by default `event.t`.

        A mat event never raises. A judge's call may raise `InvalidActionError` or `IllegalActionError`; the referee is
        then unchanged.
        """
        remembered = self._private.copy()
        try:
            return self._decide(draft, event, t)
        except (InvalidActionError, IllegalActionError):
            self._private = remembered  # `draft` may be hypothetical: the first half of a replacement
            raise

    def _decide(self, draft: Draft, event: events.MatEvent | judge.JudgeCommand, t: float | None) -> Draft:
        tx, story = self._begin(draft, event.t), draft.story
        self._private.wait(story, event.t if t is None else t)
        if story.held_by_protest and isinstance(
            event, judge.JudgeAction | judge.JudgeAnswer | judge.JudgeHideAgain | judge.JudgeHidden
        ):
            raise IllegalActionError("play is stopped until the protest is decided", "decide it, or let play continue")
        if (story.held_by_protest or not story.sensors) and self._remember_if_ignored(tx, event):
            return tx.draft
        match event:
            case judge.JudgeUndo():
                if story.hide.seal.commit is None:
                    self._private.sealed = None  # the place was revealed: it is not sealed again
                judge_commands.undo(tx, event)
                return tx.draft  # consequences are concluded by `tick`, from the story after the undo
            case judge.JudgeReplace():
                raise InvalidActionError("the table itself replaces", "say undo, then the action")
            case judge.JudgeNewGame():
                raise InvalidActionError("the table itself begins another game", "begin a new stream for it")
            case judge.TableCommand():
                judge_commands.handle_table_command(tx, event)
            case judge.JudgeHidden():
                judge_commands.confirm_ready(tx, event)
            case judge.JudgeAction():
                self._handle_action(tx, event)
            case judge.JudgeAnswer():
                self._handle_answer(tx, judge_commands.settle_question(tx, event), event.answer)
            case judge.JudgeHideAgain():
                judge_commands.hide_again(tx, event)
            case events.SamplesMissing():
                self._handle_missed_samples(tx, event, "samples were missing")
            case events.Link():
                self._link(tx, event)
            case events.SensorFaultsChange(faults=faults):
                if faults != story.link.faults:
                    tx.add(facts.SensorsSeen(event.t, faults))
            case events.BeadsAtRest() if self.settings.beads == "judge":
                pass
            case events.Button(name="ready" | "ready_a" | "ready_b" as name):
                self._handle_ready(tx, name.removeprefix("ready").removeprefix("_").upper())
            case events.Strike() if self._is_in_stop(story, event):
                if story.clocks_stopped:
                    hits.keep_strike(tx, event)
                elif event.sure and story.strike_expected:  # reported only now
                    tx.notice("struck_in_time_out", event.pads)
            case _:
                self._handle_event(tx, event)
        return self._finish(tx)

    def tick(self, draft: Draft, t: float) -> Draft:
        """Return `draft` with the facts that are due at time `t`.

        They may also follow from a story that was changed by other means (an undo).
        """
        story = draft.story
        self._private.wait(story, t)
        tx = self._begin(draft, t)
        unanswered, due = self.default_answer(story), self._wait_deadline(story)
        if story.question is not None and unanswered is not None and t >= unanswered[0]:
            tx.by, asked, answer = "clock", story.question, unanswered[1]
            tx.add(facts.Answer(t, asked.about, answer, "clock"))
            self._handle_answer(tx, asked, answer)
        elif due is not None and t >= due:
            self._handle_timeout(tx)
        return self._finish(tx)

    def next_deadline(self, story: Story) -> float | None:
        """Return the time at which `tick` has to be called if no event comes first, or None."""
        unanswered, due = self.default_answer(story), self._wait_deadline(story)
        return min((at for at in (unanswered and unanswered[0], due) if at is not None), default=None)

    def _wait_deadline(self, story: Story) -> float | None:
        """Return the time at which the current wait times out, or None."""
        limit = None if story.question is not None or story.clocks_stopped else self._wait_limit(story)
        if limit is None or (story.phase != "check" and story.clocks.waiting.stopped_at is not None):
            return None
        return limit + (self._private.since if story.phase == "check" else story.clocks.waiting.began)

    def default_answer(self, story: Story) -> tuple[float, str] | None:
        """Return (time, answer) of the default answer to the open question, or None.

        None means that no question is open, or that it waits for the judge.
        """
        asked = story.question
        if asked is None or story.clocks_stopped:
            return None
        # a hide without a hit can start over, for every question
        answer = self.settings.choose_default_answer(
            asked.about, (*asked.choices, *(() if story.hide.hits else ("hide_again",)))
        )
        return None if answer is None else (asked.t + self.settings.answer_within_s, answer)

    @property
    def rulings(self) -> tuple[judge.Ruling, ...]:
        """The rulings on a protest that are allowed here."""
        return self.settings.rulings

    def _is_in_stop(self, story: Story, event: events.Strike) -> bool:
        """Return True if the strike was made while a judge or a protest had stopped play."""
        since = story.stopped_since
        return event.t < self._private.went_on if since is None else event.t >= since

    def strike_reporting(self, story: Story) -> bool:
        """Return True if strikes must be reported now: a hit is due, or a strike would be a foul."""
        return story.strike_expected

    def _remember_if_ignored(self, tx: Transaction, event: events.MatEvent | judge.JudgeCommand) -> bool:
        """Return True if `event` has no effect now because a protest holds play or the sensors are off.

        Its reading is remembered anyway, and a strike is kept while a protest holds play.
        """
        story = tx.story
        match event:
            case events.Strike() if story.sensors:
                if self._is_in_stop(story, event) and story.phase in ("check", "hit"):
                    hits.keep_strike(tx, event)
                    return True
                return False
            case events.HandIn() | events.HandOut() | events.BeadsAtRest() | events.Strike() | events.SamplesMissing():
                self.remember_event(event)
                return True
            case events.Button():
                return story.held_by_protest
            case _:
                return False

    def resume(self, draft: Draft, t: float) -> Draft:
        """Return `draft` with the facts that follow from a restart.

        Hands may have been missed, the seal is lost, and the board is not connected yet.
        """
        story, why = draft.story, mark("the controller restarted")
        self._private = PrivateState(restarted=True)
        self._private.wait(story, t)
        tx = self._begin(draft, t)
        tx.add(facts.ClockGap(t, story.clocks.last_t))
        if story.link.up:
            tx.add(facts.LinkSeen(t, up=False, why=why))
        if story.hands.under:
            tx.add(facts.HandsUnder(t, on=False))
        if story.link.faults:
            tx.add(facts.SensorsSeen(t))  # faults that persist will be detected again
        if story.phase == "hide" and story.hide.hiding_passes:
            tx.hide_again(why, "restart")
        elif story.phase == "show" and story.hide.passes:
            tx.add(facts.RoundBroken(t))
        tx.withdraw_commitment(why)
        return tx.draft

    def abandon(self, draft: Draft, t: float, why: str) -> Draft:
        """Return `draft` with the withdrawal of a commitment that is open, because nobody plays on."""
        tx = self._begin(draft, t)
        tx.withdraw_commitment(why)
        return tx.draft

    def remember_event(self, event: events.MatEvent) -> None:
        """Remember the reading in `event` without concluding any fact, for a table that is halted."""
        private = self._private
        match event:
            case events.HandIn() | events.HandOut():
                private.forget_board()
            case events.BeadsAtRest():
                private.note_reading(event)
            case events.Link(up=up):
                private.link = up
                private.forget_board()
            case _:
                pass

    def change_sides(self, seats: facts.Seats) -> None:
        """Adapt the remembered readings after the teams changed roles.

        The mat is mirrored for the new hiders (`turn`), or they have another mat (`each`).
        """
        private, private.seats = self._private, seats
        if seats == "turn":
            private.turn_round()
        elif seats == "each":
            private.forget_board()

    def catch_up(self, draft: Draft, t: float, why: str) -> Draft:
        """Return `draft` with the facts that follow from a halt of the table until `t`, as after a gap on the link."""
        tx, story = self._begin(draft, t), draft.story
        self._private.wait(story, t, afresh=True)
        tx.add(facts.ClockGap(t, story.clocks.last_t))
        link = self._private.link
        if link is not None and link != story.link.up:
            tx.add(facts.LinkSeen(t, link, why))
        self._handle_missed_samples(tx, events.SamplesMissing(t, t), why)
        return self._finish(tx)

    # implemented by each game

    @abstractmethod
    def _handle_action(self, tx: Transaction, call: judge.JudgeAction) -> None:
        """Play the judge's action, or raise the game's error."""

    @abstractmethod
    def _handle_answer(self, tx: Transaction, asked: facts.Question, answer: str) -> None:
        """Carry out the judge's answer to `asked`. It is one of the choices, and the story already contains it."""

    @abstractmethod
    def _handle_event(self, tx: Transaction, event: events.MatEvent) -> None:
        """Add the facts that follow from a mat event or a button."""

    @abstractmethod
    def _examine_mat(self, tx: Transaction) -> None:
        """Add the facts that follow from the last bead reading, while no question is open."""

    @abstractmethod
    def _wait_limit(self, story: Story) -> float | None:
        """Return the longest time the story may stay in its current wait, in seconds, or None."""

    @abstractmethod
    def _handle_timeout(self, tx: Transaction) -> None:
        """Add the facts that follow because the wait has exceeded its limit."""

    def _withdrawal_reason(self, tx: Transaction, asked: facts.Question) -> str:
        """Return why the question `asked` needs no answer any more (one of `WITHDRAWAL_REASONS`), or ""."""
        story, private = tx.story, self._private
        if asked.about == "disc_dead" and story.link.up and not story.dead_pads:
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
        """Return True if the mat's last reading, a sure one, decides how the hide continues."""
        return self._private.bead_pad(tx.story) is not None

    def _in_place(self, tx: Transaction) -> bool:
        """Return True if the sealed bead still is under its sealed pad."""
        sealed, place = tx.sealed, self._private.bead_pad(tx.story)
        return sealed is not None and place is not None and sealed.is_under(place)

    def _handle_missed_samples(self, tx: Transaction, event: events.SamplesMissing | events.Link, why: str) -> None:
        """Handle missing samples: a strike may have been missed while a hit was due, so ask the judge."""
        del event, why
        story = tx.story
        if story.phase == "hit" and story.strike_expected and "link_gap" not in story.hide.waived_fouls:
            # a cable that keeps losing samples would keep asking, so the judge may waive the question for this hide
            tx.ask("link_gap", ("none", *map(str, story.hittable_pads), "play_on"))

    # the same for all games

    def _handle_ready(self, tx: Transaction, team: str) -> None:
        """Handle a ready button: shared ("") or a `team`'s own, which counts only for the hiders."""
        if team in ("", tx.game.hiders(tx.story.state)):
            self._private.own_ready, self._private.ready_t = bool(team), tx.t
            self._handle_event(tx, events.Button(tx.t, "ready"))
        elif tx.story.phase in ("hide", "show"):
            tx.notice("others_ready")

    def _begin(self, draft: Draft, t: float) -> Transaction:
        story = draft.story
        if story.hide.seal.commit is None and story.undo_target.called != "time":
            self._private.sealed = None  # opened or withdrawn, and journalled: an undo does not seal it again
        return Transaction(
            self.game, self.settings, self._random_bytes, self._bound, private=self._private, draft=draft, t=t
        )

    def _finish(self, tx: Transaction) -> Draft:
        """Add the facts that follow from the last bead reading, unless play is stopped or the sensors are off.

        Return the draft of all facts.
        """
        if tx.sealed is None:
            tx.withdraw_commitment("the mat no longer knows where the bead lies")
        if tx.story.sensors and not tx.story.clocks_stopped:
            asked = tx.story.question
            if asked is not None and (why := self._withdrawal_reason(tx, asked)):
                tx.add(facts.QuestionWithdrawn(tx.t, asked.about, why))
            self._wave_on(tx)
            self._private.wait(tx.story, tx.t)  # after a question the wait starts again
            phase = None
            while tx.story.question is None and tx.story.phase != phase:
                phase = tx.story.phase  # the reading may lead to another phase, in which it has more consequences
                self._examine_mat(tx)
                if self._wave_on(tx):
                    phase = None
        self._private.wait(tx.story, tx.t)
        return tx.draft

    def _wave_on(self, tx: Transaction) -> bool:
        """Answer a question about hands as the judge did again and again in this game; return True if it was one."""
        asked = tx.story.question
        if asked is None or dict(tx.story.waved_on).get(asked.about, 0) < MAX_WAVED_ON:
            return False
        tx.add(facts.Answer(tx.t, asked.about, "play_on", "habit"))
        self._handle_answer(tx, asked, "play_on")
        tx.notice("waved_on", asked.pads)
        return True

    def _link(self, tx: Transaction, event: events.Link) -> None:
        was, private = tx.story.link.up, self._private
        if was is not False or event.up or event.why != tx.story.link.why:
            tx.add(facts.LinkSeen(tx.t, event.up, event.why))
        if event.up and event.why:
            tx.notice("other_board")
        back, private.link = event.up and private.restarted, event.up
        private.restarted = private.restarted and not event.up
        private.forget_board()
        if was or (was is False and event.up and not back):
            self._handle_missed_samples(tx, event, event.why)

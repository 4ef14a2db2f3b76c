"""The referee of Hampa Apena: hand passes, the hidden bead's position, two hits, and the fouls the mat can detect."""

from dataclasses import replace
from typing import Any

from pi_controller.referee import hide, hits, judge_commands
from pi_controller.referee.base import Referee
from pi_controller.referee.facts import (
    ActionPlayed,
    BeadShown,
    HandsUnder,
    HideAgain,
    LinkSeen,
    Question,
    RoundBroken,
)
from pi_controller.referee.history import Draft
from pi_controller.referee.judge import JudgeAction, JudgeCommand
from pi_controller.referee.story import SETTLED, Hit, KeptStroke, Story
from pi_controller.referee.transaction import Transaction
from pi_controller.rules.base import Action, Game, IllegalActionError
from pi_controller.sensing.events import BeadsAtRest, Button, HandIn, HandOut, Link, MatEvent, SamplesMissing, Strike

HAND_STAYS_S = 20.0
"""If a hand stops the hitters' clock for this long, the judge is asked: a touch strip may be stuck."""


class DakotaReferee(Referee):
    """One table's referee for `dakota`."""

    def _decide(self, draft: Draft, event: MatEvent | JudgeCommand, t: float | None) -> Draft:
        story = draft.story
        if isinstance(event, Strike) and story.sensors and not story.held_by_protest:
            undone = hits.take_back_time(self.settings, story, event)
            if undone is not None:  # `History.resolve_event` then decides the strike again, without that call of time
                tx = self._begin(draft, event.t)
                tx.add(undone)
                return tx.draft
        return super()._decide(draft, event, t)

    def _handle_action(self, tx: Transaction, call: JudgeAction) -> None:
        story, action = tx.story, call.action
        tx.game.play(story.state, action)
        between = story.phase == "show" and action.get("do") == "foul" and "hide" not in action
        if between and action.get("kind") == "time":
            raise IllegalActionError("no hit is due between two hides", "wait until the next bead is hidden")
        if between and _is_legal(tx.game, story.state, {**action, "hide": "last"}):
            raise IllegalActionError(
                "the last hide is settled and the next has not begun: which one is the foul in?",
                'say "last" for the hide just settled, "this" for the next one',
            )
        felt = story.sensors and story.link.up  # else hits are entered after they were made, two of them at once
        if action.get("do") == "hit" and felt and hits.is_one_stroke(story, tx.t):
            pads = (action["pad"],) if "pad" in action else ()
            tx.ask("one_stroke", ("found" if action["found"] else "missed", "none"), pads)
            return
        if action.get("hide") == "this":  # the default: the hide in progress
            action = {key: value for key, value in action.items() if key != "hide"}
        last = action.get("do") == "foul" and action.get("hide") == "last"
        if story.phase == "show" and action.get("hide") != "last":  # it belongs to the next hide
            tx.add(BeadShown(tx.t))
        unhit = story.phase in ("hide", "check", "hit") and not story.hide.hits
        tx.play(action, "judge")
        changed = tx.game.sheet(tx.story.state) != tx.game.sheet(story.state)
        if last and unhit and changed and tx.story.phase != "over":
            tx.hide_again("the last hide was settled anew")

    def _handle_answer(self, tx: Transaction, asked: Question, answer: str) -> None:
        match answer:
            case "none" | "by_eye":
                pass
            case "found" | "missed":
                pad = {"pad": asked.pads[0]} if asked.pads else {}
                tx.play({"do": "hit", "found": answer == "found", **pad}, tx.by)
            case "foul":
                tx.foul(asked.foul, tx.by, asked.about if asked.about == "bead_moved" else "")
            case "hide_again":
                judge_commands.restart_hide(tx)
            case "play_on":
                if asked.about == "bead_moved":
                    hits.seal_again(tx)
                if asked.about == "hand_again":
                    self._private.settle_hands(asked.pads)
            case pad if asked.about == "early_hit":
                hits.count_early_hit(tx, int(pad), asked.t)
            case "first" | "second":
                hits.late_hit(tx, asked.pads[0], answer)
            case pad:
                hits.hit_or_late(tx, int(pad), asked)

    def _handle_event(self, tx: Transaction, event: MatEvent) -> None:
        match event:
            case HandIn() | HandOut():
                hide.handle_hand(tx, event)
            case BeadsAtRest():
                hide.handle_reading(tx, event)
            case Button():
                hide.handle_button(tx, event)
            case Strike():
                hits.handle_strike(tx, event)
            case _:
                pass

    def _examine_mat(self, tx: Transaction) -> None:
        if tx.story.phase == "check":
            hide.check_hide(tx)
        elif tx.story.phase == "hit":
            hits.watch_bead(tx)
        elif tx.story.phase == "show":
            hits.ask_for_bead(tx)

    def strike_reporting(self, story: Story) -> bool:
        """Return True if strikes must be reported: in the hitting phase, and after ready for early hits.

        Not while hands hide: they shake the pads like light strokes. The judge then enters a hit by hand.
        """
        early = story.phase == "check" and self.settings.mode("early_hit") != "off" and not self._private.hands
        return story.sensors and (story.phase == "hit" or early)  # also while play stands: it is kept

    def _wait_limit(self, story: Story) -> float | None:
        if story.phase == "check":
            return self.settings.check_timeout_s
        limit = hits.time_limit(self.settings, story)
        return None if limit is None else limit + hits.LATE_STRIKE_S

    def _wait_deadline(self, story: Story) -> float | None:
        if story.clock_held_by_hand and story.question is None and not story.clocks_stopped:
            # without a judge to report a stuck strip, the clock stays stopped as long as the hand is felt
            unattended = self.settings.preset == "demo" and "hand_stays" not in self.settings.answers
            asks = hits.time_limit(self.settings, story) is not None and not unattended
            return self._private.since + HAND_STAYS_S if asks else None
        due, moved = super()._wait_deadline(story), hits.moved_reading(self._private, story)
        if moved is None or story.play_stands or not hits.is_acted_on(self.settings, story):
            return due
        seen = moved.t + hits.ORDER_S
        return seen if due is None else min(seen, due)

    def _handle_timeout(self, tx: Transaction) -> None:
        moved = hits.moved_reading(self._private, tx.story)
        if moved is not None and hits.is_acted_on(self.settings, tx.story):
            return  # `hits.watch_bead` acts on it
        if tx.story.phase == "check":
            hide.check_hide(tx)
            if tx.story.phase == "check" and tx.story.question is None:
                hide.ask_no_reading(tx)
        elif tx.story.clock_held_by_hand:
            again = () if tx.story.hide.hits else ("hide_again",)
            tx.ask("hand_stays", ("play_on", *again))
        elif self.settings.mode("time") == "ask" or self._may_have_missed_hit(tx.story):
            tx.ask("foul", ("foul", "play_on"), foul="time")
        else:
            tx.foul("time", "clock")

    def _finish(self, tx: Transaction) -> Draft:
        super()._finish(tx)
        self._note_broken_round(tx)
        timed = tx.story.phase == "hit" and self.settings.hit_seconds is not None
        under = timed and self._private.foreign_hand
        if under != tx.story.hands.under:
            tx.add(HandsUnder(tx.t, under))
        return tx.draft

    def _note_broken_round(self, tx: Transaction) -> None:
        """Put the next round in doubt if a word or a foul came in mid-round, or if an entry came after its hands."""
        private, story = self._private, tx.story
        if story.phase not in ("hide", "show"):
            return
        played = [fact for fact in tx.facts if isinstance(fact, ActionPlayed)]
        again = any(isinstance(fact, HideAgain) for fact in tx.facts)
        asked_t = tx.before.question.t if tx.before.question is not None else float("-inf")
        late = private.uncounted_t > asked_t and any(fact.by == "judge" for fact in played)
        word = again or any(fact.action["do"] == "foul" for fact in played)
        if late or (word and hide.is_mid_round(tx, tx.before)):
            tx.add(RoundBroken(tx.t))
        if again or played or tx.before.phase == "check":
            private.uncounted_t = float("-inf")

    def _withdrawal_reason(self, tx: Transaction, asked: Question) -> str:
        if asked.about == "hand_stays" and not self._private.foreign_hand:
            return "hand_out"
        return super()._withdrawal_reason(tx, asked)

    def _is_conclusive(self, tx: Transaction) -> bool:
        reading = self._private.reading
        foul = hide.bead_foul(reading) if reading is not None else None
        return super()._is_conclusive(tx) or (foul is not None and self.settings.mode(foul) != "off")

    def _may_have_missed_hit(self, story: Story) -> bool:
        """Return True if a hit may have been made without being felt or counted."""
        touched = story.notice is not None and story.notice.about == "touch_passed_over"
        return bool(story.dead_pads) or touched or "link_gap" in story.hide.waived_fouls

    def _handle_missed_samples(self, tx: Transaction, event: SamplesMissing | Link, why: str) -> None:
        story = tx.story
        needs_answer = isinstance(event, SamplesMissing) and story.phase in ("hide", "check", "show")
        if needs_answer and story.link.up and story.hands.doubt < story.pass_hide_number:
            tx.add(LinkSeen(tx.t, True, why))
        super()._handle_missed_samples(tx, event, why)


def _is_legal(game: Game[Any], state: Any, action: Action) -> bool:
    try:
        game.play(state, action)
    except IllegalActionError:
        return False
    return True


REFEREE = DakotaReferee


def after_action(game: Game[Any], before: Story, after: Story, done: ActionPlayed) -> Story:
    """Return the story after an action: hits and fouls settle this hide or the one before.

    `before` is the story it was played in; `after` has the new game state and the calls.
    """
    action, t = done.action, done.t
    sheet, over, hide = game.sheet(after.state), game.is_over(after.state), after.hide
    do, kind = action.get("do"), action.get("kind")
    if do == "toss":
        return replace(after, phase="hide", hide=replace(hide, began=t))
    if do == "forfeit":
        return replace(after, phase="over", hide=replace(hide, passes=()))
    foul = (before.hide.foul_seen or kind) if do == "foul" else None
    if do == "foul" and action.get("hide") == "last":
        if after.phase not in SETTLED:
            return replace(after, phase="over") if over else after
        return replace(after, phase="over" if over else "show", hide=replace(hide, foul=foul))
    made = t if hide.asked_t is None else hide.asked_t
    hide = replace(hide, action_played=True, asked_t=None)
    if do == "hit":
        if not after.calls and hide.hits:  # a second hit without a call keeps the calls of the first
            after = replace(after, calls=before.calls)
        waived = tuple(each for each in hide.waived_fouls if each != "time")  # each hit has its own
        pad = action.get("pad")
        hits = (*hide.hits, Hit(pad, bool(action.get("found")), made))
        hide = replace(hide, hits=hits, waived_fouls=waived, kept=_kept_after(hide.kept, pad))
    elif sheet == game.sheet(before.state):
        return replace(after, hide=hide)  # a warning
    elif kind == "time" and sheet["owed"] == "second":
        hide = replace(hide, hits=(*hide.hits, Hit(None, found=False, t=t)))
    if over or sheet["owed"] == "first":
        hide = replace(hide.without_passes(t), foul=foul)
        return replace(after, phase="over" if over else "show", hide=hide)
    return replace(after, phase="hit", hide=hide)


def _kept_after(kept: tuple[KeptStroke, ...], pad: int | None) -> tuple[KeptStroke, ...]:
    """Return the kept strikes after the first one on `pad` (the hit just counted); all if none was on it."""
    counted = next((n for n, stroke in enumerate(kept) if pad in stroke.pads), -1)
    return kept[counted + 1 :]

"""The referee of Hampa Apena: passes of the hand, a bead that lies well, two hits, and the fouls the mat can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.mat.events import Beads, Blind, Button, HandIn, HandOut, Link, MatEvent, Strike
from pi_controller.referee import hide, hits, judge_commands
from pi_controller.referee.base import Referee
from pi_controller.referee.facts import LinkSeen, Question, Shown

if TYPE_CHECKING:
    from pi_controller.referee.judge import JudgeAction
    from pi_controller.referee.story import Story
    from pi_controller.referee.transaction import Transaction


class DakotaReferee(Referee):
    """One table's referee for `dakota`."""

    def _act(self, tx: Transaction, call: JudgeAction) -> None:
        story, action = tx.story, call.action
        tx.game.play(story.state, action)
        last = action.get("do") == "foul" and action.get("hide") == "last"
        if story.phase == "show" and action.get("hide") != "last":  # it belongs to the next hide
            tx.add(Shown(tx.t))
        unhit = story.phase in ("hide", "check", "hit") and not story.hide.hits
        tx.play(action, "judge")
        changed = tx.game.sheet(tx.story.state) != tx.game.sheet(story.state)
        if last and unhit and changed and tx.story.phase != "over":
            tx.hide_again("the last hide was settled anew")

    def _answered(self, tx: Transaction, asked: Question, answer: str) -> None:
        match answer:
            case "none" | "by_eye":
                pass
            case "found" | "missed":
                tx.play({"do": "hit", "found": answer == "found", "pad": asked.pads[0]}, tx.by)
            case "foul":
                tx.foul(asked.foul, tx.by, asked.about if asked.about == "bead_moved" else "")
            case "hide_again":
                judge_commands.hide_anew(tx)
            case "play_on":
                if asked.about == "bead_moved":
                    hits.seal_again(tx)
            case pad:
                hits.hit(tx, int(pad), tx.by)

    def _felt(self, tx: Transaction, event: MatEvent) -> None:
        match event:
            case HandIn() | HandOut():
                hide.hand(tx, event)
            case Beads():
                hide.beads(tx, event)
            case Button():
                hide.button(tx, event)
            case Strike():
                hits.strike(tx, event)
            case _:
                pass

    def _look(self, tx: Transaction) -> None:
        if tx.story.phase == "check":
            hide.look(tx)
        elif tx.story.phase == "hit":
            hits.watch(tx)

    def strike_reporting(self, story: Story) -> bool:
        """Return whether a stroke is to be felt: one that is due, and from ready on also an early one.

        Not while hands hide: they shake the pads as light strokes do. Whoever sees a hit then enters it.
        """
        early = story.phase == "check" and self.settings.mode("early_hit") != "off" and not self._private.hands
        return story.armed or (early and story.question is None and story.sensors and not story.held)

    def _limit(self, story: Story) -> float | None:
        if story.phase == "check":
            return self.settings.check_timeout_s
        if story.phase == "hit" and "time" not in story.hide.waived and self.settings.mode("time") != "off":
            return self.settings.hit_seconds
        return None

    def _overdue(self, tx: Transaction) -> None:
        if tx.story.phase == "check":
            hide.no_reading(tx)
        elif self.settings.mode("time") == "ask" or self._unfelt(tx.story):
            tx.add(Question(tx.t, "foul", ("foul", "play_on"), foul="time"))
        else:
            tx.foul("time", "clock")

    def _is_conclusive(self, tx: Transaction) -> bool:
        reading = self._private.reading
        foul = hide.bead_foul(reading) if reading is not None else None
        return super()._is_conclusive(tx) or (foul is not None and self.settings.mode(foul) != "off")

    def _unfelt(self, story: Story) -> bool:
        """Return whether a hit may have been made all the same, and was not felt or did not count."""
        touched = story.notice is not None and story.notice.about == "touch_passed_over"
        return bool(story.deaf) or touched or "link_gap" in story.hide.waived

    def _missed(self, tx: Transaction, event: Blind | Link, why: str) -> None:
        story = tx.story
        needs_answer = isinstance(event, Blind) and story.phase in ("hide", "check", "show")
        if needs_answer and story.hands.doubt < story.collecting:
            tx.add(LinkSeen(tx.t, story.link.up is not False, why))
        super()._missed(tx, event, why)


REFEREE = DakotaReferee

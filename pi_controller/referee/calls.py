"""The judge's word: answers, actions by hand, undo, hide again. What is not allowed raises and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.referee import hits
from pi_controller.referee.facts import Answer, Question, Shown, Undone

if TYPE_CHECKING:
    from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
    from pi_controller.referee.transaction import Transaction

JUDGE = "the judge said so"
"""Why a hide starts over where nobody gives a reason."""


def act(tx: Transaction, call: JudgeAction) -> None:
    """Play an action of the game by hand; a table without sensors is played so from toss to last point."""
    story, action = tx.story, call.action
    tx.game.play(story.state, action)
    if story.phase == "show" and action.get("hide") != "last":  # it belongs to the next hide
        tx.add(Shown(tx.t))
    unhit = story.phase in ("hide", "check", "hit") and not story.hits
    tx.play(action, "judge")
    changed = tx.game.sheet(tx.story.state) != tx.game.sheet(story.state)
    goes_on = tx.story.phase != "over"
    if action.get("do") == "foul" and action.get("hide") == "last" and unhit and changed and goes_on:
        tx.hide_again("the last hide was settled anew")


def answered(tx: Transaction, call: JudgeAnswer) -> Question:
    """Settle the open question and return it; what the answer says is still to be done."""
    asked = tx.story.question
    if asked is None:
        raise IllegalActionError("nothing is asked", "enter what happened as an action")
    if call.answer not in asked.choices:
        raise InvalidActionError(f"that is no answer to {asked.about}", f"answer one of: {', '.join(asked.choices)}")
    tx.add(Answer(tx.t, asked.about, call.answer))
    return asked


def follow(tx: Transaction, asked: Question, answer: str) -> None:
    """Do what an answer says in Hampa Apena."""
    match answer:
        case "none" | "by_eye":
            pass
        case "found" | "missed":
            tx.play({"do": "hit", "found": answer == "found", "pad": asked.pads[0]}, tx.by)
        case "foul":
            tx.foul(asked.foul, tx.by, asked.about if asked.about == "bead_moved" else "")
        case "hide_again":
            hide_anew(tx)
        case "play_on":
            if asked.about == "bead_moved":
                hits.seal_again(tx)
        case pad:
            hits.hit(tx, int(pad), tx.by)


def hide_anew(tx: Transaction) -> None:
    """Start the hide over as the answer to a question."""
    tx.hide_again("nobody answered" if tx.by == "clock" else JUDGE, tx.by)


def undo(tx: Transaction, call: JudgeUndo) -> None:
    """Take back the last batch that changed the game or the phase in a way a judge sees.

    The story without it is told from the journal, by whoever keeps that.
    """
    story = tx.story
    if not story.last_undoable:
        raise IllegalActionError("there is nothing to take back")
    tx.add(
        Undone(tx.t, story.last_undoable, "judge", call.reason, story.collecting, story.undoable_waited, story.called)
    )


def hide_again(tx: Transaction, call: JudgeHideAgain) -> None:
    """Start the hide over, before its first hit."""
    story = tx.story
    waiting = story.phase in ("hide", "check", "hit", "guess")
    if not waiting or story.hits or story.opened:
        raise IllegalActionError(
            "the hide has had its first hit" if waiting else "no hide is in progress",
            "take back the hit first" if story.hits else "wait until the bead is hidden",
        )
    tx.hide_again(call.reason or JUDGE)

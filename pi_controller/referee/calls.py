"""The judge's word: answers, actions by hand, undo, hide again. What is not allowed raises and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.referee import hits
from pi_controller.referee.facts import Answer, Question, Shown, Undone

if TYPE_CHECKING:
    from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeHideAgain, JudgeUndo
    from pi_controller.referee.turn import Turn

JUDGE = "the judge said so"
"""Why a hide starts over where nobody gives a reason."""


def act(turn: Turn, call: JudgeAction) -> None:
    """Play an action of the game by hand; a table without sensors is played so from toss to last point."""
    story, action = turn.story, call.action
    turn.game.play(story.state, action)
    if story.phase == "show" and action.get("hide") != "last":  # it belongs to the next hide
        turn.add(Shown(turn.t))
    unhit = story.phase in ("hide", "check", "hit") and not story.hits
    turn.play(action, "judge")
    changed = turn.game.sheet(turn.story.state) != turn.game.sheet(story.state)
    goes_on = turn.story.phase != "over"
    if action.get("do") == "foul" and action.get("hide") == "last" and unhit and changed and goes_on:
        turn.hide_again("the last hide was settled anew")


def answered(turn: Turn, call: JudgeAnswer) -> Question:
    """Settle the open question and return it; what the answer says is still to be done."""
    asked = turn.story.question
    if asked is None:
        raise IllegalActionError("nothing is asked", "enter what happened as an action")
    if call.answer not in asked.choices:
        raise InvalidActionError(f"that is no answer to {asked.about}", f"answer one of: {', '.join(asked.choices)}")
    turn.add(Answer(turn.t, asked.about, call.answer))
    return asked


def follow(turn: Turn, asked: Question, answer: str) -> None:
    """Do what an answer says in Hampa Apena."""
    match answer:
        case "none" | "by_eye":
            pass
        case "found" | "missed":
            turn.play({"do": "hit", "found": answer == "found", "pad": asked.pads[0]}, turn.by)
        case "foul":
            turn.foul(asked.foul, turn.by, asked.about if asked.about == "bead_moved" else "")
        case "hide_again":
            hide_anew(turn)
        case "play_on":
            if asked.about == "bead_moved":
                hits.seal_again(turn)
        case pad:
            hits.hit(turn, int(pad), turn.by)


def hide_anew(turn: Turn) -> None:
    """Start the hide over as the answer to a question."""
    turn.hide_again("nobody answered" if turn.by == "clock" else JUDGE, turn.by)


def undo(turn: Turn, call: JudgeUndo) -> None:
    """Take back the last batch that changed the game or the phase in a way a judge sees.

    The story without it is told from the journal, by whoever keeps that.
    """
    story = turn.story
    if not story.mark:
        raise IllegalActionError("there is nothing to take back")
    turn.add(Undone(turn.t, story.mark, "judge", call.reason, story.collecting, story.mark_waited, story.called))


def hide_again(turn: Turn, call: JudgeHideAgain) -> None:
    """Start the hide over, before its first hit."""
    story = turn.story
    waiting = story.phase in ("hide", "check", "hit", "guess")
    if not waiting or story.hits or story.opened:
        raise IllegalActionError(
            "the hide has had its first hit" if waiting else "no hide is in progress",
            "take back the hit first" if story.hits else "wait until the bead is hidden",
        )
    turn.hide_again(call.reason or JUDGE)

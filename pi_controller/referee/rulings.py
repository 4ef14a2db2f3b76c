"""What the judge says of the table itself, turned into facts; what is not allowed raises and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.referee.facts import (
    ByEye,
    ClockSet,
    GameClosed,
    ProtestMade,
    ProtestRuled,
    Ready,
    SensorsUsed,
    Shown,
    StateSet,
)
from pi_controller.referee.judge import (
    JudgeClock,
    JudgeClose,
    JudgeHidden,
    JudgeProtest,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
)

if TYPE_CHECKING:
    from pi_controller.referee.transaction import Transaction

OfTheTable = JudgeSet | JudgeSensors | JudgeProtest | JudgeRuling | JudgeClock | JudgeClose
LONGEST = 500
"""Characters of a reason or a protest."""


def rule(tx: Transaction, call: OfTheTable) -> None:
    """Do as the judge says of the table."""
    story, t = tx.story, tx.t
    match call:
        case JudgeSet(sheet=sheet, reason=reason):
            tx.game.restore(sheet)
            said = _required_text(reason, "a reason")
            tx.void("the judge set the table")
            tx.add(StateSet(t, dict(tx.game.current(sheet)), said))
        case JudgeSensors(on=on, reason=reason):
            if on == story.sensors:
                raise IllegalActionError(f"the sensors are {'on' if on else 'off'} already")
            if not on:
                tx.void("the sensors were switched off")
            tx.private.lost()
            tx.add(SensorsUsed(t, on, reason[:LONGEST]))
            if not on and story.phase == "check":
                tx.add(ByEye(t))
        case JudgeProtest(by=by, text=text):
            if story.protest is not None:
                raise IllegalActionError("a protest is open already", "decide it first")
            tx.add(ProtestMade(t, by, text.strip()[:LONGEST]))
        case JudgeRuling(ruling=ruling, reason=reason):
            if story.protest is None:
                raise IllegalActionError("no protest is open")
            if ruling not in tx.settings.rulings:
                raise IllegalActionError(
                    "at a tournament play does not go on before the protest is decided", "uphold it or deny it"
                )
            if ruling == "play_on" and story.protest.play_on:
                raise IllegalActionError("play goes on already", "decide the protest")
            said = _required_text(reason, "a reason")
            tx.private.lost()
            tx.add(ProtestRuled(t, ruling, said))
        case JudgeClock(running=running, reason=reason):
            if running == (story.paused is None):
                raise IllegalActionError(f"the clock {'runs' if running else 'is stopped'} already")
            tx.add(ClockSet(t, running, reason[:LONGEST]))
        case JudgeClose(by=by, cause=cause, reason=reason):
            action = {"do": "forfeit", "by": by}
            tx.game.play(story.state, action)
            tx.add(GameClosed(t, by, cause, _required_text(reason, "a reason")))
            tx.play(action, "judge")


def hidden(tx: Transaction, call: JudgeHidden) -> None:
    """The hiders are ready. Where nothing is felt the hits may come; else the mat looks as after the button."""
    del call
    story = tx.story
    if story.phase not in ("hide", "show"):
        raise IllegalActionError("no hide is in progress")
    if story.phase == "show":
        tx.add(Shown(tx.t))
    tx.add(Ready(tx.t))
    if not tx.story.sensors or tx.story.link is not True:
        tx.add(ByEye(tx.t))


def _required_text(text: str, what: str) -> str:
    text = text.strip()[:LONGEST]
    if not text:
        raise InvalidActionError(f"{what} is needed", "say in a few words why")
    return text

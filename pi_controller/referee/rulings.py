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
    from pi_controller.referee.turn import Turn

OfTheTable = JudgeSet | JudgeSensors | JudgeProtest | JudgeRuling | JudgeClock | JudgeClose
LONGEST = 500
"""Characters of a reason or a protest."""


def rule(turn: Turn, call: OfTheTable) -> None:
    """Do as the judge says of the table."""
    story, t = turn.story, turn.t
    match call:
        case JudgeSet(sheet=sheet, reason=reason):
            turn.game.restore(sheet)
            said = _said(reason, "a reason")
            turn.void("the judge set the table")
            turn.add(StateSet(t, dict(turn.game.current(sheet)), said))
        case JudgeSensors(on=on, reason=reason):
            if on == story.sensors:
                raise IllegalActionError(f"the sensors are {'on' if on else 'off'} already")
            if not on:
                turn.void("the sensors were switched off")
            turn.senses.lost()
            turn.add(SensorsUsed(t, on, reason[:LONGEST]))
            if not on and story.phase == "check":
                turn.add(ByEye(t))
        case JudgeProtest(by=by, text=text):
            if story.protest is not None:
                raise IllegalActionError("a protest is open already", "decide it first")
            turn.add(ProtestMade(t, by, text.strip()[:LONGEST]))
        case JudgeRuling(ruling=ruling, reason=reason):
            if story.protest is None:
                raise IllegalActionError("no protest is open")
            if ruling not in turn.settings.rulings:
                raise IllegalActionError(
                    "at a tournament play does not go on before the protest is decided", "uphold it or deny it"
                )
            if ruling == "play_on" and story.protest.play_on:
                raise IllegalActionError("play goes on already", "decide the protest")
            said = _said(reason, "a reason")
            turn.senses.lost()
            turn.add(ProtestRuled(t, ruling, said))
        case JudgeClock(running=running, reason=reason):
            if running == (story.paused is None):
                raise IllegalActionError(f"the clock {'runs' if running else 'is stopped'} already")
            turn.add(ClockSet(t, running, reason[:LONGEST]))
        case JudgeClose(by=by, cause=cause, reason=reason):
            action = {"do": "forfeit", "by": by}
            turn.game.play(story.state, action)
            turn.add(GameClosed(t, by, cause, _said(reason, "a reason")))
            turn.play(action, "judge")


def hidden(turn: Turn, call: JudgeHidden) -> None:
    """The hiders are ready. Where nothing is felt the hits may come; else the mat looks as after the button."""
    del call
    story = turn.story
    if story.phase not in ("hide", "show"):
        raise IllegalActionError("no hide is in progress")
    if story.phase == "show":
        turn.add(Shown(turn.t))
    turn.add(Ready(turn.t))
    if not turn.story.sensors or turn.story.link is not True:
        turn.add(ByEye(turn.t))


def _said(text: str, what: str) -> str:
    text = text.strip()[:LONGEST]
    if not text:
        raise InvalidActionError(f"{what} is needed", "say in a few words why")
    return text

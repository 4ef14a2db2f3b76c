"""Handlers of the judge's commands that all games share: answers, undo, hide again, the table itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.games.base import IllegalActionError, InvalidActionError
from pi_controller.games.wording import printable
from pi_controller.referee.facts import (
    Answer,
    ByEye,
    ClockSet,
    GameClosed,
    ProtestMade,
    ProtestRuled,
    Question,
    Ready,
    SensorsUsed,
    Shown,
    StateSet,
    TeamsNamed,
    Undone,
)
from pi_controller.referee.judge import (
    JudgeClock,
    JudgeClose,
    JudgeHidden,
    JudgeProtest,
    JudgeRuling,
    JudgeSensors,
    JudgeSet,
    JudgeTeams,
)

if TYPE_CHECKING:
    from pi_controller.referee.judge import JudgeAnswer, JudgeHideAgain, JudgeUndo
    from pi_controller.referee.transaction import Transaction

JUDGE = "the judge said so"
"""Why a hide starts over where nobody gives a reason."""


def answered(tx: Transaction, call: JudgeAnswer) -> Question:
    """Settle the open question and return it; what the answer says is still to be done."""
    asked = tx.story.question
    if asked is None:
        raise IllegalActionError("nothing is asked", "enter what happened as an action")
    if call.answer not in asked.choices:
        raise InvalidActionError(f"that is no answer to {asked.about}", f"answer one of: {', '.join(asked.choices)}")
    tx.add(Answer(tx.t, asked.about, call.answer))
    return asked


def hide_anew(tx: Transaction) -> None:
    """Start the hide over as the answer to a question."""
    tx.hide_again("nobody answered" if tx.by == "clock" else JUDGE, tx.by)


def undo(tx: Transaction, call: JudgeUndo) -> None:
    """Take back the last batch that changed the game or the phase in a way a judge sees.

    The story without it is read from the journal, by whoever keeps that.
    """
    undoable = tx.story.undoable
    if not undoable.batch:
        raise IllegalActionError("there is nothing to take back")
    tx.add(Undone(tx.t, undoable.batch, "judge", call.reason, tx.story.collecting, undoable.waited, undoable.called))


def hide_again(tx: Transaction, call: JudgeHideAgain) -> None:
    """Start the hide over, before its first hit."""
    story = tx.story
    waiting = story.phase in ("hide", "check", "hit", "guess")
    if not waiting or story.hide.hits or story.hide.opened:
        raise IllegalActionError(
            "the hide has had its first hit" if waiting else "no hide is in progress",
            "take back the hit first" if story.hide.hits else "wait until the bead is hidden",
        )
    tx.hide_again(call.reason or JUDGE)


OfTheTable = JudgeSet | JudgeSensors | JudgeProtest | JudgeRuling | JudgeClock | JudgeClose | JudgeTeams
LONGEST = 500
"""Characters of a reason or a protest."""
LONGEST_NAME = 40
"""Characters of a team's name."""


def rule(tx: Transaction, call: OfTheTable) -> None:
    """Carry out a judge's call about the table."""
    story, t = tx.story, tx.t
    match call:
        case JudgeSet(sheet=sheet, reason=reason):
            tx.game.restore(sheet)
            reason = _required_text(reason, "a reason")
            tx.void("the judge set the table")
            tx.add(StateSet(t, dict(tx.game.current(sheet)), reason))
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
            reason = _required_text(reason, "a reason")
            tx.private.lost()
            tx.add(ProtestRuled(t, ruling, reason))
        case JudgeClock(running=running, reason=reason):
            if running == (story.clocks.paused is None):
                raise IllegalActionError(f"the clock {'runs' if running else 'is stopped'} already")
            tx.add(ClockSet(t, running, reason[:LONGEST]))
        case JudgeClose(by=by, cause=cause, reason=reason):
            action = {"do": "forfeit", "by": by}
            tx.game.play(story.state, action)
            tx.add(GameClosed(t, by, cause, _required_text(reason, "a reason")))
            tx.play(action, "judge")
        case JudgeTeams(a=a, b=b):
            _check_nameable(tx)
            named = {"A": _team_name(a), "B": _team_name(b)}
            if named["A"].casefold() == named["B"].casefold():
                raise InvalidActionError("both teams have the same name", "give each a name of its own")
            tx.add(TeamsNamed(t, named))


def _check_nameable(tx: Transaction) -> None:
    if "players" in tx.game.settings:
        raise IllegalActionError("no teams play in this game", "name the players in the settings, [game.options]")
    if not tx.story.nameable(tx.game):
        raise IllegalActionError(
            "the game has begun: the teams keep their names", "begin another game, then name the teams"
        )


def _team_name(name: str) -> str:
    name = printable(name).strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise InvalidActionError(
            f"a team's name has 1 to {LONGEST_NAME} characters", "give both names as they are to be shown"
        )
    return name


def hidden(tx: Transaction, call: JudgeHidden) -> None:
    """The hiders are ready. Where nothing is felt the hits may come; else the mat looks as after the button."""
    del call
    story = tx.story
    if story.phase not in ("hide", "show"):
        raise IllegalActionError("no hide is in progress")
    if story.phase == "show":
        tx.add(Shown(tx.t))
    tx.add(Ready(tx.t))
    if not tx.story.sensors or tx.story.link.up is not True:
        tx.add(ByEye(tx.t))


def _required_text(text: str, what: str) -> str:
    text = text.strip()[:LONGEST]
    if not text:
        raise InvalidActionError(f"{what} is needed", "say in a few words why")
    return text

"""Handlers of the judge's commands that all games share: answers, undo, hide again, commands about the table."""

from pi_controller.referee import facts, judge
from pi_controller.referee.hits import pads_struck_since
from pi_controller.referee.transaction import Transaction
from pi_controller.rules.base import IllegalActionError, InvalidActionError
from pi_controller.text import NAME_LENGTH, is_name_length, mark, normalize_name, strip_controls

DEFAULT_REASON = mark("the judge said so")
"""The reason for starting a hide over if the judge gives none."""


def settle_question(tx: Transaction, call: judge.JudgeAnswer) -> facts.Question:
    """Record the answer to the open question and return the question; the caller carries the answer out."""
    asked = tx.story.question
    if asked is None:
        raise IllegalActionError("there is no open question", "enter the play as an action")
    if call.answer not in asked.choices:
        raise InvalidActionError(
            "not an answer to {about}", "answer one of: {choices}", about=asked.about, choices=", ".join(asked.choices)
        )
    tx.add(facts.Answer(tx.t, asked.about, call.answer))
    return asked


def restart_hide(tx: Transaction) -> None:
    """Start the hide over as the answer to a question."""
    tx.hide_again("nobody answered" if tx.by == "clock" else DEFAULT_REASON, tx.by)


def undo(tx: Transaction, call: judge.JudgeUndo) -> None:
    """Take back the last batch that changed the game or the phase visibly for a judge.

    The caller derives the story without that batch from the journal.
    """
    undoable = tx.story.undo_target
    if not undoable.batch:
        raise IllegalActionError("there is nothing to undo")
    story = tx.story
    opened = story.opening.hide if story.opening is not None else 0
    if story.hide.seal.state == "known":  # by an opening that an undo before took back
        opened = story.hide.number
    tx.add(
        facts.Undone(
            tx.t,
            undoable.batch,
            "judge",
            call.reason,
            story.pass_hide_number,
            undoable.waited,
            undoable.called,
            opened=opened,
        )
    )


def hide_again(tx: Transaction, call: judge.JudgeHideAgain) -> None:
    """Start the hide over, before its first hit."""
    story = tx.story
    waiting = story.phase in ("hide", "check", "hit", "guess")
    if not waiting or story.hide.hits or story.hide.opened:
        raise IllegalActionError(
            "the hide has had its first hit" if waiting else "no hide is in progress",
            "undo the hit first" if story.hide.hits else "wait until the bead is hidden",
        )
    tx.hide_again(call.reason or DEFAULT_REASON)


MAX_REASON_CHARS = 500
"""Maximum length of a reason or a protest, characters."""


def handle_table_command(tx: Transaction, call: judge.TableCommand) -> None:
    """Carry out a judge's command about the table."""
    story, t = tx.story, tx.t
    match call:
        case judge.JudgeSet(sheet=sheet, reason=reason):
            tx.game.restore(sheet)
            reason = _required_text(reason, "a reason")
            tx.withdraw_commitment("the judge set the table")
            tx.add(facts.StateSet(t, dict(sheet), reason))
        case judge.JudgeSensors(on=on, reason=reason):
            if on == story.sensors:
                raise IllegalActionError("the sensors are on already" if on else "the sensors are off already")
            if not on:
                tx.withdraw_commitment("the sensors were switched off")
            tx.private.forget_board()
            tx.add(facts.SensorsUsed(t, on, reason[:MAX_REASON_CHARS]))
            if not on and story.phase == "check":
                tx.add(facts.JudgedByEye(t))
        case judge.JudgeProtest(by=by, text=text):
            tx.add(facts.ProtestMade(t, by, text.strip()[:MAX_REASON_CHARS]))
        case judge.JudgeRuling(ruling=ruling, reason=reason):
            if story.protest is None:
                raise IllegalActionError("no protest is open")
            if ruling not in tx.settings.rulings:
                raise IllegalActionError(
                    "at a tournament the protest must be decided before play continues", "uphold it or deny it"
                )
            if ruling == "play_on" and story.protest.play_on:
                raise IllegalActionError("play continues already", "decide the protest")
            reason = _required_text(reason, "a reason")
            tx.private.forget_board()
            tx.add(facts.ProtestRuled(t, ruling, reason))
        case judge.JudgeClock(running=running, reason=reason):
            if running == (story.clocks.paused is None):
                raise IllegalActionError("the clock is already running" if running else "the clock is already stopped")
            struck = pads_struck_since(story, story.clocks.paused) if story.clocks.paused is not None else ()
            tx.add(facts.ClockSet(t, running, reason[:MAX_REASON_CHARS]))
            if struck:
                tx.notice("struck_in_time_out", struck)
        case judge.JudgeClose(by=by, cause=cause, reason=reason):
            action = {"do": "forfeit", "by": by}
            tx.game.play(story.state, action)
            tx.add(facts.GameClosed(t, by, cause, _required_text(reason, "a reason")))
            tx.play(action, "judge")
        case judge.JudgeCloseVoid():
            if not story.void:
                raise IllegalActionError("the match counts", "close the game for the side that is out")
            if story.phase == "over":
                raise IllegalActionError("the game is over already", "wait for the next match")
            tx.withdraw_commitment("the match no longer counts")
            tx.add(facts.VoidClosed(t))
        case judge.JudgeTeams(a=a, b=b):
            _check_nameable(tx)
            named = {"A": _team_name(a), "B": _team_name(b)}
            if named["A"].casefold() == named["B"].casefold():
                raise InvalidActionError("both teams have the same name", "give each a name of its own")
            tx.add(facts.TeamsNamed(t, named))
        case _:
            pass


def _check_nameable(tx: Transaction) -> None:
    if "players" in tx.game.settings:
        raise IllegalActionError("no teams play in this game", "name the players in the settings, [game.options]")
    if not tx.story.can_name_teams(tx.game):
        raise IllegalActionError(
            "the game has begun: the teams keep their names", "start another game, then name the teams"
        )


def _team_name(name: str) -> str:
    name = normalize_name(strip_controls(name))
    if not is_name_length(name):
        raise InvalidActionError("a team's name has {name_length}", "give both names", name_length=NAME_LENGTH)
    return name


def confirm_ready(tx: Transaction, call: judge.JudgeHidden) -> None:
    """Record the hiders' ready.

    Without hand sensing, hits are accepted immediately; otherwise the mat checks the hide as after the button.
    """
    del call
    story = tx.story
    if story.phase not in ("hide", "show"):
        raise IllegalActionError("no hide is in progress")
    told_off = story.hide.foul is not None and story.round_broken
    if story.phase == "show" and (told_off or not story.hide.passes):
        tx.add(facts.BeadShown(tx.t))
    tx.private.own_ready = True
    tx.add(facts.Ready(tx.t))
    if not tx.story.sensors or tx.story.link.up is not True:
        tx.add(facts.JudgedByEye(tx.t))


def _required_text(text: str, what: str) -> str:
    text = text.strip()[:MAX_REASON_CHARS]
    if not text:
        raise InvalidActionError("{what} is needed", "give a short reason", what=what)
    return text

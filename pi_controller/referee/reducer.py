"""Reducer: applies facts to a story; state, resume, undo and replay of all games are folds with it.

    ojibwe   toss -> hide -> check -> hit -> show -> hide ...        pads are opened while a hit is due
    slahal   toss -> hide -> check -> guess -> hide ...              the toss is the duo of the first guessers
    dakota   toss -> hide -> check -> hit -> hit -> show -> hide ... by `after_action` of its referee
    thrown   toss -> throw -> throw ...                              the toss is the lot, or the horses' starts

Every fact from the mat is optional: an action entered by hand moves the story on from any phase.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pi_controller.referee import facts
from pi_controller.referee.settings import BEAD_FOULS, FOUL_TREATMENTS, PASS_FOULS, WAVED_ON_QUESTIONS
from pi_controller.referee.story import (
    MAX_RECENT_TURNS,
    SETTLED,
    Clock,
    Clocks,
    Hide,
    KeptStroke,
    Opening,
    Pass,
    Phase,
    PlayedTurn,
    Protest,
    Seal,
    ShownNotice,
    Story,
    UndoTarget,
)
from pi_controller.rules.base import Game
from pi_controller.text import mark

READING_QUESTIONS = ("no_reading", "balls", "bones")
"""The questions about the bead reading: `play_on` accepts the layout."""
HANDS_MOVE = ("hide", "check", "show")
"""The phases in which a hand under a pad is a pass."""
UNDOABLE_FACTS = (facts.ActionPlayed, facts.Answer, facts.PadOpened, facts.StateSet, facts.VoidClosed)
"""The facts that an undo takes back, besides a hide started over by the judge and a tap of the bowl."""


def blank(game: Game[Any]) -> Story:
    """Return the story before its first fact."""
    state = game.opening()
    return Story(state, "throw" if game.thrower(state) else "toss", hide=Hide(int(game.hidden is not None)))


def apply(game: Game[Any], story: Story, fact: facts.Fact) -> Story:
    """Return the story after `fact`. Raises the game's errors for an action that it does not allow."""
    after = _apply(game, story, fact)
    if after.link.up is False and after.phase in HANDS_MOVE:
        return _mark_passes_unsure(after)  # hands are not felt without a board
    return after


def _apply(game: Game[Any], story: Story, fact: facts.Fact) -> Story:
    hide = story.hide
    match fact:
        case facts.ActionPlayed():
            return _record_turn(game, story, _apply_action(game, story, fact), fact)
        case facts.HandPass(sure=False):
            return replace(story, hands=replace(story.hands, vague=story.pass_hide_number))
        case facts.HandPass(t=t, pad=pad, since=since, side=side, fetched=fetched):
            under = sorted((*hide.passes, Pass(pad, since, t, side, fetched)), key=lambda each: each.since)
            return replace(story, hide=replace(hide, passes=tuple(under)))
        case facts.RoundBegun(t=t, sure=True) if hide.fetched:  # now the last bead is up for certain
            return replace(story, hide=replace(hide, began=t, fetched=False))
        case facts.RoundBegun(t=t, sure=True):
            return replace(story, hide=replace(hide, rounds_begun=(*hide.rounds_begun, t)))
        case facts.RoundBegun(t=t):
            return replace(story, hide=replace(hide, read_empty=(*hide.read_empty, t)))
        case facts.RoundBroken(t=t):
            broken = replace(story, hands=replace(story.hands, broken=story.pass_hide_number))
            return replace(_mark_passes_unsure(broken), hide=hide.without_passes(t))
        case facts.Ready():
            # the bead was taken up and hidden again without a button: the fetching hand may be among the passes
            if story.phase == "show":
                hide = replace(_next(game, hide, hide.began), passes=hide.passes, fetched=True)
                story = replace(story, question=None)
            hide = replace(hide, seal=hide.seal.unsealed())
            return replace(story, phase="check", hide=hide, notice=None, note="")
        case facts.ReadyWithdrawn(pad=pad):
            return replace(story, phase="hide", notice=ShownNotice("ready_withdrawn", (pad,)))
        case facts.Commit(hash=commit):
            return replace(story, phase=_search_phase(game), hide=replace(hide, seal=hide.seal.sealed(commit)), note="")
        case facts.JudgedByEye():
            return replace(story, phase=_search_phase(game), note="")
        case facts.CommitmentWithdrawn(why=why):
            return replace(story, hide=_withdraw_commitment(hide), note=why)
        case facts.HideAgain(t=t, why=why):
            again = Hide(
                hide.number,
                hide.action_played,
                began=t,
                fetched=True,
                waived_fouls=_waived_for_good(game, hide),
                # a known place is not sealed until the hiders are ready again
                seal=Seal("by_eye" if hide.seal.state == "known" else "none", None, hide.seal.withdrawn),
            )
            hands = replace(story.hands, doubt=0) if story.hands.doubt == hide.number else story.hands
            return replace(story, phase="hide", hide=again, hands=hands, question=None, notice=None, note=why)
        case facts.PadOpened(pad=pad):
            return replace(story, hide=replace(hide, opened=(*hide.opened, pad)))
        case facts.StrikeFelt() if story.phase == "throw":
            return replace(story, hide=replace(hide, strokes=hide.strokes + 1))
        case facts.StrikeKept(t=t, pads=pads, counts=counts):
            return replace(story, hide=replace(hide, kept=(*hide.kept, KeptStroke(t, pads, counts))))
        case facts.HandsUnder(on=on):
            return replace(story, hands=replace(story.hands, under=on))
        case facts.FoulSeen(foul=foul):
            return replace(story, hide=replace(hide, foul_seen=foul))
        case facts.Question():
            return replace(story, question=fact, notice=None)
        case facts.QuestionWithdrawn(why=why):
            return replace(story, question=None, notice=ShownNotice(why, story.question.pads if story.question else ()))
        case facts.Notice(about=about, pads=pads):
            return replace(story, notice=ShownNotice(about, pads))
        case facts.Answer(answer=answer):
            return _apply_answer(game, _count_waved_on(story, fact), answer)
        case facts.Reveal():
            bound = fact.table, fact.epoch, fact.event
            opening = Opening(fact.hide, hide.seal.commit or "", fact.pad, fact.nonce, *bound, hide.seal.withdrawn)
            return replace(story, hide=replace(hide, seal=Seal()), opening=opening)
        case facts.BeadShown(t=t):
            hide = replace(_next(game, hide, t), passes=hide.passes)
            return replace(story, phase="hide", hide=hide, question=None, notice=None, note="")
        case facts.LinkSeen(up=up, why=why):
            # first connection, reconnection, or lost samples on a connection that stayed up
            was = story.link.up
            gap = up and (was is None or (was and bool(why or hide.passes)))
            missed = _mark_passes_unsure(story) if gap and story.phase in HANDS_MOVE else story
            return replace(missed, link=replace(story.link, up=up, why="" if up else why))
        case facts.SensorsSeen(faults=faults):
            return replace(story, link=replace(story.link, faults=faults))
        case facts.GameOpened(teams=teams, revision_from=first):
            return replace(story, teams=tuple(sorted(teams.items())), revision=first, revision_from=first)
        case facts.TeamsNamed(teams=teams):
            return replace(story, teams=tuple(sorted(teams.items())))
        case facts.Undone(reason=reason, waives=waives):
            hands = replace(story.hands, doubt=max(story.hands.doubt, fact.hide))
            waived = (*hide.waived_fouls, *_settled_with(waives)) if waives else hide.waived_fouls
            note = f"{mark('Taken back')}: {reason}" if reason else ""
            shown = fact.by == "judge" and story.phase == _search_phase(game) and hide.seal.commit is not None
            seal = hide.seal
            if shown and fact.opened == hide.number:
                seal = seal.revealed()
            elif fact.by != "clock" and seal.commit is None and story.phase == _search_phase(game):
                seal = seal.unsealed("known" if seal.state == "known" else "by_eye")
            hide = replace(hide, seal=seal, waived_fouls=waived)
            # the game has one time: it is not called again
            notice = ShownNotice("time_off") if waives == "time" and game.minutes is not None else story.notice
            return replace(story, hide=hide, hands=hands, note=note, notice=notice)
        case facts.StateSet():
            return _set(game, story, fact)
        case facts.SensorsUsed(on=on):
            return replace(_mark_passes_unsure(story), sensors=on)  # hands that went meanwhile were not felt
        case facts.ProtestMade(t=t, by=by, text=text):
            return _with_protests(_mark_passes_unsure(story), (*_protests(story), Protest(by, text, t=t)))
        case facts.ProtestRuled(ruling=ruling):
            ruled = [replace(protest, play_on=True) for protest in _protests(story)[:1] if ruling == "play_on"]
            return _with_protests(story, (*story.waiting_protests, *ruled))
        case facts.ClockSet(t=t, running=running):
            paused = story.clocks.paused
            since = t if paused is None else paused
            if running:  # what was struck meanwhile is told by a notice and does not count
                hide = replace(hide, kept=tuple(stroke for stroke in hide.kept if stroke.t < since))
            return replace(story, clocks=replace(story.clocks, paused=None if running else since), hide=hide)
        case facts.MatchGiven(order=order):
            return replace(story, order=order)
        case facts.MatchVoid(order=order, why=why):
            return replace(story, void=why) if order == story.order else story
        case facts.VoidClosed():
            return replace(story, phase="over", question=None, notice=None, note="")
        case facts.RoundClock(t=t, left_s=left, running=running):
            playing = Clock(t + left - 60.0 * (game.minutes or 0), None if running else t)
            return replace(story, clocks=replace(story.clocks, playing=playing, of_round=True))
        case facts.ClockGap(t=t, since=since):
            clocks = story.clocks
            playing = clocks.playing if clocks.of_round else clocks.playing and clocks.playing.after_gap(since, t)
            undoable = replace(story.undo_target, t=None)  # `t` may be on another clock
            clocks = replace(clocks, waiting=clocks.waiting.after_gap(since, t), playing=playing)
            return replace(story, clocks=clocks, undo_target=undoable, hide=replace(hide, began=min(hide.began, t)))
        case _:
            return story


def _search_phase(game: Game[Any]) -> Phase:
    """Return the phase in which the other team looks for the hidden pieces."""
    return "hit" if game.hidden is None else game.hidden.found_by


def _next(game: Game[Any], hide: Hide, began: float = float("-inf")) -> Hide:
    return Hide(hide.number + 1, began=began, waived_fouls=_waived_for_good(game, hide))


def _waived_for_good(game: Game[Any], hide: Hide) -> tuple[str, ...]:
    """Return the waivers that last into the next hide.

    A waived game time stays waived, for the game has only one, and so does a bead that was inspected.
    """
    lasting = ("two_magnets", "time" if game.minutes is not None else "")
    return tuple(kind for kind in hide.waived_fouls if kind in lasting)


def _withdraw_commitment(hide: Hide) -> Hide:
    if hide.seal.commit is None:
        return hide
    return replace(hide, seal=hide.seal.unsealed("known" if hide.seal.state == "known" else "withdrawn"))


def _count_waved_on(story: Story, fact: facts.Answer) -> Story:
    """Return the story with the number of times in a row that the judge let play go on at such a question."""
    if fact.by != "judge" or fact.about not in WAVED_ON_QUESTIONS:
        return story
    counts = dict(story.waved_on)
    counts[fact.about] = counts.get(fact.about, 0) + 1 if fact.answer == "play_on" else 0
    return replace(story, waved_on=tuple(counts.items()))


def _mark_passes_unsure(story: Story) -> Story:
    if story.hands.doubt >= story.pass_hide_number:
        return story
    return replace(story, hands=replace(story.hands, doubt=story.pass_hide_number))


def _protests(story: Story) -> tuple[Protest, ...]:
    """Return the undecided protests, the next one to decide first."""
    return () if story.protest is None else (story.protest, *story.waiting_protests)


def _with_protests(story: Story, protests: tuple[Protest, ...]) -> Story:
    """Return `story` with these open protests: those that hold play are decided first, then the oldest."""
    queue = sorted(protests, key=lambda protest: protest.play_on)
    return replace(story, protest=queue[0] if queue else None, waiting_protests=tuple(queue[1:]))


def _settled_with(foul: str) -> tuple[str, ...]:
    """Return the fouls waived together with `foul`: one ruling about the passes settles all pass fouls."""
    return PASS_FOULS if foul in PASS_FOULS else (foul,)


def _apply_answer(game: Game[Any], story: Story, answer: str) -> Story:
    asked, hide, story = story.question, story.hide, replace(story, question=None)
    if asked is None:
        return story
    if asked.about == "struck_meanwhile" and answer == "none":
        hide = replace(hide, kept=tuple(stroke for stroke in hide.kept if stroke.t > asked.t))
    if asked.about == "sealed_again":  # it is sealed again, or the judge enters the results
        hide = replace(hide, seal=hide.seal.unsealed("none" if answer == "play_on" else "by_eye"))
    if answer in ("none", "play_on"):
        hide = replace(hide, asked_t=None)
    else:
        hide = replace(hide, asked_t=asked.t if hide.asked_t is None else hide.asked_t)
    if answer != "play_on":
        return replace(story, hide=hide)
    let_pass = asked.about if asked.about in ("hand_again", "two_magnets") else asked.foul or asked.about
    hide = replace(hide, waived_fouls=(*hide.waived_fouls, *_settled_with(let_pass)))
    looked = story.phase == "check" and (asked.about in READING_QUESTIONS or asked.foul in BEAD_FOULS)
    return replace(story, phase=_search_phase(game) if looked else story.phase, hide=hide)


def _apply_action(game: Game[Any], story: Story, done: facts.ActionPlayed) -> Story:
    """Play an action of the game and derive the next phase."""
    before, action = story.state, done.action
    state, _ = game.play(before, action)
    hide = replace(story.hide, foul_seen="")
    # both hits belong to one hide, and so does a foul that settles it again
    goes_on = game.hand_passes and hide.action_played and (story.phase != "show" or action.get("hide") == "last")
    former = story.previous_state if goes_on else before
    after = replace(
        story, state=state, previous_state=former, calls=done.calls, hide=hide, question=None, notice=None, note=""
    )
    own: Story | None = game.after_action(story, after, done)
    if own is not None:
        return own
    if game.is_over(state):
        return replace(
            after, phase="over", hide=replace(hide, strokes=0, action_played=hide.action_played or game.settles(action))
        )
    if game.hidden is None:
        throws = game.thrower(before)
        if throws and game.thrower(state) == throws and not game.settles(action):
            return after  # an action of another player: the turn goes on
        return replace(after, phase="throw" if game.thrower(state) else "toss", hide=Hide(0))
    if game.hiders(before) is None:
        if game.hiders(state) is None:
            return after  # a duo without a winner
        return replace(after, phase="hide", clocks=_start_game_clock(game, after.clocks, done.t))
    if not game.settles(action):
        return after
    if not game.hidden.in_fists:
        return replace(after, phase="show", hide=replace(hide, action_played=True))
    # the hands are open: the commitment stays until it is opened
    return replace(after, phase="hide", hide=replace(_next(game, hide), seal=hide.seal if hide.seal.commit else Seal()))


def _record_turn(game: Game[Any], before: Story, after: Story, done: facts.ActionPlayed) -> Story:
    """Return `after` with the action added to its turn, or to a new one."""
    side = game.hiders(before.state) or game.thrower(before.state)
    if side is None or done.action.get("do") == "forfeit":
        return after
    number, past = after.hide.number if game.hand_passes else before.hide.number, after.recent_turns
    of_the_last = past and (done.action.get("hide") == "last" or (number and past[-1].number == number))
    if of_the_last:
        turn = past[-1]
        turn = replace(turn, actions=(*turn.actions, done.action), calls=(*turn.calls, *done.calls))
        return replace(after, recent_turns=(*past[:-1], turn))
    return replace(
        after, recent_turns=(*past, PlayedTurn(number, side, (done.action,), done.calls))[-MAX_RECENT_TURNS:]
    )


def _set(game: Game[Any], story: Story, fact: facts.StateSet) -> Story:
    """Return the story of a table set by the judge: its hide has not begun, or its second hit is due.

    A hide that was begun keeps its number and its seal, settled or void; the next one gets the next number. The game's
    time (slahal) runs on, starts if the bones are won by this, and is cleared if they are not won yet.
    """
    state, hide = game.restore(fact.sheet), story.hide
    phase = game.phase_of(state)
    played = game.minutes is not None and game.hiders(state) is not None
    playing = (story.clocks.playing or Clock(fact.t)) if played or story.clocks.of_round else None
    goes_on = phase == "hit" and story.phase not in SETTLED
    if hide.action_played and hide.number and not goes_on:
        hide = Hide(hide.number + 1, began=fact.t, seal=Seal("by_eye"))
    else:
        hide = Hide(hide.number, began=fact.t, seal=Seal("by_eye", None, hide.seal.withdrawn))
    hide = replace(hide, action_played=phase == "hit")
    return replace(
        _mark_passes_unsure(story),
        state=state,
        previous_state=None,
        phase=phase,
        calls=(),
        hide=hide,
        clocks=replace(story.clocks, playing=playing),
        question=None,
        notice=None,
        note=fact.reason,
    )


def apply_batch(game: Game[Any], story: Story, batch: int, added: Iterable[facts.Fact]) -> Story:
    """Return the story after the facts of one batch of the journal."""
    for fact in added:
        before, story = story, apply(game, story, fact)
        undoable, revision = story.undo_target, story.revision
        by_judge = isinstance(fact, facts.HideAgain) and fact.by == "judge"
        struck = story.hide.strokes > before.hide.strokes
        if by_judge or struck or isinstance(fact, UNDOABLE_FACTS):
            waited, t = before.clocks.waiting.elapsed_s(fact.t), fact.t
            if before.undo_target.batch == batch:
                waited, t = before.undo_target.waited, before.undo_target.t
            undoable = UndoTarget(batch, waited, _auto_called_foul(before, fact), t)
        if isinstance(fact, facts.Undone | facts.TeamsNamed) or _judge_basis(story) != _judge_basis(before):
            revision = story.revision_from + batch
        story = replace(story, clocks=_clocks(before, story, fact), undo_target=undoable, revision=revision)
    return story


def _auto_called_foul(before: Story, fact: facts.Fact) -> str:
    """Return the foul that the mat or the clock calls by `fact`, or ""."""
    if not isinstance(fact, facts.ActionPlayed) or fact.by == "judge":
        return ""
    do = str(fact.action.get("do"))
    return before.hide.foul_seen or (do if do in FOUL_TREATMENTS else "")


def _clocks(before: Story, story: Story, fact: facts.Fact) -> Clocks:
    """Return the story's clocks after `fact`: started, stopped or running on."""
    clocks = story.clocks
    waiting, playing = clocks.waiting, clocks.playing
    if story.waiting_key != before.waiting_key:
        waiting = Clock(fact.t)
    elif isinstance(fact, facts.Undone):
        waiting = Clock(fact.t - fact.waited)
    if not clocks.of_round:
        playing = playing and playing.with_stopped(story.clocks_stopped, fact.t)
    return replace(clocks, waiting=waiting.with_stopped(story.blocked, fact.t), playing=playing, last_t=fact.t)


def _start_game_clock(game: Game[Any], clocks: Clocks, t: float) -> Clocks:
    """Return the clocks when the game's own time begins.

    If the round's time was up before the bones were won, the game starts again, on its own clock (Lahal, tournament).
    """
    if game.minutes is None:
        return replace(clocks, playing=None)
    if clocks.of_round and clocks.playing is not None and clocks.playing.elapsed_s(t) < 60.0 * game.minutes:
        return clocks
    return replace(clocks, playing=Clock(t), of_round=False)


def _judge_basis(story: Story) -> object:
    """Return the parts of the story a judge decides by: a screen that shows other values is stale."""
    return (
        story.state,
        story.waiting_key,
        story.question,
        story.hide.opened,
        story.hide.foul,
        story.clocks.paused is None,
        story.sensors,
        story.protest,
        story.void,
    )

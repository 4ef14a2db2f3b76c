"""Reducer: applies facts to a story; state, resume, undo and replay of all games are folds with it.

    ojibwe   toss -> hide -> check -> hit -> show -> hide ...        pads are opened while a hit is due
    slahal   toss -> hide -> check -> guess -> hide ...              the toss is the duel of the first guessers
    dakota   toss -> hide -> check -> hit -> hit -> show -> hide ... what its actions do stands in `dakota_actions`
    thrown   toss -> throw -> throw ...                              the toss is the lot, or the horses' starts

Everything the mat adds may be left out: an action entered by hand moves the story on from any phase.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pi_controller.referee import dakota_actions
from pi_controller.referee.facts import (
    Answer,
    Away,
    ByEye,
    ClockSet,
    Commit,
    Done,
    Fact,
    FoulSeen,
    HandPass,
    HideAgain,
    Lifted,
    LinkSeen,
    MatchGiven,
    Opened,
    ProtestMade,
    ProtestRuled,
    Question,
    Ready,
    Reveal,
    RoundClock,
    SensorsSeen,
    SensorsUsed,
    Shown,
    StateSet,
    Struck,
    TeamsNamed,
    Undone,
    Void,
    Withdrawn,
)
from pi_controller.referee.facts import Notice as Noticed
from pi_controller.referee.settings import BEAD_FOULS, PASS_FOULS, SENSED
from pi_controller.referee.story import (
    MOST_PAST,
    Clock,
    Clocks,
    Hide,
    Notice,
    Opening,
    Phase,
    Protest,
    Story,
    Turn,
    Undoable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.games.base import Game

LOOKED = ("no_reading", "balls", "bones")
"""The questions about what lies on the mat: `play_on` says that it lies well."""
HANDS_MOVE = ("hide", "check", "show")
"""The phases in which a hand under a pad is a pass."""


def blank(game: Game[Any]) -> Story:
    """Return the story before its first fact."""
    state = game.opening()
    return Story(state, "throw" if game.thrower(state) else "toss", hide=Hide(int(game.hidden is not None)))


def apply(game: Game[Any], story: Story, fact: Fact) -> Story:
    """Return the story after `fact`. Raises the game's errors for an action that it does not allow."""
    after = _apply(game, story, fact)
    if after.link.up is False and after.phase in HANDS_MOVE:
        return _doubted(after)  # nobody feels the hands
    return after


def _apply(game: Game[Any], story: Story, fact: Fact) -> Story:
    hide = story.hide
    match fact:
        case Done():
            return _remembered(game, story, _done(game, story, fact), fact)
        case HandPass(pad=pad, sure=True):
            return replace(story, hide=replace(hide, passes=(*hide.passes, pad)))
        case HandPass():
            return replace(story, hands=replace(story.hands, vague=story.collecting))
        case Ready():
            # the bead was taken up and hidden again without a word: the hand that fetched it may be among the passes
            if story.phase == "show":
                hide = replace(_next(game, hide), passes=hide.passes, fetched=True)
                story = replace(story, question=None)
            hide = replace(hide, by_hand=False, unsealed=False)
            return replace(story, phase="check", hide=hide, notice=None, note="")
        case Commit(hash=commit):
            return replace(story, phase=_due(game), hide=replace(hide, commit=commit, unsealed=False), note="")
        case ByEye():
            return replace(story, phase=_due(game), note="")
        case Void(why=why):
            return replace(story, hide=_voided(hide), note=why)
        case HideAgain(why=why):
            again = Hide(
                hide.number, hide.begun, fetched=True, waived=_waived_for_good(game, hide), withdrawn=hide.withdrawn
            )
            hands = replace(story.hands, doubt=0) if story.hands.doubt == hide.number else story.hands
            return replace(story, phase="hide", hide=again, hands=hands, question=None, notice=None, note=why)
        case Lifted(pad=pad):
            return replace(story, hide=replace(hide, opened=(*hide.opened, pad)))
        case Struck() if story.phase == "throw":
            return replace(story, hide=replace(hide, strokes=hide.strokes + 1))
        case FoulSeen(foul=foul):
            return replace(story, hide=replace(hide, foul_seen=foul))
        case Question():
            return replace(story, question=fact, notice=None)
        case Withdrawn(why=why):
            return replace(story, question=None, notice=Notice(why, story.question.pads if story.question else ()))
        case Noticed(about=about, pads=pads):
            return replace(story, notice=Notice(about, pads))
        case Answer(answer=answer):
            return _answered(game, story, answer)
        case Reveal():
            bound = fact.table, fact.epoch, fact.event
            opening = Opening(fact.hide, hide.commit or "", fact.pad, fact.nonce, *bound, hide.withdrawn)
            return replace(story, hide=replace(hide, commit=None, withdrawn=()), opening=opening)
        case Shown():
            # two hands before the bead was up: some of them may have been hiding already
            shown = _doubted(story) if len(hide.passes) > 1 else story
            return replace(shown, phase="hide", hide=_next(game, hide), question=None, notice=None, note="")
        case LinkSeen(up=up, why=why):
            # up from nowhere, up again, or up all the time with something missing
            was = story.link.up
            gap = up and (was is None or (was and bool(why or hide.passes)))
            missed = _doubted(story) if gap and story.phase in HANDS_MOVE else story
            return replace(missed, link=replace(story.link, up=up, why="" if up else why))
        case SensorsSeen(faults=faults):
            return replace(story, link=replace(story.link, faults=faults))
        case Opened(teams=teams, revision_from=first):
            return replace(story, teams=tuple(sorted(teams.items())), revision=first, revision_from=first)
        case TeamsNamed(teams=teams):
            return replace(story, teams=tuple(sorted(teams.items())))
        case Undone(reason=reason, waives=waives):
            hands = replace(story.hands, doubt=max(story.hands.doubt, fact.hide))
            waived = (*hide.waived, *_settled_with(waives)) if waives else hide.waived
            note = f"Taken back: {reason}" if reason else ""
            return replace(story, hide=replace(hide, by_hand=True, waived=waived), hands=hands, note=note)
        case StateSet():
            return _set(game, story, fact)
        case SensorsUsed(on=on):
            return replace(_doubted(story), sensors=on)  # hands that went meanwhile were not felt
        case ProtestMade(by=by, text=text):
            return replace(_doubted(story), protest=Protest(by, text))
        case ProtestRuled(ruling="play_on"):
            return replace(story, protest=story.protest and replace(story.protest, play_on=True))
        case ProtestRuled():
            return replace(story, protest=None)
        case ClockSet(t=t, running=running):
            paused = story.clocks.paused
            since = t if paused is None else paused
            return replace(story, clocks=replace(story.clocks, paused=None if running else since))
        case MatchGiven(order=order):
            return replace(story, order=order)
        case RoundClock(t=t, left_s=left, running=running):
            playing = Clock(t + left - 60.0 * (game.minutes or 0), None if running else t)
            return replace(story, clocks=replace(story.clocks, playing=playing, of_round=True))
        case Away(t=t, since=since):
            clocks = story.clocks
            playing = clocks.playing if clocks.of_round else clocks.playing and clocks.playing.resumed(since, t)
            return replace(story, clocks=replace(clocks, waiting=clocks.waiting.resumed(since, t), playing=playing))
        case _:
            return story


def _due(game: Game[Any]) -> Phase:
    """Return the phase in which what is hidden is to be found."""
    return "hit" if game.hidden is None else game.hidden.found_by


def _next(game: Game[Any], hide: Hide) -> Hide:
    """Return the hide after `hide`."""
    return Hide(hide.number + 1, waived=_waived_for_good(game, hide))


def _waived_for_good(game: Game[Any], hide: Hide) -> tuple[str, ...]:
    """Return what stays waived in the next hide: where a game has its time and goes on after it, all of it does."""
    return tuple(kind for kind in hide.waived if kind == "time" and game.minutes is not None)


def _voided(hide: Hide) -> Hide:
    """Return the hide with its commitment, where it has one, taken back."""
    if hide.commit is None:
        return hide
    return replace(hide, commit=None, withdrawn=(*hide.withdrawn, hide.commit), unsealed=True)


def _doubted(story: Story) -> Story:
    """Return the story in which some passes of the hide they belong to now may not have been felt."""
    if story.hands.doubt >= story.collecting:
        return story
    return replace(story, hands=replace(story.hands, doubt=story.collecting))


def _settled_with(foul: str) -> tuple[str, ...]:
    """Return what no longer applies where the judge lets `foul` pass: one word about the passes settles them all."""
    return PASS_FOULS if foul in PASS_FOULS else (foul,)


def _answered(game: Game[Any], story: Story, answer: str) -> Story:
    asked, hide, story = story.question, story.hide, replace(story, question=None)
    if asked is None:
        return story
    if asked.about == "sealed_again":  # it may be, or the judge says what is found
        unsealed, by_hand = hide.unsealed and answer != "play_on", hide.by_hand or answer == "by_eye"
        hide = replace(hide, unsealed=unsealed, by_hand=by_hand)
    if answer != "play_on":
        return replace(story, hide=hide)
    hide = replace(hide, waived=(*hide.waived, *_settled_with(asked.foul or asked.about)))
    looked = story.phase == "check" and (asked.about in LOOKED or asked.foul in BEAD_FOULS)
    return replace(story, phase=_due(game) if looked else story.phase, hide=hide)


def _done(game: Game[Any], story: Story, done: Done) -> Story:
    """Play an action of the game, and see what is to be done next."""
    before, action = story.state, done.action
    state, _ = game.play(before, action)
    hide = replace(story.hide, foul_seen="")
    # both hits are of one hide, and so is a foul that settles it anew
    goes_on = game.hand_passes and hide.begun and (story.phase != "show" or action.get("hide") == "last")
    former = story.former if goes_on else before
    after = replace(story, state=state, former=former, calls=done.calls, hide=hide, question=None, notice=None, note="")
    if game.hand_passes:
        return dakota_actions.settle(game, story, after, action)
    if game.over(state):
        return replace(after, phase="over", hide=replace(hide, strokes=0, begun=hide.begun or game.settles(action)))
    if game.hidden is None:
        throws = game.thrower(before)
        if throws and game.thrower(state) == throws and not game.settles(action):
            return after  # somebody else's: the turn goes on
        return replace(after, phase="throw" if game.thrower(state) else "toss", hide=Hide(0))
    if game.hiders(before) is None:
        if game.hiders(state) is None:
            return after  # a duel that nobody won
        return replace(after, phase="hide", clocks=_begun(game, after.clocks, done.t))
    if not game.settles(action):
        return after
    if not game.hidden.in_fists:
        return replace(after, phase="show", hide=replace(hide, begun=True))
    withdrawn = hide.withdrawn if hide.commit else ()  # the hands are open: the commitment stays until it is opened
    return replace(after, phase="hide", hide=replace(_next(game, hide), commit=hide.commit, withdrawn=withdrawn))


def _remembered(game: Game[Any], before: Story, after: Story, done: Done) -> Story:
    """Return `after` with what was done added to the turns that are past: to the one it is of, or as a new one."""
    side = game.hiders(before.state) or game.thrower(before.state)
    if side is None or done.action.get("do") == "forfeit":
        return after
    number, past = after.hide.number if game.hand_passes else before.hide.number, after.past
    of_the_last = past and (done.action.get("hide") == "last" or (number and past[-1].number == number))
    if of_the_last:
        turn = past[-1]
        turn = replace(turn, actions=(*turn.actions, done.action), calls=(*turn.calls, *done.calls))
        return replace(after, past=(*past[:-1], turn))
    return replace(after, past=(*past, Turn(number, side, (done.action,), done.calls))[-MOST_PAST:])


def _set(game: Game[Any], story: Story, fact: StateSet) -> Story:
    """Return the story of a table set as the judge says: its hide is not begun, or the second hit of it is owed.

    A hide that was begun keeps its number and its seal, settled or void; the next one has its own.
    The game's time (slahal) goes on, begins where the bones are won by this, and ends where they are not won yet.
    """
    state, hide = game.restore(fact.sheet), story.hide
    phase: Phase = "toss"
    if game.over(state):
        phase = "over"
    elif game.hand_passes and game.sheet(state)["owed"] == "second":
        phase = "hit"
    elif game.hidden is None:
        phase = "throw" if game.thrower(state) else "toss"
    elif game.hiders(state) is not None:
        phase = "hide"
    played = game.minutes is not None and game.hiders(state) is not None
    playing = (story.clocks.playing or Clock(fact.t)) if played or story.clocks.of_round else None
    goes_on = phase == "hit" and story.phase not in ("show", "over")
    if hide.begun and hide.number and not goes_on:
        hide = Hide(hide.number + 1, by_hand=True)
    else:
        hide = Hide(hide.number, by_hand=True, withdrawn=hide.withdrawn)
    hide = replace(hide, begun=phase == "hit")
    return replace(
        _doubted(story),
        state=state,
        former=None,
        phase=phase,
        calls=(),
        hide=hide,
        clocks=replace(story.clocks, playing=playing),
        question=None,
        notice=None,
        note=fact.reason,
    )


def apply_batch(game: Game[Any], story: Story, batch: int, facts: Iterable[Fact]) -> Story:
    """Return the story after the facts of one batch of the journal."""
    for fact in facts:
        before, story = story, apply(game, story, fact)
        undoable, revision = story.undoable, story.revision
        by_judge = isinstance(fact, HideAgain) and fact.by == "judge"
        struck = story.hide.strokes > before.hide.strokes
        if isinstance(fact, Done | Answer | Lifted | StateSet) or by_judge or struck:
            waited = before.undoable.waited if before.undoable.batch == batch else before.clocks.waiting.shown(fact.t)
            undoable = Undoable(batch, waited, _called(before, fact))
        if isinstance(fact, Undone | TeamsNamed) or _decided_by(story) != _decided_by(before):
            revision = story.revision_from + batch
        story = replace(story, clocks=_clocks(before, story, fact), undoable=undoable, revision=revision)
    return story


def _called(before: Story, fact: Fact) -> str:
    """Return the foul that the mat or the clock calls by `fact`, "" for none."""
    if not isinstance(fact, Done) or fact.by == "judge":
        return ""
    do = str(fact.action.get("do"))
    return before.hide.foul_seen or (do if do in SENSED else "")


def _clocks(before: Story, story: Story, fact: Fact) -> Clocks:
    """Return the story's clocks after `fact`: each begins, stands or goes on."""
    clocks = story.clocks
    waiting, playing = clocks.waiting, clocks.playing
    if story.awaited != before.awaited:
        waiting = Clock(fact.t)
    elif isinstance(fact, Undone) and fact.waited is not None:
        waiting = Clock(fact.t - fact.waited)
    if not clocks.of_round:
        playing = playing and playing.made(story.stands, fact.t)
    return replace(clocks, waiting=waiting.made(story.kept_waiting, fact.t), playing=playing, last_t=fact.t)


def _begun(game: Game[Any], clocks: Clocks, t: float) -> Clocks:
    """Return the clocks when the game's own time begins.

    Where the round's was up before the bones were won, the game starts again, on its own (Lahal, tournament).
    """
    if game.minutes is None:
        return replace(clocks, playing=None)
    if clocks.of_round and clocks.playing is not None and clocks.playing.shown(t) < 60.0 * game.minutes:
        return clocks
    return replace(clocks, playing=Clock(t), of_round=False)


def _decided_by(story: Story) -> object:
    """Return what a judge at the table decides by: a screen that shows another one is stale."""
    return (
        story.state,
        story.awaited,
        story.question,
        story.hide.opened,
        story.hide.foul,
        story.clocks.paused is None,
        story.sensors,
        story.protest,
    )

"""How the games other than Hampa Apena are told: their score sheet's state, and what is being hidden or thrown.

    ojibwe   toss -> hide -> check -> hit -> show -> hide ...        pads are opened while a hit is due
    slahal   toss -> hide -> check -> guess -> hide ...              the toss is the duel of the first guessers
    thrown   toss -> throw -> throw ...                              the toss is the lot, or the horses' starts

Everything the mat adds may be left out: an action entered by hand moves the story on from any phase.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pi_controller.referee.facts import (
    Answer,
    ByEye,
    Commit,
    Done,
    Fact,
    HideAgain,
    Lifted,
    LinkSeen,
    Ready,
    Reveal,
    Shown,
    Struck,
    Undone,
    Void,
)
from pi_controller.referee.story import Clock, Phase, Story, opened, seal_answered, voided

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.games.base import Game, Json

LOOKED = ("no_reading", "balls", "bones")
"""The questions about what lies on the mat: `play_on` says that it lies well."""


def blank(game: Game[Any]) -> Story:
    """Return the story before its first fact."""
    state = game.opening()
    return Story(state, phase="throw" if game.thrower(state) else "toss", hide=int(game.hidden is not None))


def apply(game: Game[Any], story: Story, fact: Fact) -> Story:
    """Return the story after `fact`, which is neither `Opened` nor `Question`."""
    match fact:
        case Done(action=action, calls=calls):
            return _act(game, story, action, calls, fact.t)
        case Ready():
            shown = _next_hide(story) if story.phase == "show" else story
            return replace(shown, phase="check", by_hand=False, unsealed=False, note="", notice=None)
        case Commit(hash=commit):
            return replace(story, phase=_due(game), commit=commit, unsealed=False, note="")
        case ByEye():
            return replace(story, phase=_due(game), note="")
        case Void(why=why):
            return replace(voided(story), note=why)
        case HideAgain(why=why):
            return replace(_this_hide(story), phase="hide", note=why)
        case Lifted(pad=pad):
            return replace(story, opened=(*story.opened, pad))
        case Struck() if story.phase == "throw":
            return replace(story, strokes=story.strokes + 1)
        case Answer(answer=answer):
            return _answered(game, seal_answered(story, answer), answer)
        case Reveal():
            return replace(story, commit=None, withdrawn=(), opening=opened(story, fact))
        case Shown():
            return replace(_next_hide(story), phase="hide")
        case LinkSeen(up=up, why=why):
            return replace(story, link=up, link_why="" if up else why)
        case Undone(reason=reason, waives=waives):
            waived = (*story.waived, waives) if waives else story.waived
            return replace(story, by_hand=True, waived=waived, note=reason)
        case _:
            return story


def _due(game: Game[Any]) -> Phase:
    """Return the phase in which what is hidden is to be found."""
    return "hit" if game.hidden is None else game.hidden.found_by


def _this_hide(story: Story) -> Story:
    """Return the story with its hide not begun."""
    late = tuple(kind for kind in story.waived if kind == "time")  # the game goes on after its time: all of it
    return replace(
        story,
        opened=(),
        strokes=0,
        waived=late,
        by_hand=False,
        commit=None,
        unsealed=False,
        question=None,
        note="",
        notice=None,
    )


def _next_hide(story: Story) -> Story:
    return replace(_this_hide(story), hide=story.hide + 1, withdrawn=())


def _answered(game: Game[Any], story: Story, answer: str) -> Story:
    asked, story = story.question, replace(story, question=None)
    if asked is None or answer != "play_on":
        return story
    waived = (*story.waived, asked.foul or asked.about)
    return replace(story, waived=waived, phase=_due(game) if asked.about in LOOKED else story.phase)


def _act(game: Game[Any], story: Story, action: Mapping[str, Json], calls: tuple[str, ...], t: float) -> Story:
    """Play an action of the game, and see what is to be done next."""
    state, _ = game.play(story.state, action)
    after = replace(story, state=state, calls=calls, question=None, note="", notice=None, foul_seen="")
    if game.over(state):
        return replace(after, phase="over", strokes=0)
    do = game.current(action).get("do")
    if game.hidden is None:
        throws = game.thrower(story.state)
        if do in ("start", "forfeit") and throws and game.thrower(state) == throws:
            return after  # somebody else's: the turn goes on
        return replace(after, phase="throw" if game.thrower(state) else "toss", strokes=0, waived=())
    match do:
        case "toss":
            return replace(after, phase="hide")
        case "duel" if game.sheet(state)["hiding"] is not None:
            return replace(after, phase="hide", playing=Clock(t))
        case "shoot":
            return replace(after, phase="show")
        case "rehide" if game.settings["rehide"] != "loses_bones":
            return after
        case "guess" | "rehide":  # the hands are open: the commitment stays until it is opened
            withdrawn = story.withdrawn if story.commit else ()
            return replace(_next_hide(after), phase="hide", commit=story.commit, withdrawn=withdrawn)
        case _:  # a duel that nobody won
            return replace(after, phase="toss", strokes=0, waived=())

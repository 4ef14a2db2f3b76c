"""How the hides of Hampa Apena are told: hand passes, the ready check, two hits, the bead shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pi_controller.referee.facts import (
    Answer,
    ByEye,
    Commit,
    Done,
    Fact,
    HandPass,
    HideAgain,
    LinkSeen,
    Ready,
    Reveal,
    Shown,
    Undone,
    Void,
)
from pi_controller.referee.settings import BEAD_FOULS, PASS_FOULS
from pi_controller.referee.story import Hit, Story, opened, seal_answered, voided

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.games.base import Game, Json


def apply(game: Game[Any], story: Story, fact: Fact) -> Story:
    """Return the story after `fact`, which is neither `Opened` nor `Question`."""
    after = _apply(game, story, fact)
    if after.link is False and after.phase in ("hide", "check", "show") and after.doubt < after.collecting:
        return replace(after, doubt=after.collecting)  # nobody felt the hands
    return after


def _apply(game: Game[Any], story: Story, fact: Fact) -> Story:
    match fact:
        case HandPass(pad=pad, sure=True):
            return replace(story, passes=(*story.passes, pad))
        case HandPass():
            return replace(story, vague=story.collecting)
        case Ready():
            # the bead was taken up and hidden again without a word: the hand that fetched it may be among the passes
            shown = _next_hide(story, story.passes) if story.phase == "show" else story
            fetched = story.fetched or story.phase == "show"
            return replace(shown, phase="check", fetched=fetched, by_hand=False, note="", notice=None)
        case Commit(hash=commit):
            return replace(story, phase="hit", commit=commit, unsealed=False, note="")
        case ByEye():
            return replace(story, phase="hit", note="")
        case Void(why=why):
            return replace(voided(story), note=why)
        case HideAgain(why=why):
            again = replace(_this_hide(story), phase="hide", fetched=True, note=why)
            return replace(again, doubt=0) if again.doubt == again.hide else again
        case Done(action=action, calls=calls):
            return _act(game, story, action, calls)
        case Answer(answer=answer):
            return _answered(seal_answered(story, answer), answer)
        case Reveal():
            return replace(story, commit=None, withdrawn=(), opening=opened(story, fact))
        case Shown():
            # two hands before the bead was up: some of them may have been hiding already
            doubt = story.collecting if len(story.passes) > 1 else story.doubt
            return replace(_next_hide(story, ()), phase="hide", doubt=max(doubt, story.doubt))
        case LinkSeen(up=up, why=why):
            # up from nowhere, up again, or up all the time with something missing
            gap = up and (story.link is None or (story.link and bool(why or story.passes)))
            missed = story.collecting if gap and story.phase in ("hide", "check", "show") else 0
            return replace(story, link=up, link_why="" if up else why, doubt=max(story.doubt, missed))
        case Undone(hide=hide, reason=reason, waives=waives):
            waived = (*story.waived, *_settled_with(waives)) if waives else story.waived
            return replace(story, doubt=max(story.doubt, hide), by_hand=True, waived=waived, note=reason)
        case _:
            return story


def _this_hide(story: Story) -> Story:
    """Return the story with its hide not begun."""
    return replace(
        story,
        passes=(),
        fetched=False,
        waived=(),
        by_hand=False,
        hits=(),
        foul=None,
        foul_seen="",
        commit=None,
        unsealed=False,
        question=None,
        note="",
        notice=None,
    )


def _next_hide(story: Story, passes: tuple[int, ...]) -> Story:
    return replace(_this_hide(story), hide=story.hide + 1, passes=passes, withdrawn=())


def _answered(story: Story, answer: str) -> Story:
    asked, story = story.question, replace(story, question=None)
    if asked is None or answer != "play_on":
        return story
    waived = _settled_with(asked.foul or asked.about)
    looked = story.phase == "check" and (asked.about == "no_reading" or asked.foul in BEAD_FOULS)
    return replace(story, waived=(*story.waived, *waived), phase="hit" if looked else story.phase)


def _settled_with(foul: str) -> tuple[str, ...]:
    """Return what no longer applies where the judge lets `foul` pass: one word about the passes settles them all."""
    return PASS_FOULS if foul in PASS_FOULS else (foul,)


def _act(game: Game[Any], story: Story, action: Mapping[str, Json], calls: tuple[str, ...]) -> Story:
    """Play an action of the game and see what it does to the hide."""
    state, _ = game.play(story.state, action)
    before, sheet = game.sheet(story.state), game.sheet(state)
    do, kind, owed, over = action.get("do"), action.get("kind"), sheet.get("owed"), game.over(state)
    if not calls and do == "hit" and story.hits:
        calls = story.calls  # a second hit that calls nothing leaves the first one's words standing
    foul = (story.foul_seen or kind) if do == "foul" else None
    story = replace(story, state=state, owed=owed, calls=calls, question=None, note="", notice=None, foul_seen="")
    if do == "toss":
        return replace(story, phase="hide")
    if do == "forfeit":
        return replace(story, phase="over", passes=())
    if do == "foul" and action.get("hide") == "last":
        if story.phase not in ("show", "over"):
            return replace(story, phase="over") if over else story
        return replace(story, phase="over" if over else "show", foul=foul)
    if do == "hit":
        waived = tuple(each for each in story.waived if each != "time")  # each hit has its own
        hits = (*story.hits, Hit(action.get("pad"), bool(action.get("found"))))
        story = replace(story, hits=hits, waived=waived)
    elif sheet == before:
        return story  # a warning
    elif kind == "time" and owed == "second":
        story = replace(story, hits=(*story.hits, Hit(None, found=False)))
    if over or owed == "first":
        settled = "over" if over else "show"
        return replace(story, phase=settled, passes=(), foul=foul)
    return replace(story, phase="hit")

"""The story of a game, told by its facts: `tell` is the fold that state, resume, undo and replay are made of.

A story is public, frozen and hashable. It has no field that could hold the bead's place before the reveal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pi_controller.referee.facts import (
    Answer,
    Commit,
    Done,
    Fact,
    FoulSeen,
    HandPass,
    HideAgain,
    LinkSeen,
    Opened,
    Question,
    Ready,
    Reveal,
    Shown,
    Struck,
    Undone,
    Void,
)
from pi_controller.referee.settings import BEAD_FOULS, PASS_FOULS, PLAYED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_controller.games.base import Game, Json

Phase = Literal["toss", "hide", "check", "hit", "show", "play", "over"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit of the hide: the pad (None when entered without one) and whether it found the bead."""

    pad: int | None
    found: bool


@dataclass(frozen=True, slots=True)
class Opening:
    """An opened commitment: see `opening.check`."""

    hide: int
    hash: str
    pad: int
    nonce: str


@dataclass(frozen=True, slots=True)
class Story:
    """Where a game stands. `state` is the game's own; everything else is the hide around it.

    `hide` counts from 1 and stays until its bead is shown. `passes` are the pads the hand has been under, for the hide
    in progress (in phase show: for the next). `doubt` is the last hide whose passes may be incomplete. `fetched`: the
    first pass may be the hand that took the bead up. `waived`: fouls the judge let pass in this hide. `by_hand`: what
    was undone had shown the bead, so this hide is not sealed again. `link` is None until a board was heard of.
    `mark` is the batch that an undo takes back.

    A game that is not played on the mat has no hides: its phase is play until it is over, `calls` are the words called
    for its last action, and what is about a hide stays empty.
    """

    state: Any
    phase: Phase = "toss"
    hide: int = 1
    owed: str | None = None
    passes: tuple[int, ...] = ()
    doubt: int = 0
    fetched: bool = False
    waived: tuple[str, ...] = ()
    by_hand: bool = False
    hits: tuple[Hit, ...] = ()
    foul: str | None = None
    calls: tuple[str, ...] = ()
    commit: str | None = None
    opening: Opening | None = None
    question: Question | None = None
    link: bool | None = None
    link_why: str = ""
    note: str = ""
    teams: tuple[tuple[str, str], ...] = ()
    mark: int = 0

    @property
    def armed(self) -> bool:
        """Whether a stroke is due: a hit is owed and the judge is not asked anything."""
        return self.phase == "hit" and self.question is None

    @property
    def collecting(self) -> int:
        """The hide that hand passes belong to now."""
        return self.hide + (self.phase == "show")

    @property
    def pads_open(self) -> tuple[int, ...]:
        """The pads that the hit owed may take: the second not the pad of the first."""
        return tuple(pad for pad in (1, 2, 3, 4) if all(pad != hit.pad for hit in self.hits))


def blank(game: Game[Any]) -> Story:
    """Return the story before its first fact."""
    return Story(game.opening()) if game.name in PLAYED else Story(game.opening(), phase="play", hide=0)


def tell(game: Game[Any], story: Story, fact: Fact) -> Story:
    """Return the story after `fact`. Raises the game's errors for an action that it does not allow."""
    if game.name not in PLAYED:
        return _tell_on_paper(game, story, fact)
    after = _tell(game, story, fact)
    if after.link is False and after.phase in ("hide", "check", "show") and after.doubt < after.collecting:
        return replace(after, doubt=after.collecting)  # nobody felt the hands
    return after


def tell_batch(game: Game[Any], story: Story, batch: int, facts: Iterable[Fact]) -> Story:
    """Return the story after the facts of one batch of the journal."""
    for fact in facts:
        story = tell(game, story, fact)
        if isinstance(fact, Done | Answer) or (isinstance(fact, HideAgain) and fact.by == "judge"):
            story = replace(story, mark=batch)
    return story


def _tell(game: Game[Any], story: Story, fact: Fact) -> Story:
    match fact:
        case Opened(teams=teams):
            return replace(story, teams=tuple(sorted(teams.items())))
        case HandPass(pad=pad):
            return replace(story, passes=(*story.passes, pad))
        case Ready():
            # the bead was taken up and hidden again without a word: the hand that fetched it may be among the passes
            shown = _next_hide(story, story.passes) if story.phase == "show" else story
            return replace(shown, phase="check", fetched=story.fetched or story.phase == "show", by_hand=False, note="")
        case Commit(hash=commit):
            return replace(story, phase="hit", commit=commit, note="")
        case Void(why=why):
            return replace(story, commit=None, note=why)
        case HideAgain(why=why):
            again = replace(_this_hide(story), phase="hide", fetched=True, note=why)
            return replace(again, doubt=0) if again.doubt == again.hide else again
        case Done(action=action, calls=calls):
            return _act(game, story, action, calls)
        case Question():
            return replace(story, question=fact)
        case Answer(answer=answer):
            return _answered(story, answer)
        case Reveal(hide=hide, pad=pad, nonce=nonce):
            return replace(story, commit=None, opening=Opening(hide, story.commit or "", pad, nonce))
        case Shown():
            # two hands before the bead was up: some of them may have been hiding already
            doubt = story.collecting if len(story.passes) > 1 else story.doubt
            return replace(_next_hide(story, ()), phase="hide", doubt=max(doubt, story.doubt))
        case LinkSeen(up=up, why=why):
            # up from nowhere, up again, or up all the time with something missing
            gap = up and (story.link is None or (story.link and bool(why or story.passes)))
            missed = story.collecting if gap and story.phase in ("hide", "check", "show") else 0
            return replace(story, link=up, link_why="" if up else why, doubt=max(story.doubt, missed))
        case Undone(hide=hide, reason=reason):
            return replace(story, doubt=max(story.doubt, hide), by_hand=True, note=reason)
        case Struck() | FoulSeen():
            return story


def _tell_on_paper(game: Game[Any], story: Story, fact: Fact) -> Story:
    """Tell a game kept by the judge alone: its actions, and whether a board is there."""
    match fact:
        case Opened(teams=teams):
            return replace(story, teams=tuple(sorted(teams.items())))
        case Done(action=action, calls=calls):
            state, _ = game.play(story.state, action)
            return replace(story, state=state, phase="over" if game.over(state) else "play", calls=calls, note="")
        case LinkSeen(up=up, why=why):
            return replace(story, link=up, link_why="" if up else why)
        case Undone(reason=reason):
            return replace(story, note=reason)
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
        commit=None,
        question=None,
        note="",
    )


def _next_hide(story: Story, passes: tuple[int, ...]) -> Story:
    return replace(_this_hide(story), hide=story.hide + 1, passes=passes)


def _answered(story: Story, answer: str) -> Story:
    asked, story = story.question, replace(story, question=None)
    if asked is None or answer != "play_on":
        return story
    # one answer about the passes settles them all
    waived = PASS_FOULS if asked.foul in PASS_FOULS else (asked.foul,)
    looked = story.phase == "check" and (asked.about == "no_reading" or asked.foul in BEAD_FOULS)
    return replace(story, waived=(*story.waived, *waived), phase="hit" if looked else story.phase)


def _act(game: Game[Any], story: Story, action: Mapping[str, Json], calls: tuple[str, ...]) -> Story:
    """Play an action of the game and see what it does to the hide."""
    state, _ = game.play(story.state, action)
    before, sheet = game.sheet(story.state), game.sheet(state)
    do, kind, owed, over = action.get("do"), action.get("kind"), sheet.get("owed"), game.over(state)
    if not calls and do == "hit" and story.hits:
        calls = story.calls  # a second hit that calls nothing leaves the first one's words standing
    story = replace(story, state=state, owed=owed, calls=calls, question=None, note="")
    if do == "toss":
        return replace(story, phase="hide")
    if do == "foul" and action.get("hide") == "last":
        if story.phase not in ("show", "over"):
            return replace(story, phase="over") if over else story
        return replace(story, phase="over" if over else "show", foul=kind)
    if do == "hit":
        story = replace(story, hits=(*story.hits, Hit(action.get("pad"), bool(action.get("found")))))
    elif sheet == before:
        return story  # a warning
    elif kind == "time" and owed == "second":
        story = replace(story, hits=(*story.hits, Hit(None, found=False)))
    if over or owed == "first":
        settled = "over" if over else "show"
        return replace(story, phase=settled, passes=(), foul=kind if do == "foul" else None)
    return replace(story, phase="hit")

"""The fold from facts to a story, which state, resume, undo and replay are made of.

How Hampa Apena's hides are told stands in `hide_story`, how the other games are in `sheet_story`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pi_controller.referee import hide_story, sheet_story, table_story
from pi_controller.referee.facts import (
    Answer,
    Away,
    Called,
    ClockSet,
    Done,
    Fact,
    FoulSeen,
    GameClosed,
    HideAgain,
    Lifted,
    Notice,
    Opened,
    ProtestMade,
    ProtestRuled,
    Question,
    SensorsSeen,
    SensorsUsed,
    StateSet,
    Undone,
    Withdrawn,
)
from pi_controller.referee.settings import SENSED
from pi_controller.referee.story import Clock, Story

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.games.base import Game


def blank(game: Game[Any]) -> Story:
    """Return the story before its first fact."""
    return Story(game.opening()) if game.hand_passes else sheet_story.blank(game)


def apply(game: Game[Any], story: Story, fact: Fact) -> Story:
    """Return the story after `fact`. Raises the game's errors for an action that it does not allow."""
    match fact:
        case Opened(teams=teams, revision_from=revision_from):
            return replace(
                story, teams=tuple(sorted(teams.items())), revision=revision_from, revision_from=revision_from
            )
        case Question():
            return replace(story, question=fact, notice=None)
        case Withdrawn(t=t, why=why):
            return replace(story, question=None, notice=Notice(t, why, story.question.pads if story.question else ()))
        case Notice():
            return replace(story, notice=fact)
        case FoulSeen(foul=foul):
            return replace(story, foul_seen=foul)
        case SensorsSeen(faults=faults):
            return replace(story, faults=faults)
        case Called() | GameClosed():
            return story
        case Away(t=t, since=since):
            playing = story.playing and story.playing.resumed(since, t)
            return replace(story, waiting=story.waiting.resumed(since, t), playing=playing)
        case StateSet() | SensorsUsed() | ProtestMade() | ProtestRuled() | ClockSet():
            return table_story.apply(game, story, fact)
        case _ if game.hand_passes:
            return hide_story.apply(game, story, fact)
        case _:
            return sheet_story.apply(game, story, fact)


def apply_batch(game: Game[Any], story: Story, batch: int, facts: Iterable[Fact]) -> Story:
    """Return the story after the facts of one batch of the journal."""
    for fact in facts:
        before, story = story, apply(game, story, fact)
        changed: dict[str, Any] = {"last_t": fact.t, **_clocks(before, story, fact)}
        by_judge = isinstance(fact, HideAgain) and fact.by == "judge"
        if isinstance(fact, Done | Answer | Lifted | StateSet) or by_judge or story.strokes > before.strokes:
            waited = before.undoable_waited if before.last_undoable == batch else before.waiting.shown(fact.t)
            changed |= {"last_undoable": batch, "undoable_waited": waited, "called": _called(before, fact)}
        if isinstance(fact, Undone) or _decided_by(story) != _decided_by(before):
            changed["revision"] = story.revision_from + batch
        story = replace(story, **changed)
    return story


def _called(before: Story, fact: Fact) -> str:
    """Return the foul that the mat or the clock calls by `fact`, "" for none."""
    if not isinstance(fact, Done) or fact.by == "judge":
        return ""
    do = str(fact.action.get("do"))
    return before.foul_seen or (do if do in SENSED else "")


def _clocks(before: Story, story: Story, fact: Fact) -> dict[str, Clock | None]:
    """Return the story's clocks after `fact`: each begins, stands or goes on."""
    if story.awaited != before.awaited:
        waiting = Clock(fact.t)
    elif isinstance(fact, Undone) and fact.waited is not None:
        waiting = Clock(fact.t - fact.waited)
    else:
        waiting = story.waiting
    playing = story.playing and story.playing.made(story.stands, fact.t)
    return {"waiting": waiting.made(story.kept_waiting, fact.t), "playing": playing}


def _decided_by(story: Story) -> object:
    """Return what a judge at the table decides by: a screen that shows another one is stale."""
    return (
        story.state,
        story.awaited,
        story.question,
        story.opened,
        story.foul,
        story.paused is None,
        story.sensors,
        story.protest,
    )

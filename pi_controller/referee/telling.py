"""The fold from facts to a story, which state, resume, undo and replay are made of.

How Hampa Apena's hides are told stands in `hide_story`, how the other games are in `sheet_story`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pi_controller.referee import hide_story, sheet_story, table_story
from pi_controller.referee.facts import (
    Answer,
    Called,
    ClockSet,
    Done,
    Fact,
    HideAgain,
    Lifted,
    Opened,
    ProtestMade,
    ProtestRuled,
    Question,
    SensorsSeen,
    SensorsUsed,
    StateSet,
    Undone,
)
from pi_controller.referee.story import HAMPA_APENA, Story

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_controller.games.base import Game


def blank(game: Game[Any]) -> Story:
    """Return the story before its first fact."""
    return Story(game.opening()) if game.name == HAMPA_APENA else sheet_story.blank(game)


def tell(game: Game[Any], story: Story, fact: Fact) -> Story:
    """Return the story after `fact`. Raises the game's errors for an action that it does not allow."""
    match fact:
        case Opened(teams=teams):
            return replace(story, teams=tuple(sorted(teams.items())))
        case Question():
            return replace(story, question=fact)
        case SensorsSeen(faults=faults):
            return replace(story, faults=faults)
        case Called():
            return story
        case StateSet() | SensorsUsed() | ProtestMade() | ProtestRuled() | ClockSet():
            return table_story.tell(game, story, fact)
        case _ if game.name == HAMPA_APENA:
            return hide_story.tell(game, story, fact)
        case _:
            return sheet_story.tell(game, story, fact)


def tell_batch(game: Game[Any], story: Story, batch: int, facts: Iterable[Fact]) -> Story:
    """Return the story after the facts of one batch of the journal."""
    for fact in facts:
        before, story = story, tell(game, story, fact)
        by_judge = isinstance(fact, HideAgain) and fact.by == "judge"
        if isinstance(fact, Done | Answer | Lifted | StateSet) or by_judge or story.strokes > before.strokes:
            story = replace(story, mark=batch)
        if story.awaited != before.awaited:
            story = replace(story, since_t=fact.t, paused=None if story.paused is None else fact.t)
        if isinstance(fact, Undone) or _decided_by(story) != _decided_by(before):
            story = replace(story, stand=batch)
    return story


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

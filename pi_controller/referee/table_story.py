"""How it is told what the judge says of the table itself: how it stands, its clock, its sensors, a protest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pi_controller.referee.facts import ClockSet, Fact, ProtestMade, ProtestRuled, SensorsUsed, StateSet
from pi_controller.referee.story import Clock, Phase, Protest, Story

if TYPE_CHECKING:
    from pi_controller.games.base import Game


def apply(game: Game[Any], story: Story, fact: Fact) -> Story:
    """Return the story after `fact`, which is one of those imported here. Raises the game's errors for a state."""
    match fact:
        case StateSet(t=t, sheet=sheet, reason=reason):
            return _set(game, story, game.restore(sheet), reason, t)
        case SensorsUsed(on=on):
            # hands that went meanwhile were not felt
            return replace(story, sensors=on, doubt=max(story.doubt, story.collecting))
        case ProtestMade(by=by, text=text):
            return replace(story, protest=Protest(by, text), doubt=max(story.doubt, story.collecting))
        case ProtestRuled(ruling="play_on"):
            return replace(story, protest=story.protest and replace(story.protest, play_on=True))
        case ProtestRuled():
            return replace(story, protest=None)
        case ClockSet(running=True):
            return replace(story, paused=None)
        case ClockSet(t=t):
            return replace(story, paused=t if story.paused is None else story.paused)
        case _:
            return story


def _set(game: Game[Any], story: Story, state: Any, reason: str, t: float) -> Story:
    """Return the story of a table set to `state`: its hide is not begun, or the second hit of it is owed.

    A hide that was settled, or is void with its first hit, keeps its number and its seal; the next one has its own.
    The game's time (slahal) goes on, begins where the bones are won by this, and ends where they are not won yet.
    """
    sheet = game.sheet(state)
    owed = sheet.get("owed") if game.hand_passes else None
    phase: Phase = "toss"
    if game.over(state):
        phase = "over"
    elif owed == "second":
        phase = "hit"
    elif game.hidden is None:
        phase = "throw" if game.thrower(state) else "toss"
    elif game.hiders(state) is not None:
        phase = "hide"
    settled = story.phase in ("show", "over") or bool(story.hits and phase != "hit")
    played = game.minutes is not None and game.hiders(state) is not None
    return replace(
        story,
        hide=story.hide and story.hide + settled,
        state=state,
        phase=phase,
        owed=owed,
        passes=(),
        doubt=max(story.doubt, story.collecting),
        fetched=False,
        waived=(),
        by_hand=True,
        hits=(),
        foul=None,
        foul_seen="",
        calls=(),
        opened=(),
        strokes=0,
        playing=(story.playing or Clock(t)) if played else None,
        commit=None,
        unsealed=False,
        withdrawn=() if settled else story.withdrawn,
        question=None,
        note=reason,
        notice=None,
    )

"""The referee: mat events and the judge's commands in; actions of the game, fouls and questions to the judge out.

The referee concludes `Fact`s, which a journal stores; a `History` folds them into the current `Story`. All times are
seconds of one clock, and randomness is passed in.

>>> from pi_controller.rules import game
>>> from pi_controller.sensing import Button
>>> from pi_controller.referee import Fact, History, JudgeAction, Referee, RefereeSettings, Story, referee_for
>>> rules = game("dakota")
>>> settings = RefereeSettings(preset="home")
>>> referee: Referee = referee_for(rules, settings, random_bytes=bytes)  # secrets.token_bytes at a table
>>> history = History(rules)
>>> for event in (Button(1.0, "toss_a"), JudgeAction(20.0, {"do": "hit", "found": True})):
...     draft = history.resolve_event(event, referee.decide)
...     facts: tuple[Fact, ...] = draft.facts
...     story: Story = history.commit(draft)
...     print([type(fact).__name__ for fact in facts], rules.sheet(story.state)["long"])
['ActionPlayed'] {'A': 4, 'B': 0}
['ActionPlayed'] {'A': 4, 'B': 4}

Facts are never deleted: if a judge takes an action back, or replaces it, another fact records that.

>>> from pi_controller.referee import JudgeCommand, JudgeReplace, JudgeUndo
>>> def decide(command: JudgeCommand) -> dict[str, int]:
...     return rules.sheet(history.commit(history.resolve_event(command, referee.decide)).state)["long"]
>>> decide(JudgeReplace(25.0, {"do": "hit", "found": False}))
{'A': 4, 'B': 0}
>>> decide(JudgeUndo(30.0, "it had been right"))  # the replaced action counts again
{'A': 4, 'B': 4}
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazy_getattr

if TYPE_CHECKING:
    from pi_controller.referee.base import Referee
    from pi_controller.referee.facts import Fact
    from pi_controller.referee.history import History
    from pi_controller.referee.judge import JudgeAction, JudgeCommand, JudgeReplace, JudgeUndo
    from pi_controller.referee.selection import referee_for
    from pi_controller.referee.settings import RefereeSettings
    from pi_controller.referee.story import Story
else:
    # lazily, so that readers of facts or settings do not load the module that holds the bead's place
    __getattr__ = lazy_getattr(
        __name__,
        {
            "Fact": "facts",
            "History": "history",
            "JudgeAction": "judge",
            "JudgeCommand": "judge",
            "JudgeReplace": "judge",
            "JudgeUndo": "judge",
            "Referee": "base",
            "RefereeSettings": "settings",
            "Story": "story",
            "referee_for": "selection",
        },
    )

__all__ = [
    "Fact",
    "History",
    "JudgeAction",
    "JudgeCommand",
    "JudgeReplace",
    "JudgeUndo",
    "Referee",
    "RefereeSettings",
    "Story",
    "referee_for",
]

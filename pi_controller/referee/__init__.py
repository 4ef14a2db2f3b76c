"""The referee: mat events and the judge's commands in; actions of the game, fouls and questions to the judge out.

What it concludes are `Fact`s, which a journal keeps, and a `History` of them tells where the game stands. All times are
seconds of one clock, and randomness is passed in.

>>> from pi_controller.games import game
>>> from pi_controller.mat import Button
>>> from pi_controller.referee import Fact, History, JudgeAction, Referee, RefereeSettings, Story, referee_for
>>> rules = game("dakota")
>>> settings = RefereeSettings(preset="home")
>>> referee: Referee = referee_for(rules, settings, random_bytes=bytes)  # secrets.token_bytes at a table
>>> history = History(rules)
>>> for event in (Button(1.0, "toss_a"), JudgeAction(20.0, {"do": "hit", "found": True})):
...     facts: list[Fact] = history.decided(event, referee.decide)
...     story: Story = history.append(facts)
...     print([type(fact).__name__ for fact in facts], rules.sheet(story.state)["long"])
['Done'] {'A': 4, 'B': 0}
['Done'] {'A': 4, 'B': 4}

Nothing is ever deleted: what a judge takes back, or replaces, is followed by a fact that says so.

>>> from pi_controller.referee import JudgeCall, JudgeReplace, JudgeUndo
>>> def judged(call: JudgeCall) -> dict[str, int]:
...     return rules.sheet(history.append(history.decided(call, referee.decide)).state)["long"]
>>> judged(JudgeReplace(25.0, {"do": "hit", "found": False}))
{'A': 4, 'B': 0}
>>> judged(JudgeUndo(30.0, "it had been right"))  # what was replaced counts again
{'A': 4, 'B': 4}
"""

from typing import TYPE_CHECKING

from pi_controller.lazy import lazily

if TYPE_CHECKING:
    from pi_controller.referee.base import Referee
    from pi_controller.referee.facts import Fact
    from pi_controller.referee.history import History
    from pi_controller.referee.judge import JudgeAction, JudgeCall, JudgeReplace, JudgeUndo
    from pi_controller.referee.referees import referee_for
    from pi_controller.referee.settings import RefereeSettings
    from pi_controller.referee.story import Story
else:
    # lazily, so that who only reads facts or settings does not load what keeps the bead's place
    __getattr__ = lazily(
        __name__,
        {
            "Fact": "facts",
            "History": "history",
            "JudgeAction": "judge",
            "JudgeCall": "judge",
            "JudgeReplace": "judge",
            "JudgeUndo": "judge",
            "Referee": "base",
            "RefereeSettings": "settings",
            "Story": "story",
            "referee_for": "referees",
        },
    )

__all__ = [
    "Fact",
    "History",
    "JudgeAction",
    "JudgeCall",
    "JudgeReplace",
    "JudgeUndo",
    "Referee",
    "RefereeSettings",
    "Story",
    "referee_for",
]

"""The judge alone keeps a game: actions entered by hand, as on paper, for the games that no sensor watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.games.base import IllegalActionError
from pi_controller.mat.events import Link, MatEvent
from pi_controller.referee.facts import Done, Fact, LinkSeen, Undone
from pi_controller.referee.judge import JudgeAction, JudgeAnswer, JudgeCall, JudgeHideAgain, JudgeUndo
from pi_controller.referee.referee import Referee
from pi_controller.referee.settings import PLAYED

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Game
    from pi_controller.referee.settings import RefereeSettings
    from pi_controller.referee.story import Story


class PaperReferee:
    """One table's referee with the face of `Referee`, for any game: it follows the judge and concludes nothing itself.

    A board that happens to be there is known to be there, and what it feels means nothing. All times are seconds of
    one clock.
    """

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self._link: bool | None = None
        """What the board's link did while the table stood still, or None."""

    def decide(self, story: Story, event: MatEvent | JudgeCall, t: float | None = None) -> list[Fact]:  # noqa: ARG002
        """Return what follows from `event`: an action or an undo from the judge's call, the link from a mat event.

        A mat event never raises. A judge's call raises `InvalidActionError` or `IllegalActionError`.
        """
        match event:
            case JudgeAction(t=now, action=action):
                _, calls = self.game.play(story.state, action)
                return [Done(now, dict(action), calls, "judge")]
            case JudgeUndo(t=now, reason=reason):
                if not story.mark:
                    raise IllegalActionError("there is nothing to take back")
                return [Undone(now, story.mark, "judge", reason)]
            case JudgeAnswer():
                raise IllegalActionError("nothing is asked in this game", "enter what happened as an action")
            case JudgeHideAgain():
                raise IllegalActionError("there is no hide to start over in this game", "take back the last action")
            case Link(t=now, up=up, why=why):
                new = (up, "" if up else why) != (story.link, story.link_why)
                return [LinkSeen(now, up, why)] if new else []
            case _:
                return []

    def tick(self, story: Story, t: float) -> list[Fact]:  # noqa: ARG002
        """Return nothing: the judge keeps the time."""
        return []

    def due(self, story: Story) -> float | None:  # noqa: ARG002
        """Return None: `tick` never has anything to say."""
        return None

    def resume(self, story: Story, t: float) -> list[Fact]:
        """Return what follows from a restart: no board is there yet."""
        self._link = None
        return [LinkSeen(t, up=False, why="the controller restarted")] if story.link else []

    def sense(self, event: MatEvent) -> None:
        """Remember whether the board is there: for a table that stands still."""
        if isinstance(event, Link):
            self._link = event.up

    def catch_up(self, story: Story, t: float, why: str) -> list[Fact]:
        """Return what the link did while the table stood still until `t`."""
        link, self._link = self._link, None
        return [LinkSeen(t, link, why)] if link is not None and link != story.link else []


def referee_for(
    game: Game[Any], settings: RefereeSettings | None, random_bytes: Callable[[int], bytes]
) -> Referee | PaperReferee:
    """Return who referees `game` at a table: the mat's own referee where it plays the game, else the judge alone.

    `settings` and `random_bytes` as for `Referee`.
    """
    return Referee(game, settings, random_bytes) if game.name in PLAYED else PaperReferee(game)

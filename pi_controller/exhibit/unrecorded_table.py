"""A game at a table that keeps no journal: the same referee and rules, and nothing on any disk.

It is what the installation's own show and every session without recording are played on. With recording it is the
table of the project (`table.Table`) on a journal; a `VisitorGame` knows no difference.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol

from pi_controller.errors import MatError
from pi_controller.referee.facts import Fact, Opened
from pi_controller.referee.history import History
from pi_controller.referee.referees import referee_for
from pi_controller.table.view import View, view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_controller.games.base import Game
    from pi_controller.mat.events import MatEvent
    from pi_controller.referee.judge import JudgeCall
    from pi_controller.referee.settings import RefereeSettings

log = logging.getLogger(__name__)


class GameTable(Protocol):
    """A table as a `VisitorGame` needs it; see `table.Table`."""

    @property
    def view(self) -> View:
        """The public picture; the same object until something changes."""
        ...

    def mat_event(self, event: MatEvent) -> list[Fact]:
        """Take in what the mat felt; return the facts it gave rise to."""
        ...

    def tick(self, t: float) -> list[Fact]:
        """Let time pass to `t`; return the facts that follow."""
        ...

    def judge(self, call: JudgeCall) -> list[Fact]:
        """Do as the judge says; return the facts that follow. Raises `MatError` for what cannot be followed."""
        ...


class UnrecordedTable:
    """One game of `game` between `teams`, refereed as `settings` say, from `t` on; times are seconds of one clock."""

    def __init__(
        self,
        game: Game[Any],
        teams: Mapping[str, str],
        settings: RefereeSettings,
        random_bytes: Callable[[int], bytes],
        t: float,
    ) -> None:
        self.game = game
        self._history = History(game)
        self._referee = referee_for(game, settings, random_bytes)
        self._view: View | None = None
        self._append([Opened(t, game.name, game.version, game.source, dict(game.settings), dict(teams))])

    @property
    def view(self) -> View:
        """The public picture; the same object until something changes."""
        if self._view is None:
            story = self._history.now
            self._view = view_of(self.game, story, self._history.batch, unanswered=self._referee.unanswered(story))
        return self._view

    def mat_event(self, event: MatEvent) -> list[Fact]:
        """Take in what the mat felt; return the facts it gave rise to. Never raises for the event."""
        return self._concluded(lambda: self._history.decided(event, self._referee.decide))

    def tick(self, t: float) -> list[Fact]:
        """Let time pass to `t`; return the facts that follow."""
        return self._concluded(lambda: self._referee.tick(self._history.now, t))

    def judge(self, call: JudgeCall) -> list[Fact]:
        """Do as the judge says; return the facts that follow. Raises `MatError` for what cannot be followed."""
        return self._append(self._history.decided(call, self._referee.decide))

    def _concluded(self, conclude: Callable[[], list[Fact]]) -> list[Fact]:
        try:
            return self._append(conclude())
        except MatError as error:  # a session that cannot go on ends like one that was left
            log.warning("the referee cannot go on: %s", error.what)
            return []

    def _append(self, facts: list[Fact]) -> list[Fact]:
        if facts:
            self._history.append(facts)
            self._view = None
        return facts

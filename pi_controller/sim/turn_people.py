"""Base class of simulated players with ground truth by turn; a turn that starts over repeats no foul."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.sim.people import People
from pi_controller.sim.plans import Mischief, PaceName
from pi_controller.sim.turns import Turns, compare_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from pi_controller.games.base import Game
    from pi_controller.referee.facts import Fact
    from pi_controller.referee.judge import JudgeCall
    from pi_controller.sim.world import World


class TurnPeople(People):
    """The people of a game that is told by its score sheet."""

    def __init__(
        self,
        seed: int,
        world: World,
        press: Callable[[str], None],
        judge: Callable[[JudgeCall], None],
        *,
        game: Game[Any],
        pace: PaceName = "brisk",
        mischief: Mischief | None = None,
        truth: Turns | None = None,
    ) -> None:
        super().__init__(seed, world, press, judge, pace=pace, mischief=mischief)
        self.game = game
        self.truth = truth or Turns(seed)
        """What really happened."""
        self._over: set[int] = set()  # the hides that the judge lets start over

    def compare(self, facts: Iterable[Fact], game: Game[Any]) -> list[str]:
        """Return every disagreement between the truth and `facts`: see `turns.compare_turns`."""
        return compare_turns(self.truth, facts, game)

    def _allowed(self, hide: int) -> Mischief:
        """Return the mischief that this hide can have: once is enough."""
        return Mischief() if hide in self._over else self.mischief

    def _over_again(self, hide: int) -> str:
        """Let the hide start over; this time all goes as it should."""
        self._over.add(hide)
        return "hide_again"

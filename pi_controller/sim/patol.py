"""Simulated players of patol: starts of the horses, and throws of the sticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.games.patol import DIRECTIONS, RIVERS
from pi_controller.show.games.patol import SHOW
from pi_controller.sim.people import AGAIN_S
from pi_controller.sim.seeds import Stream, rng
from pi_controller.sim.throwers import Throwers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from pi_controller.table.view import View


def thrown(random: np.random.Generator) -> dict[str, Any]:
    """Return the action for a throw in which each stick falls by itself."""
    return {"do": "throw", "marked": int(random.binomial(3, 0.5))}


def start(seed: int, player: str, number: int) -> dict[str, Any]:
    """Return where and which way the horse of `player`, the one with this `number`, starts."""
    random = rng(seed, Stream.TOSS, number)
    river, direction = tuple(RIVERS)[int(random.integers(4))], tuple(DIRECTIONS)[int(random.integers(2))]
    return {"do": "start", "player": player, "river": river, "direction": direction}


class PatolThrowers(Throwers):
    """Throwers and judge of one table."""

    def _toss(self, view: View) -> Iterator[float]:
        return self._start([horse["player"] for horse in SHOW.sheet(view)["horses"] if horse["river"] is None])

    def _start(self, waiting: list[str]) -> Iterator[float]:
        """The next player chooses, knowing the throws of all who have had their turn."""
        yield 0.4
        number = len(self.game.sheet(self.game.opening())["horses"]) - len(waiting)
        begins = start(self.seed, waiting[0], number)
        turn = self.truth.turns.get(self._number)
        before = [action for action in turn.actions if action["do"] != "start"] if turn else []
        self.truth.did(self._number, *before, begins)
        while True:
            self._enter(begins)
            yield AGAIN_S


PEOPLE = PatolThrowers

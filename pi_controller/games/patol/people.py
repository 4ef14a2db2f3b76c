"""Simulated players of patol: starts of the horses, and throws of the sticks."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pi_controller.games.patol.display import SHOW
from pi_controller.games.patol.rules import DIRECTIONS, RIVERS
from pi_controller.simulation.conditions import Stream, rng
from pi_controller.simulation.people import RETRY_S
from pi_controller.simulation.throwing_people import Throwers
from pi_controller.table.view import View


def throw_action(random: np.random.Generator) -> dict[str, Any]:
    """Return the action of a random throw, each stick falling independently."""
    return {"do": "throw", "marked": int(random.binomial(3, 0.5))}


def start(seed: int, player: str, number: int) -> dict[str, Any]:
    """Return the start action of `player` with the horse number `number`."""
    random = rng(seed, Stream.TOSS, number)
    river, direction = tuple(RIVERS)[int(random.integers(4))], tuple(DIRECTIONS)[int(random.integers(2))]
    return {"do": "start", "player": player, "river": river, "direction": direction}


class PatolThrowers(Throwers):
    """Throwers and judge of one table."""

    def _turn_key(self, view: View) -> object:
        started = [horse["player"] for horse in SHOW.sheet(view)["horses"] if horse["river"] is not None]
        return super()._turn_key(view), len(started)

    def _toss(self, view: View) -> Iterator[float]:
        return self._start([horse["player"] for horse in SHOW.sheet(view)["horses"] if horse["river"] is None])

    def _start(self, waiting: list[str]) -> Iterator[float]:
        """Let the next player choose a start, after seeing the throws of all earlier ones."""
        yield 0.4
        number = len(self.game.sheet(self.game.opening())["horses"]) - len(waiting)
        begins = start(self.seed, waiting[0], number)
        turn = self.truth.turns.get(self._number)
        before = [action for action in turn.actions if action["do"] != "start"] if turn else []
        self.truth.record_actions(self._number, *before, begins)
        while True:
            self._enter(begins)
            yield RETRY_S


PEOPLE = PatolThrowers

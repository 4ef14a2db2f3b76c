"""Who sits at a simulated table, by the game that is played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.errors import UsageError
from pi_controller.games import registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Game
    from pi_controller.referee.judge import JudgeCall
    from pi_controller.sim.dakota import Players
    from pi_controller.sim.plans import Mischief, PaceName
    from pi_controller.sim.turn_people import TurnPeople
    from pi_controller.sim.world import World


def people_for(
    game: Game[Any],
    seed: int,
    world: World,
    press: Callable[[str], None],
    judge: Callable[[JudgeCall], None],
    *,
    pace: PaceName = "brisk",
    mischief: Mischief | None = None,
) -> Players | TurnPeople:
    """Return the people who play `game`: `PEOPLE` of its own module here; `UsageError` where it has none."""
    own = registry.floor(game.name, "sim")
    if own is None:
        raise UsageError(f"nobody plays {game.name} in a simulation", "it can be played at a table and on paper")
    if game.hand_passes:
        return own.PEOPLE(seed, world, press, judge, pace=pace, mischief=mischief)
    return own.PEOPLE(seed, world, press, judge, game=game, pace=pace, mischief=mischief)

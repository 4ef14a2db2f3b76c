"""Who sits at a simulated table, by the game that is played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.referee.story import HAMPA_APENA, THROWN
from pi_controller.sim.dakota import Players
from pi_controller.sim.ojibwe import OjibwePeople
from pi_controller.sim.slahal import BoneHolders
from pi_controller.sim.throwers import Throwers

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Game
    from pi_controller.referee.judge import JudgeCall
    from pi_controller.sim.plans import Mischief, PaceName
    from pi_controller.sim.turn_people import TurnPeople
    from pi_controller.sim.world import World

PEOPLE: dict[str, type[TurnPeople]] = {
    "ojibwe": OjibwePeople,
    "slahal": BoneHolders,
    **dict.fromkeys(THROWN, Throwers),
}


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
    """Return the people who play `game`."""
    if game.name == HAMPA_APENA:
        return Players(seed, world, press, judge, pace=pace, mischief=mischief)
    return PEOPLE[game.name](seed, world, press, judge, game=game, pace=pace, mischief=mischief)

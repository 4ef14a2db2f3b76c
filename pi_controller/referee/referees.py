"""Selects the referee of a game: `REFEREE` of its own module here, or the one for throws and the judge's word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.games import registry
from pi_controller.referee.commitment import Bound
from pi_controller.referee.throwing import Throwing

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Game
    from pi_controller.referee.base import Referee
    from pi_controller.referee.settings import RefereeSettings


def referee_for(
    game: Game[Any],
    settings: RefereeSettings | None,
    random_bytes: Callable[[int], bytes],
    bound: Callable[[], Bound] = Bound,
) -> Referee:
    """Return who referees `game` at a table: with the mat where there is one, with the judge alone where not.

    `settings`, `random_bytes` and `bound` as for `Referee`.
    """
    own = registry.floor(game.name, "referee")
    referee: type[Referee] = Throwing if own is None else own.REFEREE
    return referee(game, settings, random_bytes, bound)

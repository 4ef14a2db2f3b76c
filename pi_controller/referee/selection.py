"""Selects the referee of a game: `REFEREE` of its own module, or `ThrowReferee` for throws and games by hand."""

from collections.abc import Callable
from typing import Any

from pi_controller.referee.base import Referee
from pi_controller.referee.commitment import CommitmentContext
from pi_controller.referee.settings import RefereeSettings
from pi_controller.referee.throws import ThrowReferee
from pi_controller.rules import registry
from pi_controller.rules.base import Game


def referee_for(
    game: Game[Any],
    settings: RefereeSettings | None,
    random_bytes: Callable[[int], bytes],
    bound: Callable[[], CommitmentContext] = CommitmentContext,
) -> Referee:
    """Return a referee for `game`; it works with a mat or with the judge's entries alone.

    `settings`, `random_bytes` and `bound` as for `Referee`.
    """
    own = registry.game_module(game.name, "referee")
    referee: type[Referee] = ThrowReferee if own is None else own.REFEREE
    return referee(game, settings, random_bytes, bound)

"""Who referees which game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_controller.referee.commitment import Bound
from pi_controller.referee.dakota import DakotaReferee
from pi_controller.referee.ojibwe import OjibweReferee
from pi_controller.referee.slahal import Guessing
from pi_controller.referee.story import HAMPA_APENA, THROWN
from pi_controller.referee.throwing import Throwing

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_controller.games.base import Game
    from pi_controller.referee.base import Referee
    from pi_controller.referee.settings import RefereeSettings

REFEREES: dict[str, type[Referee]] = {
    HAMPA_APENA: DakotaReferee,
    "ojibwe": OjibweReferee,
    "slahal": Guessing,
    **dict.fromkeys(THROWN, Throwing),
}


def referee_for(
    game: Game[Any],
    settings: RefereeSettings | None,
    random_bytes: Callable[[int], bytes],
    bound: Callable[[], Bound] = Bound,
) -> Referee:
    """Return who referees `game` at a table: with the mat where there is one, with the judge alone where not.

    `settings`, `random_bytes` and `bound` as for `Referee`.
    """
    return REFEREES[game.name](game, settings, random_bytes, bound)

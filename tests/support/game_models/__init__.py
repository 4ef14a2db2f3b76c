"""Each game of the project once more: a short model of it, written from the rules page alone."""

from game_models.base import Model
from game_models.bowls import FishGame, PlumStones
from game_models.dakota import HampaApena
from game_models.ojibwe import Moccasin
from game_models.patol import Races
from game_models.slahal import Bones

MODELS: dict[str, type[Model]] = {
    "dakota": HampaApena,
    "ojibwe": Moccasin,
    "slahal": Bones,
    "bageswin": FishGame,
    "plum_stone": PlumStones,
    "patol": Races,
}

__all__ = ["MODELS", "Model"]

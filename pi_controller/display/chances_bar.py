"""Each side's chance of winning from the public view: a learning aid, shown only if the host turns it on.

The chances are solved once, before play; showing a view is a look-up. They depend on the public state alone, so the
bead's place cannot influence them, and they appear neither in the view nor in the journal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pi_controller.display.i18n import catalogue
from pi_controller.rules.base import Game
from pi_controller.rules.chances import FIRST_HIT_CHANCE, SECOND_HIT_CHANCE, solve

if TYPE_CHECKING:
    from pi_controller.table.view import View


@dataclass(frozen=True, slots=True)
class ShownChances:
    """The chance of winning, 0 to 1, of team A; team B has the rest.

    `first` and `second` are the chances of finding the bead that it was computed with.
    """

    chance: float
    first: float = FIRST_HIT_CHANCE
    second: float = SECOND_HIT_CHANCE

    @property
    def percents(self) -> tuple[int, int]:
        """Both chances in whole percent, together 100."""
        one = round(100 * self.chance)
        return one, 100 - one


class ChancesBar:
    """The chances of `game`, solved on creation. Raises `ChancesError` for a game without chances.

    `first` and `second` as for `rules.chances.solve`.
    """

    def __init__(self, game: Game[Any], first: float = FIRST_HIT_CHANCE, second: float = SECOND_HIT_CHANCE) -> None:
        self._solved = solve(game, first, second)
        self.finds = first, second
        """The chances that a first and a second hit find the bead."""

    def look_up(self, view: View) -> ShownChances | None:
        """Return the chances in `view`; None for another game, or one that is over or has not begun."""
        solved = self._solved
        if view.game != solved.game.name or not view.sheet:
            return None
        chance = solved.win_chance_of_sheet(view.sheet)
        return None if chance is None else ShownChances(chance, *self.finds)


def percents(chances: ShownChances, language: str = "en") -> tuple[str, str]:
    """Return both chances as texts; unless certain, 0 and 100 percent become `under 1 %` and `over 99 %`."""
    text = catalogue(language).gettext

    def percent_text(percent: int, *, sure: bool) -> str:
        if percent in {0, 100} and not sure:
            return text("under 1 %") if percent == 0 else text("over 99 %")
        return text("{n} %").format(n=percent)

    one, two = chances.percents
    sure = chances.chance in {0.0, 1.0}
    return percent_text(one, sure=sure), percent_text(two, sure=sure)


def basis(chances: ShownChances, language: str = "en") -> str:
    """Return the assumption behind the chances: `if a hit finds by luck alone: ...`."""
    text = catalogue(language).gettext
    # by luck: one of four pads, then one of three; a settings file rounds a third
    luck = abs(chances.first - FIRST_HIT_CHANCE) < 1e-3 and abs(chances.second - SECOND_HIT_CHANCE) < 1e-3
    percent_text = (
        text("if hitters guess by luck: first hit {first} %, second hit {second} %; no fouls")
        if luck
        else text("if the first hit finds the bead {first} % of the time and the second {second} %; no fouls")
    )
    return percent_text.format(first=f"{100 * chances.first:.3g}", second=f"{100 * chances.second:.3g}")

"""Each side's chance of winning from what the table shows: a learning aid, shown only where the host turns it on.

The chances are solved once, before play; a view is then looked up. They come from the public state alone, so the
bead's place cannot move them, and they are nowhere in the view or the journal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pi_controller.games.chances import FIRST, SECOND, beside
from pi_controller.show.game_show import show_of
from pi_controller.show.i18n import catalogue

if TYPE_CHECKING:
    from pi_controller.games.base import Game
    from pi_controller.table.view import View


@dataclass(frozen=True, slots=True)
class ShownChances:
    """The chance of winning, 0 to 1, of the first of two `players` (team letters, or names); the other has the rest.

    `first` and `second` are the chances of finding that it was computed with, where there is a bead to find.
    """

    game: str
    players: tuple[str, str]
    chance: float
    first: float = FIRST
    second: float = SECOND

    @property
    def percents(self) -> tuple[int, int]:
        """Both chances in whole percent, together 100."""
        one = round(100 * self.chance)
        return one, 100 - one

    @property
    def teams(self) -> bool:
        """Whether `players` are the letters of two teams."""
        return self.players == ("A", "B")


class ChancesBar:
    """The chances of `game`, solved when this is made: that may take seconds. Raises `ChancesError` for a game without.

    `first` and `second` as for `games.chances.solve`.
    """

    def __init__(self, game: Game[Any], first: float = FIRST, second: float = SECOND) -> None:
        self._solved = beside(game, first, second)
        self.finds = first, second
        """How often a first and a second hit find, where there is a bead to find."""

    def of(self, view: View) -> ShownChances | None:
        """Return the chances in `view`; None where there are none to tell: another game, over, not begun."""
        solved = self._solved
        if view.game != solved.game.name or not view.sheet:
            return None
        chance = solved.of_sheet(view.sheet)
        return None if chance is None else ShownChances(view.game, solved.players, chance, *self.finds)


def percents(chances: ShownChances, language: str = "en") -> tuple[str, str]:
    """Return both chances as texts; while the game goes on none is called 0 or 100 percent for being rounded."""
    text = catalogue(language).gettext

    def percent_text(percent: int, *, sure: bool) -> str:
        if percent in {0, 100} and not sure:
            return text("under 1 %") if percent == 0 else text("over 99 %")
        return text("{n} %").format(n=percent)

    one, two = chances.percents
    sure = chances.chance in {0.0, 1.0}
    return percent_text(one, sure=sure), percent_text(two, sure=sure)


def basis(chances: ShownChances, language: str = "en") -> str:
    """Return what the chances take for granted: `if a hit finds by luck alone: ...`."""
    text = catalogue(language).gettext
    if even := show_of(chances.game).if_even:
        return text(even)
    # by luck: as often as the pads say, four of them and then three; a settings file rounds a third
    luck = abs(chances.first - FIRST) < 1e-3 and abs(chances.second - SECOND) < 1e-3
    percent_text = (
        text("if a hit finds by luck alone: the first with {first} %, a second with {second} %; no fouls")
        if luck
        else text("if the first hit of a hide finds with {first} %, a second with {second} %; no fouls")
    )
    return percent_text.format(first=f"{100 * chances.first:.3g}", second=f"{100 * chances.second:.3g}")

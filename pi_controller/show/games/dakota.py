"""Hampa Apena: its words as they are called, with the sounds that the booklet gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pi_controller.games.dakota import DakotaSheet
from pi_controller.show.game_show import GameShow, Word
from pi_controller.show.i18n import catalogue, mark

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_controller.table.view import View


_WORDS = (
    Word(
        "paguga",
        "Paguga",
        "pa-goo-ga",
        "",
        mark("The bead was found on the second hit. A mistake of the hitters: it costs them four sticks, not two."),
        mark("chapter 4"),
        mark("the goo long and guttural"),
    ),
    Word(
        "wheya",
        "Wheya",
        "way-yaa",
        mark("going after"),
        mark("Only four sticks are left on the hitters’ side. The next hits may bring the hiding team a point."),
        mark("chapter 5"),
    ),
    Word(
        "yawapi",
        "Yawapi",
        "yaa-wop-pee",
        "",
        mark("The hiding team keeps six sticks, the hitters hold fourteen. The next hide is for a point."),
        mark("chapter 6"),
    ),
    Word(
        "sahdogan",
        "Sahdogan",
        "shaw-ha-doe-gaa",
        mark("eight"),
        mark("The hiding team keeps twelve sticks, the hitters hold eight. The next hide is for a point."),
        mark("chapter 7"),
        mark("the n silent"),
    ),
    Word(
        "eyeya",
        "Eyeya",
        "E-ye-ya",
        "",
        mark(
            "The last four sticks of the middle are won. If the bead is found on the next first hit, the hitters score."
        ),
        mark("chapter 8"),
        mark("with a long E"),
    ),
    Word(
        "eyeya_obojun",
        "Eyeya Obojun",
        "E-ye-ya-O-bow-jun",
        "",
        mark(
            "The hitting team found the bead on the first hit and wins the point. No other point goes to the hitters."
        ),
        mark("chapter 8"),
        mark("with a long E"),
    ),
    Word(
        "it_stays",
        mark("It stays"),
        "",
        "",
        mark("The bead was found on the first hit: no point. Each team keeps its sticks, and the finders hide."),
        mark("chapter 9"),
    ),
    Word(
        "obojun",
        "Obojun",
        "O-bow-jun",
        "",
        mark("A point: the hiding team is given a short stick."),
        mark("chapter 3"),
    ),
    Word("foul", mark("Foul"), "", "", mark("A rule was broken, and that settles the hide."), mark("chapter 12")),
    Word(
        "game",
        mark("Game"),
        "",
        "",
        mark("The game is won: by the last short stick that was needed, or by forfeit. The teams shake hands."),
        mark("chapter 2"),
    ),
)


class DakotaShow(GameShow[DakotaSheet]):
    """How the game is shown."""

    title: ClassVar[str] = "Hampa Apena"
    own_title: ClassVar[bool] = True
    whose: ClassVar[str] = mark("A game of the Dakota.")
    words: ClassVar[Mapping[str, Word]] = {word.call: word for word in _WORDS}

    def played(self, action: Mapping[str, Any], teams: Mapping[str, str], language: str = "en") -> str:
        """Return in a short sentence what an action does."""
        text = catalogue(language).gettext
        match action:
            case {"do": "hit", "found": bool(found), "pad": int(pad)}:
                return (text("Found under pad {pad}") if found else text("Missed at pad {pad}")).format(pad=pad)
            case {"do": "hit", "found": bool(found)}:
                return text("Found") if found else text("Missed")
            case {"do": "foul", "by": by}:
                return text("A foul of the hiders") if by == "hider" else text("A foul of the hitters")
            case _:
                return super().played(action, teams, language)

    def score(self, view: View, before: View) -> str:  # noqa: ARG002
        """Return each team's sticks, the middle, and the points."""
        return (
            f"A {view.long['A']:>2}  B {view.long['B']:>2}  middle {view.middle:>2}"
            f"  points {view.short['A']}:{view.short['B']}"
        )


SHOW = DakotaShow()

"""Hampa Apena: its words as they are called, with the sounds that the booklet gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pi_controller.show.game_show import GameShow, Word
from pi_controller.show.i18n import mark

if TYPE_CHECKING:
    from collections.abc import Mapping


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


class DakotaShow(GameShow):
    """How the game is shown."""

    title: ClassVar[str] = "Hampa Apena"
    own_title: ClassVar[bool] = True
    whose: ClassVar[str] = mark("A game of the Dakota.")
    words: ClassVar[Mapping[str, Word]] = {word.call: word for word in _WORDS}


SHOW = DakotaShow()

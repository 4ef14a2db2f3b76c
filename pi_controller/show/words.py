"""The words called at the table: how they are shown, how they sound, and what they mean in the game.

Sounds and literal meanings are those of the Hampa Apena booklet (chapters 3 to 9), a literal meaning only where the
booklet gives one. The sentences are ours. Nothing here is a translation, and nothing was invented.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pi_controller.show.i18n import catalogue, mark

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the table. Empty where the booklet says nothing; `source` is the chapter that explains it."""

    call: str
    shown: str
    sounds: str = ""
    literal: str = ""
    meaning: str = ""
    source: str = ""


_ALL = (
    Word(
        "paguga",
        "Paguga",
        "pa-goo-ga",
        "",
        mark("The bead was found on the second hit. A mistake of the hitters: it costs them four sticks, not two."),
        mark("chapter 4"),
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
        mark("The last short stick that was needed is won. The teams shake hands."),
        mark("chapter 2"),
    ),
)
WORDS: Mapping[str, Word] = {word.call: word for word in _ALL}
"""Every word of `dakota`, by its name on the score sheet."""

_GAMES = {"dakota": "Hampa Apena"}


def plain(key: str) -> str:
    """Return a key as words: `high_ball` -> `High ball`."""
    return key.replace("_", " ").capitalize()


def game_name(game: str) -> str:
    """Return what the game is called on the page."""
    return _GAMES.get(game, plain(game))


def word(call: str, language: str = "en") -> Word:
    """Return the word for a call of the score sheet in `language`; one that is not known is shown as it is written."""
    known = WORDS.get(call)
    if known is None:
        return Word(call, plain(call))
    text = catalogue(language).gettext
    return replace(
        known,
        shown=text(known.shown),
        literal=text(known.literal) if known.literal else "",
        meaning=text(known.meaning),
        source=text(known.source),
    )

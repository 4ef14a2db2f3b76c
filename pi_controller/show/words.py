"""The words called at the table: how they are shown, how they sound, and what they mean in the game.

Sounds, what is noted of them, and literal meanings are those of the Hampa Apena booklet (chapters 3 to 9), each only
where the booklet gives one. The other games' words are the English ones of their sources. The sentences are ours.
Nothing here is a translation, and nothing was invented.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pi_controller.games import registry
from pi_controller.show.i18n import catalogue, mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the table. Empty where its source says nothing; `source` is the chapter, rule or heading of it.

    `sounds` is how the source spells the sound, `note` what it adds to that.
    """

    call: str
    shown: str
    sounds: str = ""
    literal: str = ""
    meaning: str = ""
    source: str = ""
    note: str = ""

    @property
    def spoken(self) -> str:
        """How it sounds, with the note on it; nothing where the source gives neither."""
        return ", ".join(filter(None, (self.sounds, self.note)))


_ALL = (
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
WORDS: Mapping[str, Word] = {word.call: word for word in _ALL}
"""Every word of `dakota`, by its name on the score sheet."""
_SOUNDS_BY = mark(
    "The sounds are as Grady Renville’s booklet gives them: close to the Dakota, and by an author who does not call "
    "himself an expert in the language."
)
"""Chapter 3, before the words."""

_OJIBWE = (
    Word(
        "double",
        mark("Double"),
        meaning=mark("The hitters have three shooting sticks or fewer: a find pays none, a miss pays them all."),
        source=mark("DGR-13, rules 21 to 24"),
    ),
    Word(
        "found",
        mark("Found"),
        meaning=mark("The marked ball was under the pad that was hit."),
        source=mark("DGR-13, rules 5 and 7"),
    ),
    Word(
        "missed",
        mark("Missed"),
        meaning=mark("The marked ball was not where the shooter hit, or it lay under a pad that was opened."),
        source=mark("DGR-13, rules 6 and 17"),
    ),
    Word(
        "high_ball",
        mark("High ball"),
        meaning=mark("Found after opening a pad. A miss on this pad now pays eight, on its pair six."),
        source=mark("DGR-13, rules 7 to 11"),
    ),
    Word(
        "short_stick",
        mark("Short stick"),
        meaning=mark("The hiders hold all twenty counters: one game, and a short stick."),
        source=mark("DGR-13, rules 27 and 28"),
    ),
    Word(
        "game",
        mark("Game"),
        meaning=mark("The whole game is won: by the last short stick that was needed, or by forfeit."),
        source=mark("DGR-13, rule 29"),
    ),
)
_SLAHAL = (
    Word(
        "catch",
        mark("Catch"),
        meaning=mark("Every unmarked bone still out was guessed. No stick moves: the guessers win the bones and hide."),
        source=mark("Game Play, 1"),
    ),
    Word(
        "miss",
        mark("Miss"),
        meaning=mark("No unmarked bone was guessed. The hiders win a stick for each pair that was out."),
        source=mark("Game Play, 2"),
    ),
    Word(
        "split",
        mark("One caught, one missed"),
        meaning=mark("The caught pair is given up; for the missed one the hiders win a stick and hide again."),
        source=mark("Game Play, 3"),
    ),
    Word(
        "sweep",
        mark("Clean sweep"),
        meaning=mark("One team holds all ten dead sticks and the king stick, before the time is up."),
        source=mark("Scoring"),
    ),
)
_PATOL = (
    Word(
        "killed",
        mark("Killed"),
        meaning=mark("A horse came into the notch where another lay: that other goes back to its start."),
        source=mark("Pa-tol Stick Game, Lummis"),
    ),
)
GAME_WORDS: Mapping[str, Mapping[str, Word]] = {
    "dakota": WORDS,
    "ojibwe": {word.call: word for word in _OJIBWE},
    "slahal": {word.call: word for word in _SLAHAL},
    "patol": {word.call: word for word in _PATOL},
}
"""The words of each game that calls any, from Mille Lacs DGR-13, the Lahal rules and Fletcher's Indian Hazard Games."""
_OF_NO_SOURCE = {
    "forfeit": Word("forfeit", mark("Forfeit"), meaning=mark("One side withdraws, does not come or is disqualified.")),
    "game": Word("game", mark("Game"), meaning=mark("The game is won.")),
}
"""Words that are called in every game, where the game's own source has them not."""

_GAMES = {
    "dakota": "Hampa Apena",
    "ojibwe": mark("Mille Lacs Moccasin Game"),
    "slahal": "Lahal (Slahal)",
    "bageswin": mark("Bageswin (Fish Game)"),
    "plum_stone": mark("Plum Stone Game"),
    "patol": "Pa-tol",
}
_OWN_NAMES = {"dakota", "slahal", "patol"}
"""The games whose name here is their own, in every language."""
_WHOSE = {
    "dakota": mark("A game of the Dakota."),
    "ojibwe": mark("A game of the Mille Lacs Band of Ojibwe."),
    "slahal": mark("A game of the Indigenous Peoples of the Pacific Coast."),
    "bageswin": mark("A game of the Mille Lacs Band of Ojibwe."),
    "plum_stone": mark("A game of the Omaha and kindred tribes."),
    "patol": mark("A Pueblo game."),
}
"""Whose each game is, by the name that its source gives them."""


def plain(key: str) -> str:
    """Return a key as words: `high_ball` -> `High ball`."""
    return key.replace("_", " ").capitalize()


def game_name(game: str, language: str = "en") -> str:
    """Return what the game is called on the page."""
    name = _GAMES.get(game) or plain(game)
    return name if game in _OWN_NAMES else catalogue(language).gettext(name)


def credit(game: str, language: str = "en") -> str:
    """Return whose game it is, and who wrote down the reading of it that is played here (`Game.source`)."""
    text = catalogue(language).gettext
    whose = text(_WHOSE[game]) if game in _WHOSE else ""
    source = registry.kind(game).source
    return " ".join(filter(None, (whose, text("The rules as written down: {source}").format(source=source))))


def word(call: str, language: str = "en", game: str = "dakota") -> Word:
    """Return the word for a call of `game`'s score sheet in `language`; one not known is shown as it is written."""
    known = GAME_WORDS.get(game, {}).get(call) or _OF_NO_SOURCE.get(call)
    if known is None:
        return Word(call, plain(call))
    text = catalogue(language).gettext
    return replace(
        known,
        shown=known.shown if known.sounds else text(known.shown),  # Dakota words are Dakota in every language
        literal=text(known.literal) if known.literal else "",
        meaning=text(known.meaning),
        source=text(known.source) if known.source else "",
        note=text(known.note) if known.note else "",
    )


def sounds_by(calls: Iterable[str], language: str = "en", game: str = "dakota") -> str:
    """Return by whom it is how any of `calls` sounds, one sentence; nothing where they are English words."""
    known = GAME_WORDS.get(game, {})
    told = any(known[call].sounds for call in calls if call in known)
    return catalogue(language).gettext(_SOUNDS_BY) if told else ""


def glossary(game: str, language: str = "en") -> list[str]:
    """Return each word called in `game` with its sound and meaning, a line each, then by whom the sounds are."""
    lines: list[str] = []
    for call in GAME_WORDS.get(game, {}):
        known = word(call, language, game)
        literal = f" “{known.literal}”" if known.literal else ""
        spoken = f" ({known.spoken})" if known.spoken else ""
        lines.append(f"{known.shown}{spoken}{literal}: {known.meaning} ({known.source})")
    return [*lines, *filter(None, [sounds_by(GAME_WORDS.get(game, {}), language, game)])]

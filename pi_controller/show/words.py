"""Glossary of the words called at the table: display form, pronunciation and meaning.

Sounds, what is noted of them, and literal meanings are those of the Hampa Apena booklet (chapters 3 to 9), each only
where the booklet gives one. The other games' words are the English ones of their sources. The sentences are ours.
Nothing here is a translation, and nothing was invented.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pi_controller.games import registry
from pi_controller.show.game_show import Word, plain, show_of
from pi_controller.show.i18n import catalogue, mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_SOUNDS_BY = mark(
    "The sounds are as Grady Renville’s booklet gives them: close to the Dakota, and by an author who does not call "
    "himself an expert in the language."
)
"""Chapter 3, before the words."""
_OF_NO_SOURCE = {
    "forfeit": Word("forfeit", mark("Forfeit"), meaning=mark("One side withdraws, does not come or is disqualified.")),
    "game": Word("game", mark("Game"), meaning=mark("The game is won.")),
}
"""Words that are called in every game, where the game's own source has them not."""


def game_name(game: str, language: str = "en") -> str:
    """Return what the game is called on the page."""
    show = show_of(game)
    name = show.title or plain(game)
    return name if show.own_title or not show.title else catalogue(language).gettext(name)


def credit(game: str, language: str = "en") -> str:
    """Return whose game it is, and who wrote down the reading of it that is played here (`Game.source`)."""
    text = catalogue(language).gettext
    whose = text(show_of(game).whose) if show_of(game).whose else ""
    source = registry.kind(game).source
    return " ".join(filter(None, (whose, text("The rules as written down: {source}").format(source=source))))


def words_of(game: str) -> Mapping[str, Word]:
    """Return the words called in `game` by their calls."""
    return show_of(game).words


def word(call: str, language: str = "en", game: str = registry.DEFAULT) -> Word:
    """Return the word for a call of `game`'s score sheet in `language`; one not known is shown as it is written."""
    known = words_of(game).get(call) or _OF_NO_SOURCE.get(call)
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


def sounds_by(calls: Iterable[str], language: str = "en", game: str = registry.DEFAULT) -> str:
    """Return by whom it is how any of `calls` sounds, one sentence; nothing where they are English words."""
    known = words_of(game)
    sounds_known = any(known[call].sounds for call in calls if call in known)
    return catalogue(language).gettext(_SOUNDS_BY) if sounds_known else ""


def glossary(game: str, language: str = "en") -> list[str]:
    """Return each word called in `game` with its sound and meaning, a line each, then by whom the sounds are."""
    lines: list[str] = []
    for call in words_of(game):
        known = word(call, language, game)
        literal = f" “{known.literal}”" if known.literal else ""
        spoken = f" ({known.spoken})" if known.spoken else ""
        lines.append(f"{known.shown}{spoken}{literal}: {known.meaning} ({known.source})")
    return [*lines, *filter(None, [sounds_by(words_of(game), language, game)])]

"""The bracket on the wall of the hall, in parts of a few matches, whose names are read at the back of the hall.

A part has matches of one round, or of several short ones. It fills a screen of 16:9 while a name of `WHOLE_CHARS`
letters has capitals of 1/40 of the screen's width: on a picture 3 m wide they are read from 15 m. The page shortens
longer names where they do not fit, since only a browser knows how wide a text is.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pi_controller.display.i18n import Translator
from pi_controller.tournament import Competition, TournamentState
from pi_controller.web.bracket_page import Slot, drawn_matches, find_elimination, make_slots, name_place, name_round

MAX_ROWS = 4
"""Maximum rows of a part: a heading is one, matches beside each other are one."""
WHOLE_CHARS = 20
"""Names of at most this many letters are never shortened. If one is longer, matches are not beside each other."""


class WallMatch(NamedTuple):
    """A match of a part; `name` is its place in its round ("" for the only one)."""

    match: str
    name: str
    slots: tuple[Slot, Slot]
    ready: bool


class WallRound(NamedTuple):
    """A round, or some of its matches, with its name as the heading."""

    name: str
    matches: Sequence[WallMatch]

    def rows(self, columns: int) -> int:
        """Return how many rows it takes if so many matches are beside each other."""
        return 1 + -(-len(self.matches) // columns)


class WallPart(NamedTuple):
    """A part of the bracket; `is_current` if one of its matches can be played, or if it has the champion."""

    rounds: Sequence[WallRound]
    columns: int
    is_current: bool


def wall_parts(competition: Competition, state: TournamentState, tr: Translator) -> tuple[WallPart, ...]:
    """Return the parts of a bracket, from the first round to the final; () if the tournament has no bracket (yet)."""
    cup, its_state = find_elimination(competition, state)
    if cup is None or not its_state.teams:
        return ()
    columns = 2 if max(map(len, its_state.teams)) <= WHOLE_CHARS else 1
    pairings = {pairing.id: pairing for pairing in cup.pairings(its_state)}
    rounds: dict[str, list[WallMatch]] = {}
    for match in drawn_matches(cup, its_state):
        pairing = pairings[match.id]
        slots = make_slots(cup, its_state, match, pairing, tr)
        shown = WallMatch(match.id, name_place(pairing, tr), slots, pairing.open)
        rounds.setdefault(name_round(cup, pairing, tr), []).append(shown)
    last = next(reversed(rounds)) if cup.champion(its_state) is not None else ""

    def is_current(part: Sequence[WallRound]) -> bool:
        return any(one.name == last or any(match.ready for match in one.matches) for one in part)

    split = [part for name, matches in rounds.items() for part in _split_round(name, matches, columns)]
    return tuple(WallPart(part, columns, is_current(part)) for part in _fill_parts(split, columns))


def _split_round(name: str, matches: Sequence[WallMatch], columns: int) -> Iterator[WallRound]:
    """Yield a round in as few pieces of nearly the same size as fit in a part each."""
    pieces = -(-len(matches) // ((MAX_ROWS - 1) * columns))
    ends = [len(matches) * n // pieces for n in range(pieces + 1)]
    return (WallRound(name, matches[first:end]) for first, end in pairwise(ends))


def _fill_parts(rounds: Sequence[WallRound], columns: int) -> list[list[WallRound]]:
    """Return rounds together in parts; from the end on, so that the final is with those before it."""
    parts: list[list[WallRound]] = []
    for one in reversed(rounds):
        if parts and sum(each.rows(columns) for each in (one, *parts[0])) <= MAX_ROWS:
            parts[0].insert(0, one)
        else:
            parts.insert(0, [one])
    return parts

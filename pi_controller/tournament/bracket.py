"""Elimination brackets as graphs of matches, single and double, for two or more teams.

Each team of a match comes from a `Source`: a seed, or the winner or the loser of an earlier match. A bracket is laid
out for the next power of two, with byes for the missing seeds, so that the best seeds have them; then every match with
a bye is removed, so that each match of a `Bracket` is played.

Double elimination: losers drop into the losers' bracket so that two teams meet again as late as possible. Each round
uses one of four orders (`_ORDERS`, found by search over the exact probability of a rematch), and the two losers of the
winners' semi-finals, who can never have met, play each other rather than a survivor each. With random results the mean
number of rematches before the losers' final is .25 for 8 teams, .31 for 16, .33 for 32, .31 for 64; no choice of orders
alone gets below .40 for 16.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

Side = Literal["winners", "losers", "third", "final"]


@dataclass(frozen=True, slots=True)
class Seed:
    """The team with this seed, counted from 1."""

    number: int


@dataclass(frozen=True, slots=True)
class WinnerOf:
    """The winner of a match."""

    match: str


@dataclass(frozen=True, slots=True)
class LoserOf:
    """The loser of a match."""

    match: str


@dataclass(frozen=True, slots=True)
class Bye:
    """A missing team: its opponent advances without a match."""


Source = Seed | WinnerOf | LoserOf | Bye


@dataclass(frozen=True, slots=True)
class Match:
    """A match of a bracket: the sources of its two teams, its side and round. Rounds count from 1 on each side."""

    id: str
    a: Source
    b: Source
    side: Side
    round: int


@dataclass(frozen=True, slots=True)
class Bracket:
    """All matches of an elimination, each after those that its teams come from. `teams` are those of the drawing.

    `reset` is the second match of a double elimination's final, which is played only if the team from the losers' side
    won the first; None in a single elimination.
    """

    teams: int
    matches: tuple[Match, ...]
    reset: Match | None


FINAL, RESET = "F1", "F2"
THIRD = "P3"
"""The match for third place."""

_ORDERS: dict[int, tuple[str, ...]] = {
    2: (),
    4: (),
    8: ("natural",),
    16: ("reverse", "natural"),
    32: ("reverse_half", "reverse", "natural"),
    64: ("reverse", "half", "reverse_half", "natural"),
    128: ("reverse_half", "reverse", "half", "natural", "natural"),
}
"""Order in which the losers of each winners' round from the second on drop, by the size of the bracket."""


@cache
def single(teams: int, late: tuple[int, ...] = (), third_place: bool = False) -> Bracket:
    """Build a single elimination of `teams` teams; the last match is on the side `final`. Raises `ValueError`.

    Late teams take the byes against the seeds that `late` are drawn for, in that order: every other match keeps its id.

    With `third_place` the losers of the semi-finals play the match before it, on the side `third`; if there are fewer
    than four teams there is no such match.
    """
    winners = _winners(_size(teams))
    *rest, last = (match for matches in winners for match in matches)
    if third_place and len(winners) > 1:
        first, second = (LoserOf(match.id) for match in winners[-2])
        rest.append(Match(THIRD, first, second, "third", 1))
    return _remove_byes(teams, late, [*rest, Match(FINAL, last.a, last.b, "final", 1)], None)


@cache
def double(teams: int, late: tuple[int, ...] = ()) -> Bracket:
    """Build a double elimination of `teams` teams: 2n - 2 matches, and the reset. Raises `ValueError`.

    `late` as in `single`.
    """
    size = _size(teams)
    winners = _winners(size)
    losers = _losers(winners, size)
    last = LoserOf(winners[-1][0].id) if not losers else WinnerOf(losers[-1][0].id)
    final = Match(FINAL, WinnerOf(winners[-1][0].id), last, "final", 1)
    matches = [match for matches in (*winners, *losers) for match in matches]
    return _remove_byes(teams, late, [*matches, final], Match(RESET, final.a, final.b, "final", 2))


def match_steps(matches: Iterable[Match]) -> dict[str, int]:
    """Return the step of each of `matches`, which are in the order of a bracket: 1, or 1 after those it depends on.

    >>> match_steps(single(8).matches)["F1"], match_steps(double(8).matches)["F1"]
    (3, 6)
    """
    steps: dict[str, int] = {}
    for match in matches:
        before = [steps[one.match] for one in (match.a, match.b) if isinstance(one, WinnerOf | LoserOf)]
        steps[match.id] = 1 + max(before, default=0)
    return steps


def seed_order(size: int) -> tuple[int, ...]:
    """Return the seeds from top to bottom of a bracket of `size`, a power of two: 1 and 2 can only meet in the final.

    >>> seed_order(8)
    (1, 8, 4, 5, 2, 7, 3, 6)
    """
    order = [1]
    while len(order) < size:
        total = 2 * len(order) + 1
        order = [seed for best in order for seed in (best, total - best)]
    return tuple(order)


def empty_seeds(teams: int, late: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Return the seeds that a late team can take in a bracket of `teams` teams.

    >>> empty_seeds(5), empty_seeds(5, (6,)), empty_seeds(8)
    ((6, 7, 8), (7, 8), ())
    """
    return tuple(number for number in range(teams + 1, _size(teams) + 1) if number not in late)


def _size(teams: int) -> int:
    if teams < 2:
        raise ValueError(f"a bracket is of two teams or more, not {teams}")
    return 1 << (teams - 1).bit_length()


def _winners(size: int) -> list[list[Match]]:
    sources: list[Source] = [Seed(number) for number in seed_order(size)]
    rounds: list[list[Match]] = []
    while len(sources) > 1:
        matches = _round("W", "winners", len(rounds) + 1, _neighbours(sources))
        rounds.append(matches)
        sources = [WinnerOf(match.id) for match in matches]
    return rounds


def _losers(winners: list[list[Match]], size: int) -> list[list[Match]]:
    """Return the losers' rounds: alternately the survivors among themselves, and against those who drop."""
    if len(winners) < 2:
        return []
    rounds: list[list[Match]] = []

    def play(pairs: list[tuple[Source, Source]]) -> list[Source]:
        matches = _round("L", "losers", len(rounds) + 1, pairs)
        rounds.append(matches)
        return [WinnerOf(match.id) for match in matches]

    survivors: list[Source] = [LoserOf(match.id) for match in winners[0]]
    survivors = play(_neighbours(survivors))
    orders = _orders(size)
    for number, matches in enumerate(winners[1:]):
        dropped: list[Source] = [LoserOf(match.id) for match in matches]
        if len(dropped) == 2:  # of the semi-finals
            (first, second) = play([(survivors[0], survivors[1]), (dropped[0], dropped[1])])
            survivors = play([(first, second)])
        elif len(dropped) == 1:
            survivors = play([(survivors[0], dropped[0])])
        else:
            survivors = play(list(zip(survivors, _reorder_sources(dropped, orders[number]), strict=True)))
            survivors = play(_neighbours(survivors))
    return rounds


def _orders(size: int) -> tuple[str, ...]:
    """Return the orders of a bracket of `size`; larger ones than in the table add rounds in reverse order."""
    if size in _ORDERS:
        return _ORDERS[size]
    return ("reverse", *_orders(size // 2))


def _reorder_sources(sources: list[Source], order: str) -> list[Source]:
    half = len(sources) // 2
    match order:
        case "reverse":
            return sources[::-1]
        case "half":
            return sources[half:] + sources[:half]
        case "reverse_half":
            return sources[:half][::-1] + sources[half:][::-1]
        case _:
            return sources


def _neighbours(sources: list[Source]) -> list[tuple[Source, Source]]:
    return list(zip(sources[::2], sources[1::2], strict=True))


def _round(letter: str, side: Side, number: int, pairs: list[tuple[Source, Source]]) -> list[Match]:
    return [Match(f"{letter}{number}-{place}", a, b, side, number) for place, (a, b) in enumerate(pairs, 1)]


def _remove_byes(teams: int, late: tuple[int, ...], matches: list[Match], reset: Match | None) -> Bracket:
    """Build the bracket without byes: a match with a bye passes its team on, and empty rounds are dropped.

    The matches of a round keep their order and are renumbered; those of late teams are numbered after them.
    """
    kept = _played_matches(empty_seeds(teams, late), matches)
    rounds = _number_rounds(match for match, _, _ in kept)
    ids = _number_matches(teams, late, matches)
    renamed = [
        Match(
            ids[match.id],
            _renumber_source(a, ids),
            _renumber_source(b, ids),
            match.side,
            rounds[match.side, match.round],
        )
        for match, a, b in kept
    ]
    if reset is not None:
        final = renamed[-1]
        reset = Match(reset.id, final.a, final.b, "final", 2)
    return Bracket(teams, tuple(renamed), reset)


def _number_matches(teams: int, late: tuple[int, ...], matches: list[Match]) -> dict[str, str]:
    """Return the id of each match that is played, by its id in the full bracket; no late team changes an id."""
    ids = _number_matches(teams, late[:-1], matches) if late else {}
    kept = [match for match, _, _ in _played_matches(empty_seeds(teams, late), matches)]
    rounds = _number_rounds(kept)
    places = Counter(known.partition("-")[0] for known in ids.values())
    for match in (one for one in kept if one.id not in ids):
        name = f"{match.id[0]}{rounds[match.side, match.round]}"
        places[name] += 1
        ids[match.id] = match.id if match.side in {"third", "final"} else f"{name}-{places[name]}"
    return ids


def _played_matches(empty: Sequence[int], matches: list[Match]) -> list[tuple[Match, Source, Source]]:
    """Return the matches that are played if the seeds `empty` have no team, each with its two sources."""
    stands: dict[Source, Source] = {Seed(number): Bye() for number in empty}
    kept: list[tuple[Match, Source, Source]] = []
    for match in matches:
        a, b = stands.get(match.a, match.a), stands.get(match.b, match.b)
        if isinstance(a, Bye) or isinstance(b, Bye):
            stands[WinnerOf(match.id)] = b if isinstance(a, Bye) else a
            stands[LoserOf(match.id)] = Bye()
        else:
            kept.append((match, a, b))
    return kept


def _number_rounds(matches: Iterable[Match]) -> dict[tuple[Side, int], int]:
    """Return the number of each round that has a match, by its side and its number in the full bracket."""
    numbers: dict[tuple[Side, int], int] = {}
    for match in matches:
        if (match.side, match.round) not in numbers:
            numbers[match.side, match.round] = 1 + sum(side == match.side for side, _ in numbers)
    return numbers


def _renumber_source(source: Source, ids: dict[str, str]) -> Source:
    match source:
        case WinnerOf(match):
            return WinnerOf(ids[match])
        case LoserOf(match):
            return LoserOf(ids[match])
        case _:
            return source

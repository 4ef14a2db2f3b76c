"""The bracket on the wall of the hall, in parts: each is drawn in letters that can be read at the back of the hall.

A part fills a screen of 16:9 while its letters are 1/45 of the screen's width. A bracket of more matches is cut between
rounds, and rounds of many matches into groups that lead to the same later matches. All texts have one size; the page
shortens those that are longer than their place, since only a browser knows how wide a text is.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from pi_controller.display.i18n import Translator
from pi_controller.tournament import Competition, TournamentState
from pi_controller.tournament.bracket import Match, WinnerOf
from pi_controller.tournament.elimination import Elimination
from pi_controller.web.bracket_page import (
    Box,
    Drawing,
    Grid,
    Heading,
    connect,
    drawn_matches,
    find_elimination,
    make_box,
    place_matches,
)

FONT = 15
"""Size of every text, in units of the drawing."""
MAX_HEIGHT = 300
"""Height of a part, in units: the page's header and footer take the rest of a screen of 16:9."""
MAX_ROWS = 4
"""Maximum matches below each other."""
GRIDS = {3: Grid(196, 44, 217, 54), 2: Grid(296, 44, 334, 54), 1: Grid(440, 44, 478, 54)}
"""The grid for each number of columns; the widest part takes 632 of the 45 * FONT units of a screen's width."""
MAX_CHARS_IN_THREE = 16
"""If a team's name is longer, a part has two columns instead of three, which are wider."""
ID_WIDTH = 52
"""Width of the place for a match's number at the left of its box."""
_LINE, _GAP = 22, 14
"""Height of a line of text above the matches, and the distance of two blocks."""


class Block(NamedTuple):
    """Matches that are drawn together, each with its column; `title` says which of the bracket they are."""

    title: str
    columns: Mapping[Match, int]
    rounds: Sequence[str]


class WallPart(NamedTuple):
    """A part of the bracket; `is_current` if one of its matches can be played, or if it has the champion."""

    drawing: Drawing
    grid: Grid
    is_current: bool


def wall_parts(competition: Competition, state: TournamentState, tr: Translator) -> tuple[WallPart, ...]:
    """Return the parts of a bracket, from the first round to the final; () if the tournament has no bracket (yet)."""
    cup, its_state = find_elimination(competition, state)
    if cup is None or not its_state.teams:
        return ()
    count = 3 if max(map(len, its_state.teams)) <= MAX_CHARS_IN_THREE else 2
    pages: list[list[Block]] = []
    for block in _blocks(cup, its_state, count, tr):
        if pages and sum(map(_height, (*pages[-1], block))) + _GAP * len(pages[-1]) <= MAX_HEIGHT:
            pages[-1].append(block)
        else:
            pages.append([block])
    return tuple(_draw(cup, its_state, blocks, tr) for blocks in pages)


def _blocks(cup: Elimination, state: TournamentState, count: int, tr: Translator) -> Iterator[Block]:
    """Yield the blocks of a bracket, each of `count` columns or fewer."""
    matches = drawn_matches(cup, state)
    sides = {side: [match for match in matches if match.side == side] for side in ("winners", "losers", "final")}
    third = [match for match in matches if match.side == "third"]
    if cup.kind == "single":
        tracks = [("", _rounds([*sides["winners"], *sides["final"]]))]
    else:
        titles = {"winners": tr.text("Winners' side"), "losers": tr.text("Losers' side"), "final": ""}
        tracks = [(title, _rounds(sides[side])) for side, title in titles.items()]
    for title, rounds in tracks:
        names = [_round_name(matches[0], tr) for matches in rounds]
        for first, end in _windows(len(rounds), count) if rounds else ():
            groups = _group_trees(_trees(rounds[first:end]))
            for n, columns in enumerate(groups, 1):
                part = tr.text("Part {part} of {parts}", part=n, parts=len(groups)) if len(groups) > 1 else ""
                block = Block(" · ".join(filter(None, (title, part))), columns, names[first:end])
                if third and end == len(rounds):
                    block = block._replace(columns={**columns, third[0]: end - first - 1})
                yield block


def _rounds(matches: Sequence[Match]) -> list[list[Match]]:
    """Return the matches of a side by round; the final of a single elimination is the round after the last."""
    found: dict[tuple[bool, int], list[Match]] = {}
    for match in matches:
        found.setdefault((match.side == "final", match.round), []).append(match)
    return list(found.values())


def _round_name(match: Match, tr: Translator) -> str:
    if match.side != "final":
        return tr.text("Round {number}", number=match.round)
    return tr.text("Final") if match.round == 1 else tr.text("Second match")


def _windows(rounds: int, count: int) -> list[tuple[int, int]]:
    """Return as few windows of at most `count` rounds as there can be, as [first, end); the later ones are longer."""
    windows = -(-rounds // count)
    ends = [rounds * n // windows for n in range(windows + 1)]
    return list(pairwise(ends))


def _trees(rounds: Sequence[Sequence[Match]]) -> list[dict[Match, int]]:
    """Return the matches of consecutive rounds with their columns, as trees: a last match and those before it."""
    column = {match.id: (match, n) for n, matches in enumerate(rounds) for match in matches}
    left = dict(column)

    def grow(match: Match, n: int) -> dict[Match, int]:
        del left[match.id]
        sources = [source.match for source in (match.a, match.b) if isinstance(source, WinnerOf)]
        found: dict[Match, int] = {}
        for source in sources:
            if source in left:
                found |= grow(*left[source])
        return {**found, match: n}

    return [grow(match, n) for match, n in reversed(column.values()) if match.id in left][::-1]


def _group_trees(trees: Sequence[dict[Match, int]]) -> list[dict[Match, int]]:
    """Return trees together, in as few groups of nearly the same size as there can be."""
    rows = max(max(list(tree.values()).count(n) for n in tree.values()) for tree in trees)
    groups = -(-len(trees) // max(1, MAX_ROWS // rows))
    ends = [len(trees) * n // groups for n in range(groups + 1)]
    return [{match: n for tree in trees[first:end] for match, n in tree.items()} for first, end in pairwise(ends)]


def _top(block: Block) -> int:
    return _LINE * (2 if block.title else 1)


def _place(block: Block, top: float, grid: Grid) -> dict[str, tuple[int, float]]:
    """Return the positions of a block's matches; the match for third place is below the final."""
    bracket = {match: n for match, n in block.columns.items() if match.side != "third"}
    at = place_matches(bracket, top, grid)
    for match, n in block.columns.items():
        if match.side == "third":
            at[match.id] = (n * grid.column, max(y for x, y in at.values() if x == n * grid.column) + grid.row + _LINE)
    return at


def _height(block: Block) -> float:
    grid = GRIDS[3]  # all are of the same height
    return max(y for _, y in _place(block, _top(block), grid).values()) + grid.height


def _draw(cup: Elimination, state: TournamentState, blocks: Sequence[Block], tr: Translator) -> WallPart:
    columns = max(len(block.rounds) for block in blocks)
    grid = GRIDS[columns]
    pairings = {pairing.id: pairing for pairing in cup.pairings(state)}
    boxes: list[Box] = []
    lines: list[str] = []
    headings: list[Heading] = []
    top = 0.0
    for block in blocks:
        at = _place(block, top + _top(block), grid)
        headings += [Heading(block.title, 0, top + FONT, large=True)] if block.title else []
        headings += [
            Heading(name, n * grid.column, top + _top(block) - _LINE + FONT) for n, name in enumerate(block.rounds)
        ]
        for match in block.columns:
            x, y = at[match.id]
            boxes.append(make_box(cup, state, match, pairings[match.id], (x, y), tr))
            lines += connect(match, at, grid)
            if match.side == "third":
                headings.append(Heading(tr.text("Third place"), x, y - _LINE + FONT))
        top += _height(block) + _GAP
    width = (columns - 1) * grid.column + grid.width + 2
    champion = cup.champion(state) is not None and any(match.side == "final" for match in blocks[-1].columns)
    drawn = Drawing(width, top - _GAP + 2, tuple(boxes), tuple(lines), tuple(headings))
    return WallPart(drawn, grid, champion or any(box.ready for box in boxes))

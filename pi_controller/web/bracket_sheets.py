"""The drawn bracket: each side has its own pages, divided into halves and rounds if it is too large for one."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pi_controller.display.i18n import Translator
from pi_controller.tournament import Competition, Pairing, TournamentState
from pi_controller.tournament.bracket import Match, WinnerOf
from pi_controller.tournament.elimination import Elimination
from pi_controller.web.bracket_page import (
    Slot,
    bracket_values,
    drawn_matches,
    find_elimination,
    make_slots,
    name_in_round,
    name_match,
)
from pi_controller.web.templates import render

_CSS = Path(__file__).parent / "static" / "bracket.css"
MAX_ROWS, MAX_COLUMNS = 8, 6
"""Most matches of a round and most rounds on a page: each name may have two lines, on A4 and on Letter."""


class Cell(NamedTuple):
    """A cell of a page's table: a match with its name and lines, a line to the next match (`fork`, `line`) or a gap."""

    look: str
    rows: int = 2
    name: str = ""
    slots: tuple[Slot, ...] = ()


class BracketPage(NamedTuple):
    """A page: its heading, the number of its rounds, and the rows of its table."""

    heading: str
    columns: int
    rows: list[list[Cell]]


def page(competition: Competition, state: TournamentState, title: str, tr: Translator) -> str:
    """Return the page of a tournament as HTML for screen and print, self-contained; `title` is the organiser's."""
    return render(
        "bracket.html",
        tr,
        title=title,
        css=_CSS.read_text("utf-8"),
        sheets=bracket_sheets(competition, state, tr),
        **bracket_values(competition, state, tr),
    )


def bracket_sheets(competition: Competition, state: TournamentState, tr: Translator) -> list[BracketPage]:
    """Return the pages of the elimination of a tournament, if it has its teams: winners' side, losers' side, final."""
    cup, its_state = find_elimination(competition, state)
    return _list_pages(cup, its_state, tr) if cup is not None and its_state.teams else []


def _list_pages(competition: Elimination, state: TournamentState, tr: Translator) -> list[BracketPage]:
    matches = drawn_matches(competition, state)
    pairings = {pairing.id: pairing for pairing in competition.pairings(state)}
    pages: list[BracketPage] = []
    for side, columns in _list_sides(competition, matches, tr):
        parts = divide(columns)
        for number, part in enumerate(parts, 1):
            heading = side
            if len(parts) > 1:
                heading = ": ".join(filter(None, (side, _name_rounds(part, tr))))
                heading = tr.text("{heading} ({number} of {count})", heading=heading, number=number, count=len(parts))
            cells = {match: _make_cell(competition, state, match, part, pairings, tr) for match in part}
            pages.append(BracketPage(heading, len(set(part.values())), _arrange(part, cells)))
    return pages


def _list_sides(
    competition: Elimination, matches: list[Match], tr: Translator
) -> Iterator[tuple[str, dict[Match, int]]]:
    """Yield the name of each part of a bracket, and {match: column}; a single elimination is one part."""
    if competition.kind == "single":
        last = max((match.round for match in matches if match.side == "winners"), default=0) + 1
        yield "", {match: match.round if match.side == "winners" else last for match in matches}
        return
    for side, name in (
        ("winners", tr.text("Winners' side")), ("losers", tr.text("Losers' side")), ("final", tr.text("Final"))
    ):  # fmt: skip
        if columns := {match: match.round for match in matches if match.side == side}:
            yield name, columns


def _name_rounds(part: Iterable[Match], tr: Translator) -> str:
    rounds = {match.round for match in part if match.side in {"winners", "losers"}}
    if any(match.side == "final" for match in part):
        return tr.text("Round {number} to the final", number=min(rounds)) if rounds else tr.text("Final")
    if len(rounds) == 1:
        return tr.text("Round {number}", number=min(rounds))
    return tr.text("Rounds {first} to {last}", first=min(rounds), last=max(rounds))


def divide(columns: Mapping[Match, int]) -> list[dict[Match, int]]:
    """Divide a part of a bracket into pages: first into trees with `MAX_ROWS` matches a round, then by rounds."""
    numbers = sorted(set(columns.values()))
    if _count_rows(columns) > MAX_ROWS:
        for number in reversed(numbers):
            early = {match: column for match, column in columns.items() if column <= number}
            late = {match: column for match, column in columns.items() if column > number}
            trees = [_tree(match, early) for match in _find_last(early)]
            lonely = len(set(late.values())) == 1 and number > numbers[0]  # the last round joins the one before it
            if max(map(_count_rows, trees)) <= MAX_ROWS and not lonely:
                return [page for part in [*_join(trees), late] if part for page in divide(part)]
    if len(numbers) > MAX_COLUMNS:
        pages = -(-len(numbers) // MAX_COLUMNS)
        step = -(-len(numbers) // pages)
        pieces = [numbers[at : at + step] for at in range(0, len(numbers), step)]
        return [{match: column for match, column in columns.items() if column in piece} for piece in pieces]
    return [dict(columns)]


def _count_rows(columns: Mapping[Match, int]) -> int:
    return max(Counter(columns.values()).values(), default=0)


def _join(trees: list[dict[Match, int]]) -> list[dict[Match, int]]:
    """Put neighbouring trees together while they fit on a page."""
    joined: list[dict[Match, int]] = []
    for tree in trees:
        if joined and _count_rows(joined[-1] | tree) <= MAX_ROWS:
            joined[-1] |= tree
        else:
            joined.append(dict(tree))
    return joined


def _list_feeders(match: Match, columns: Mapping[Match, int]) -> list[Match]:
    """Return the matches of `columns` whose winners play `match`, in the order of its teams."""
    known = {one.id: one for one in columns}
    found = [known.get(source.match) for source in (match.a, match.b) if isinstance(source, WinnerOf)]
    return [one for one in found if one is not None and columns[one] < columns[match]]


def _find_last(columns: Mapping[Match, int]) -> list[Match]:
    """Return the matches of `columns` that feed no other of them, that for third place last."""
    feeding = {one for match in columns for one in _list_feeders(match, columns)}
    return sorted((match for match in columns if match not in feeding), key=lambda match: match.side == "third")


def _tree(match: Match, columns: Mapping[Match, int]) -> dict[Match, int]:
    """Return a match with all of `columns` that lead to it."""
    below: dict[Match, int] = {}
    for one in _list_feeders(match, columns):
        below |= _tree(one, columns)
    return below | {match: columns[match]}


def _make_cell(
    competition: Elimination,
    state: TournamentState,
    match: Match,
    columns: Mapping[Match, int],
    pairings: Mapping[str, Pairing],
    tr: Translator,
) -> Cell:
    """Return the cell of `match`; a place to which a line leads is left free for a pen."""
    pairing, ids = pairings[match.id], {one.id for one in _list_feeders(match, columns)}
    slots = tuple(
        slot._replace(text="") if isinstance(source, WinnerOf) and source.match in ids and not slot.known else slot
        for slot, source in zip(make_slots(competition, state, match, pairing, tr), (match.a, match.b), strict=True)
    )
    name = name_match(competition, pairing, tr)
    if match.side in {"winners", "losers"}:  # the heading names the side
        name = name_in_round(tr.text("Round {number}", number=match.round), match.id, tr)
    return Cell("match ready" if pairing.open else "match", name=name, slots=slots)


def _arrange(columns: Mapping[Match, int], cells: Mapping[Match, Cell]) -> list[list[Cell]]:
    """Return the rows of the table that shows `cells`: each match has two, a later one in the middle of its feeders."""
    placed: dict[tuple[int, int], Cell] = {}
    last = 2 * (len(set(columns.values())) - 1)

    def place(match: Match, top: int, column: int) -> tuple[int, int]:
        """Place `match` and those that lead to it from the row `top` on; return its middle and the row after them."""
        middles: list[int] = []
        below = top
        for one in _list_feeders(match, columns):
            middle, below = place(one, below, column - 2)
            middles.append(middle)
        middle = sum(middles) // len(middles) if middles else top + 1
        if middles:
            first, end = middles[0], middles[-1]
            placed[first, column - 1] = Cell("fork", end - first) if end > first else Cell("line", 1)
        placed[middle - 1, column] = cells[match]
        return middle, max(below, top + 2)

    rows = middle = 0
    for match in _find_last(columns):
        top = middle + 1 if match.side == "third" else rows
        middle, below = place(match, top, last)
        rows = max(rows, below)
    taken = {(top + n, column) for (top, column), cell in placed.items() for n in range(cell.rows)}
    return [
        [
            placed.get((row, column), Cell("gap", 1))
            for column in range(last + 1)
            if (row, column) in placed or (row, column) not in taken
        ]
        for row in range(rows)
    ]

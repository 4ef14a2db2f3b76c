"""A list of teams as a spreadsheet writes it: a line a team, its name first, then its players."""

from __future__ import annotations

import csv
import io

from pi_controller.games.base import InvalidActionError
from pi_controller.tournament.decisions import Entry

MOST_BYTES = 1 << 20
_HEADINGS = frozenset({"team", "name", "teams"})


def read_teams(data: bytes) -> tuple[Entry, ...]:
    """Return the teams in `data`: UTF-8 with or without a mark at its beginning, commas or semicolons or tabs between.

    A first line whose first field is `team` or `name` is the heading. Raises `InvalidActionError`: what is no UTF-8 is
    not guessed, for a letter guessed wrongly is somebody's name.
    """
    if len(data) > MOST_BYTES:
        raise InvalidActionError("this is too long for a list of teams", "send at most 1 MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidActionError(
            f"line {line} is not UTF-8 (it may be Latin-1)", "save the list once more as 'CSV UTF-8', then send that"
        ) from error
    if "\0" in text:
        raise InvalidActionError("this is no text", "save the list as 'CSV UTF-8'")
    first = text.partition("\n")[0]
    between = max(",;\t", key=first.count)
    rows = [[field.strip() for field in row] for row in csv.reader(io.StringIO(text), delimiter=between)]
    rows = [row for row in rows if any(row)]
    if rows and rows[0][0].casefold() in _HEADINGS:
        rows = rows[1:]
    if not rows:
        raise InvalidActionError("there is no team in this list", "a line a team: its name, then its players")
    for number, row in enumerate(rows, 1):
        if not row[0]:
            raise InvalidActionError(f"team {number} has no name", "its name comes first, then its players")
    return tuple(Entry(row[0], tuple(field for field in row[1:] if field)) for row in rows)

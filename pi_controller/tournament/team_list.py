"""Parse a list of teams from a spreadsheet: one line a team, its name first, then its players."""

import csv
import io
import re

from pi_controller.rules.base import InvalidActionError
from pi_controller.text import format_value
from pi_controller.tournament.decisions import Entry
from pi_controller.tournament.teams import look_alike_key, reject_unclear_names

MAX_LIST_BYTES = 1 << 20
_HEADINGS = frozenset({"team", "name", "teams"})


def read_teams(data: bytes) -> tuple[Entry, ...]:
    """Return the teams in `data`: UTF-8 with or without a BOM, separated by commas, semicolons or tabs.

    A first line whose first field is `team` or `name` is a heading. Raises `InvalidActionError`, also for other
    encodings: a wrong guess would misspell people's names.
    """
    if len(data) > MAX_LIST_BYTES:
        raise InvalidActionError("the list of teams is too long", "send at most 1 MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidActionError(
            f"line {line} is not UTF-8 (it may be Latin-1)", "save the list again as 'CSV UTF-8', then send that"
        ) from error
    if "\0" in text:
        raise InvalidActionError("this is not a text file", "save the list as 'CSV UTF-8'")
    if (alone := re.search(r"\r(?!\n)", text)) is not None:
        raise InvalidActionError(
            f"line {text.count(chr(10), 0, alone.start()) + 1} has a carriage return in the middle",
            "save the list again as 'CSV UTF-8', whose lines end in LF or CR LF",
        )
    first = text.partition("\n")[0]
    between = max(",;\t", key=first.count)
    rows = _rows(text, between)
    if rows and rows[0][1][0].casefold() in _HEADINGS:
        rows = rows[1:]
    if not rows:
        raise InvalidActionError(
            "there is no team in this list", "write one line for each team: its name, then its players"
        )
    lines: dict[str, int] = {}
    for number, (line, row) in enumerate(rows, 1):
        if not row[0]:
            raise InvalidActionError(f"team {number} has no name", "its name comes first, then its players")
        try:
            reject_unclear_names(row[:1], "team")
            reject_unclear_names(filter(None, row[1:]), "player")
        except InvalidActionError as error:
            raise InvalidActionError(f"line {line}: {error.message}", error.hint) from error
        first = lines.setdefault(look_alike_key(row[0]), line)
        if first != line:
            name = next(fields[0] for number, fields in rows if number == first)
            raise InvalidActionError(
                f"lines {first} and {line}: two teams are called {format_value(name)}", "give one of them another name"
            )
    return tuple(Entry(row[0], tuple(field for field in row[1:] if field)) for _, row in rows)


def _rows(text: str, between: str) -> list[tuple[int, list[str]]]:
    """Return the non-empty rows, each with its last line's number. Raises `InvalidActionError`."""
    found: list[tuple[int, list[str]]] = []
    reader = csv.reader(io.StringIO(text), delimiter=between)
    while True:
        try:
            row = [field.strip() for field in next(reader)]
        except StopIteration:
            return found
        except csv.Error as error:
            raise InvalidActionError(
                f"line {reader.line_num}: a field has more than {csv.field_size_limit()} characters",
                "check that each quotation mark is closed",
            ) from error
        if any(row):
            found.append((reader.line_num, row))

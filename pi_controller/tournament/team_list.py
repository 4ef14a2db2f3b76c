"""Parse a list of teams as spreadsheets and forms save it: one line a team, its name first, then its players."""

import csv
import io
import re

from pi_controller.rules.base import InvalidActionError
from pi_controller.text import format_value
from pi_controller.tournament.decisions import Entry
from pi_controller.tournament.team_names import look_alike_key, reject_unclear_names

MAX_LIST_BYTES = 1 << 20
_SEPARATORS = ",;\t"
_TEAM = re.compile(r"(the )?(team|teams|team ?name|name of (the )?team|name)")
_PLAYER = re.compile(r"(team )?(captain|leader|player|players|member|members|participant|participants)( ?names?)?")
_OTHER = re.compile(
    r"(no|nr|number|seed|rank|#|timestamp|time|date|e-?mail( address)?|phone( number)?|notes?|comments?)"
)
_PLAYERS_IN_A_CELL = re.compile(r"[,;\n]")
Row = tuple[int, list[str]]
"""The number of a row's last line, and its fields."""


def read_teams(data: bytes) -> tuple[Entry, ...]:
    """Return the teams in `data`: UTF-8 with or without a BOM, separated by commas, semicolons or tabs.

    The separator is that of a first line such as `sep=;`, else the one that divides most rows. A row of headings such
    as `Team name, Captain, Players` names the columns, and others are left out; a title above it is skipped. Without
    headings the name comes first. All players may stand in one cell, separated by commas, semicolons or line ends.
    Raises `InvalidActionError`, also for other encodings: a wrong guess would misspell people's names.
    """
    if len(data) > MAX_LIST_BYTES:
        raise InvalidActionError("the list of teams is too long", "send at most 1 MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidActionError(
            "line {line} is not UTF-8 (it may be Latin-1)",
            "save the list again as 'CSV UTF-8', then send that",
            line=line,
        ) from error
    if "\0" in text:
        raise InvalidActionError("this is not a text file", "save the list as 'CSV UTF-8'")
    if (alone := re.search(r"\r(?!\n)", text)) is not None:
        raise InvalidActionError(
            "line {value} has a carriage return in the middle",
            "save the list again as 'CSV UTF-8', whose lines end in LF or CR LF",
            value=text.count(chr(10), 0, alone.start()) + 1,
        )
    rows = _teams(_read_rows(text))
    if not rows:
        raise InvalidActionError(
            "there is no team in this list", "write one line for each team: its name, then its players"
        )
    lines: dict[str, int] = {}
    for number, (line, row) in enumerate(rows, 1):
        if not row[0]:
            raise InvalidActionError(
                "team {number} has no name", "its name comes first, then its players", number=number
            )
        try:
            reject_unclear_names(row[:1], "team")
            reject_unclear_names(filter(None, row[1:]), "player")
        except InvalidActionError as error:
            raise InvalidActionError(
                "line {line}: {problem}", "{hint}", line=line, problem=error.message, hint=error.hint
            ) from error
        first = lines.setdefault(look_alike_key(row[0]), line)
        if first != line:
            name = next(fields[0] for number, fields in rows if number == first)
            raise InvalidActionError(
                "lines {first} and {line}: two teams are called {name}",
                "give one of them another name",
                first=first,
                line=line,
                name=format_value(name),
            )
    return tuple(Entry(row[0], tuple(field for field in row[1:] if field)) for _, row in rows)


def _read_rows(text: str) -> list[Row]:
    """Return the non-empty rows by the separator on which most rows agree. Raises `InvalidActionError`."""
    first, _, rest = text.partition("\n")
    if named := re.fullmatch(r'"?sep=(.)"?\r?', first, re.IGNORECASE):
        return [(line + 1, row) for line, row in _rows(rest, named[1])]
    tried = {between: _rows(text, between) for between in _SEPARATORS}

    def agreement(between: str) -> tuple[int, int]:
        counts = [len(row) for _, row in tried[between]]
        return sum(count > 1 for count in counts), max(map(counts.count, counts), default=0)

    return tried[max(_SEPARATORS, key=agreement)]


def _teams(rows: list[Row]) -> list[Row]:
    """Return the rows with the team's name first, then its players, by the row of headings if there is one."""
    for n, (_, cells) in enumerate(rows[:2]):
        named = [" ".join(re.sub(r"[\d.:()]+", " ", cell.casefold()).split()) for cell in cells]
        known = [name for name in named if _TEAM.fullmatch(name) or _PLAYER.fullmatch(name) or _OTHER.fullmatch(name)]
        team = next((at for at, name in enumerate(named) if _TEAM.fullmatch(name)), None)
        if team is not None and len(known) == sum(map(bool, named)):
            players = [at for at, name in enumerate(named) if at != team and not _OTHER.fullmatch(name)]
            rows = [
                (line, [row[at] if at < len(row) else "" for at in (team, *players)] + row[len(cells) :])
                for line, row in rows[n + 1 :]
            ]
            break
        if sum(map(bool, cells)) > 1:
            break  # only a title stands above the headings
    return [(line, [row[0], *_split_players(row[1:])]) for line, row in rows]


def _split_players(cells: list[str]) -> list[str]:
    filled = [cell for cell in cells if cell]
    if len(filled) == 1:
        return [name.strip() for name in _PLAYERS_IN_A_CELL.split(filled[0]) if name.strip()]
    return filled


def _rows(text: str, between: str) -> list[Row]:
    """Return the non-empty rows, each with its last line's number. Raises `InvalidActionError`."""
    found: list[Row] = []
    reader = csv.reader(io.StringIO(text), delimiter=between)
    while True:
        try:
            row = [field.strip() for field in next(reader)]
        except StopIteration:
            return found
        except csv.Error as error:
            raise InvalidActionError(
                "line {line_num}: a field has more than {field_size_limit} characters",
                "check that each quotation mark is closed",
                line_num=reader.line_num,
                field_size_limit=csv.field_size_limit(),
            ) from error
        if any(row):
            found.append((reader.line_num, row))

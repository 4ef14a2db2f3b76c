"""Exports a game from its journal: as a record, as a score sheet in JSON or CSV, and as a sheet to print."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from pathlib import Path

import msgspec

from pi_controller.errors import MatError, describe_error
from pi_controller.host.pdf import write_pdf
from pi_controller.journal.read_record import read_journal_record
from pi_controller.journal.sheet import Sheet
from pi_controller.record.writing import write
from pi_controller.text import strip_controls, strip_controls_deep


class ExportError(MatError, OSError):
    """The game cannot be written to that place."""

    code = "export"


def as_json(sheet: Sheet) -> str:
    """Return the score sheet as one JSON object."""
    return (
        msgspec.json.format(msgspec.json.encode(strip_controls_deep(msgspec.to_builtins(asdict(sheet))))).decode()
        + "\n"
    )


CSV_COLUMNS = ("time_s", "turn", "side", "kind", "what", "calls", "by", "counts")
"""The first columns of every game; after them one for each count of the score sheet, such as `sticks.A`."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of texts that a spreadsheet takes for formulas."""


def as_csv(sheet: Sheet) -> str:
    """Return the score sheet as CSV for a spreadsheet: a row for each line, with the sticks after it.

    It begins with a byte order mark, by which spreadsheets recognise UTF-8; lines end as RFC 4180 requires; a text that
    a spreadsheet would take for a formula gets an apostrophe in front.
    """
    rules = sheet.rules
    states = [
        {f"{unit}.{side}" if side else unit: n for unit, side, n in rules.scoreboard(line.state).list_counts()}
        if line.state
        else {}
        for line in sheet.lines
    ]
    counted = list(dict.fromkeys(name for state in states for name in state))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in (*CSV_COLUMNS, *counted)])
    for line, state in zip(sheet.lines, states, strict=True):
        first = (
            line.t, line.turn, line.side, line.kind, line.what, " ".join(line.calls), line.by,
            "yes" if line.counts else "no",
        )  # fmt: skip
        writer.writerow([_cell(value) for value in (*first, *(state.get(name, "") for name in counted))])
    return "\ufeff" + out.getvalue()


def _cell(value: str | float) -> str | float:
    if not isinstance(value, str):
        return value
    text = strip_controls(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def write_all(file: Path, folder: Path, sheet: Sheet, printed: str, *, pdf: bool = False) -> list[Path]:
    """Write the exports of the journal `file` with the score sheet `sheet` to `folder`; return their paths.

    `printed` is the sheet to print, as HTML. Raises `ExportError`, and with `pdf` as `write_pdf`.
    """
    name = file.stem
    texts = {
        f"{name}.record": write(read_journal_record(str(file))),
        f"{name}.json": as_json(sheet),
        f"{name}.csv": as_csv(sheet),
        f"{name}.html": printed,
    }
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, text in texts.items():
            path = folder / ending
            path.write_text(text, "utf-8")
            written.append(path)
    except OSError as error:
        raise ExportError(f"cannot write to {folder}: {describe_error(error)}", "choose a writable folder") from error
    if pdf:
        written.append(write_pdf(printed, folder / f"{name}.pdf"))
    return written

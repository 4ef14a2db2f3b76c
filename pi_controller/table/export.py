"""Exports a game from its journal: as a record, as a score sheet in JSON or CSV, as a sheet to print."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
from dataclasses import asdict
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from pi_controller.errors import MatError
from pi_controller.games.wording import all_printable, printable
from pi_controller.record.writing import write
from pi_controller.table.printed import Wording, page
from pi_controller.table.record import kept_in
from pi_controller.table.sheet import columns

if TYPE_CHECKING:
    from pathlib import Path

    from pi_controller.table.printed import Paper
    from pi_controller.table.sheet import Sheet

BROWSERS = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
PRINT_S = 120.0
"""How long the browser may take to print, s; a Pi is slow to start one."""


class ExportError(MatError, OSError):
    """The game cannot be written out there."""

    code = "export"


def as_json(sheet: Sheet) -> str:
    """Return the score sheet as one JSON object."""
    return msgspec.json.format(msgspec.json.encode(all_printable(msgspec.to_builtins(asdict(sheet))))).decode() + "\n"


CSV_COLUMNS = ("record", "event", "time_s", "turn", "side", "kind", "what", "calls", "by", "counts")
"""The first columns of every game; behind them one for each count of the score sheet, `long.A`."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With these a text would begin that a spreadsheet takes for a formula."""


def as_csv(sheet: Sheet) -> str:
    """Return the score sheet as CSV for a spreadsheet: a row for each line of it, with the sticks after it.

    It begins with the mark by which spreadsheets know UTF-8, lines end as RFC 4180 wants them, and a text that would
    be a formula stands behind an apostrophe.
    """
    states = [{_named(what, whose): held for what, whose, held in columns(line.state)} for line in sheet.lines]
    counted = list(dict.fromkeys(name for state in states for name in state))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in (*CSV_COLUMNS, *counted)])
    for line, state in zip(sheet.lines, states, strict=True):
        first = (
            line.seq, line.batch, line.t, line.turn, line.side, line.kind, line.what, " ".join(line.calls), line.by,
            "yes" if line.counts else "no",
        )  # fmt: skip
        writer.writerow([_cell(value) for value in (*first, *(state.get(name, "") for name in counted))])
    return "\ufeff" + out.getvalue()


def _named(what: str, whose: str) -> str:
    return f"{what}.{whose}" if whose else what


def _cell(value: str | float) -> str | float:
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def write_all(
    file: Path,
    folder: Path,
    sheet: Sheet,
    paper: Paper,
    *,
    pdf: bool,
    wording: Wording = Wording(),  # noqa: B008
) -> list[Path]:
    """Write the game of the journal `file`, whose score sheet is `sheet`, to `folder`; return the files.

    Raises `ExportError`.
    """
    name = file.stem
    texts = {
        f"{name}.record": write(kept_in(str(file))),
        f"{name}.json": as_json(sheet),
        f"{name}.csv": as_csv(sheet),
        f"{name}.html": page(sheet, paper, wording),
    }
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, text in texts.items():
            path = folder / ending
            path.write_text(text, "utf-8")
            written.append(path)
    except OSError as error:
        raise ExportError(f"cannot write to {folder}: {error.strerror}", "name a folder that may be written") from error
    if pdf:
        written.append(print_pdf(folder / f"{name}.html", folder / f"{name}.pdf"))
    return written


def print_pdf(html: Path, pdf: Path) -> Path:
    """Have the machine's Chromium print `html` to `pdf`; return it. Raises `ExportError`."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise ExportError("there is no Chromium here to make a PDF", f"open {html} in any browser and print it")
    with TemporaryDirectory() as profile:
        command = [
            browser, "--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={profile}", f"--print-to-pdf={pdf.absolute()}",
        ]  # fmt: skip
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium does not start for root with one; the page has no scripts
        try:
            done = subprocess.run(
                [*command, html.absolute().as_uri()], capture_output=True, timeout=PRINT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ExportError(f"Chromium did not print: {error}", f"open {html} in any browser and print it") from error
    if done.returncode or not pdf.is_file():
        raise ExportError("Chromium did not print the sheet", f"open {html} in any browser and print it")
    return pdf

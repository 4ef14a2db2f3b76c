"""Exports a game from its journal: as a record, as a score sheet in JSON or CSV, and as a sheet to print."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from pi_controller.errors import MatError, describe_error
from pi_controller.host.platform import is_root
from pi_controller.journal.printed_sheet import Paper, Wording, page
from pi_controller.journal.read_record import read_journal_record
from pi_controller.journal.sheet import Sheet
from pi_controller.record.writing import write
from pi_controller.text import strip_controls, strip_controls_deep

BROWSERS = ("google-chrome", "chromium", "chromium-headless-shell", "chromium-browser")
"""Google's own comes first: Ubuntu 24.04 gives it alone a sandbox that a plain user may use."""
PRINT_S = 120.0
"""Time limit for printing, s; a Pi is slow to start a browser."""


class ExportError(MatError, OSError):
    """The game cannot be written to that place."""

    code = "export"


def as_json(sheet: Sheet) -> str:
    """Return the score sheet as one JSON object."""
    return (
        msgspec.json.format(msgspec.json.encode(strip_controls_deep(msgspec.to_builtins(asdict(sheet))))).decode()
        + "\n"
    )


CSV_COLUMNS = ("record", "event", "time_s", "turn", "side", "kind", "what", "calls", "by", "counts")
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
            line.seq, line.batch, line.t, line.turn, line.side, line.kind, line.what, " ".join(line.calls), line.by,
            "yes" if line.counts else "no",
        )  # fmt: skip
        writer.writerow([_cell(value) for value in (*first, *(state.get(name, "") for name in counted))])
    return "\ufeff" + out.getvalue()


def _cell(value: str | float) -> str | float:
    if not isinstance(value, str):
        return value
    text = strip_controls(value)
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
    """Write the exports of the journal `file` with the score sheet `sheet` to `folder`; return their paths.

    Raises `ExportError`.
    """
    name = file.stem
    texts = {
        f"{name}.record": write(read_journal_record(str(file))),
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
        raise ExportError(f"cannot write to {folder}: {describe_error(error)}", "choose a writable folder") from error
    if pdf:
        written.append(print_pdf(folder / f"{name}.html", folder / f"{name}.pdf"))
    return written


def print_pdf(html: Path, pdf: Path) -> Path:
    """Print `html` to `pdf` with the first Chromium of this machine that can; return `pdf`. Raises `ExportError`."""
    hint = f"open {html} in any browser and print it"
    browsers = list(filter(None, map(shutil.which, BROWSERS)))
    if not browsers:
        raise ExportError("there is no Chromium here to make a PDF", hint)
    faults: list[str] = []
    for browser in browsers:
        if not (fault := _print_with(browser, html, pdf)):
            return pdf
        faults.append(f"{Path(browser).name}: {fault}")
    raise ExportError(f"the sheet was not printed; {'; '.join(faults)}", hint)


def _print_with(browser: str, html: Path, pdf: Path) -> str:
    """Print `html` to `pdf`; return why it failed, "" if all is well."""
    with TemporaryDirectory() as profile:
        command = [
            browser, "--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={profile}", f"--print-to-pdf={pdf.absolute()}",
        ]  # fmt: skip
        if is_root():
            command.append("--no-sandbox")  # Chromium does not start for root with a sandbox; the page has no scripts
        try:
            done = subprocess.run(
                [*command, html.absolute().as_uri()], capture_output=True, timeout=PRINT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no PDF within {PRINT_S:.0f} s"
        except OSError as error:
            return describe_error(error)
    if done.returncode == 0 and pdf.is_file():
        return ""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    if lines and "No usable sandbox" in lines[-1]:
        return "this system gives it no sandbox (Debian: apt install chromium-sandbox)"
    return lines[-1] if lines else f"exit status {done.returncode}"

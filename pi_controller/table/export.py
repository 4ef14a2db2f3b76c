"""`moccasin-mat export`: a game written out of its journal: as a record, as a score sheet in JSON, as a sheet to
print."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import msgspec

from pi_controller.arguments import Parser
from pi_controller.errors import MatError, UsageError
from pi_controller.games.wording import all_printable
from pi_controller.record.writing import write
from pi_controller.table.journal import Journal
from pi_controller.table.printed import page
from pi_controller.table.record import kept_in
from pi_controller.table.sheet import sheet_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.table.printed import Paper
    from pi_controller.table.sheet import Sheet

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PRINT_S = 120.0
"""How long the browser may take to print, s; a Pi is slow to start one."""


class ExportError(MatError, OSError):
    """The game cannot be written out there."""

    code = "export"


def main(argv: Sequence[str]) -> int:
    """Run `moccasin-mat export FILE`; return its exit status."""
    parser = Parser("export", "Write a game out of its journal. The journal is only read.")
    parser.add_argument("file", metavar="FILE", help="a journal")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("-o", metavar="FOLDER", dest="folder", help="all of them, each as a file of this folder")
    how.add_argument("--record", action="store_true", help="print the record: one open text file")
    how.add_argument("--json", action="store_true", help="print the score sheet: every action with the sticks after it")
    how.add_argument("--print", action="store_true", help="print the sheet to sign: one HTML page")
    parser.add_argument("--pdf", action="store_true", help="with -o: the sheet to sign as PDF too, by Chromium")
    parser.add_argument("--paper", choices=("a4", "letter"), default="a4", help="of the sheet to sign (a4)")
    args = parser.parse_args(argv)
    if args.pdf and not args.folder:
        raise UsageError("--pdf writes a file", "name its folder: -o FOLDER")
    paper = cast("Paper", {"a4": "A4", "letter": "letter"}[args.paper])
    if args.record:
        sys.stdout.write(write(kept_in(args.file)))
        return 0
    with Journal(args.file, read_only=True) as journal:
        sheet = sheet_of(journal)
    if args.json:
        sys.stdout.write(as_json(sheet))
    elif args.print:
        sys.stdout.write(page(sheet, paper))
    else:
        for path in _all(Path(args.file), Path(args.folder), sheet, paper, pdf=args.pdf):
            print(path)
    return 0


def as_json(sheet: Sheet) -> str:
    """Return the score sheet as one JSON object."""
    return msgspec.json.format(msgspec.json.encode(all_printable(msgspec.to_builtins(asdict(sheet))))).decode() + "\n"


def _all(file: Path, folder: Path, sheet: Sheet, paper: Paper, *, pdf: bool) -> list[Path]:
    name = file.stem
    texts = {
        f"{name}.record": write(kept_in(str(file))),
        f"{name}.json": as_json(sheet),
        f"{name}.html": page(sheet, paper),
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

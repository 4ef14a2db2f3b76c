"""Write the results of a tournament as a site of files: to upload, or to hand over on a stick.

It needs no server and no scripts: the bracket, the standings, every game that ended with its score sheet and its
record. It shows what the boards show.
"""

import io
import logging
import shutil
import zipfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pi_controller.display.i18n import ENGLISH, Translator
from pi_controller.errors import MatError, describe_error
from pi_controller.host.pdf import Paper, write_pdf
from pi_controller.hub.boards import Boards
from pi_controller.hub.decision_store import TournamentLog
from pi_controller.hub.director import Director
from pi_controller.hub.inbox import Inbox
from pi_controller.hub.store import Database
from pi_controller.hub.store_copy import write_journals
from pi_controller.journal.export import write_all
from pi_controller.journal.journal import Journal
from pi_controller.journal.sheet import sheet_of
from pi_controller.web.app import static_files
from pi_controller.web.host_marks import HostMarks
from pi_controller.web.score_sheet import print_sheet

log = logging.getLogger(__name__)

GAMES, STATIC = "games", "static"
"""Folders of the site: a file in each format for each game, and the styles with their fonts."""
_STYLES = ("tokens.css", "style.css", "tables.css", "bracket.css", "icon.svg", "OFL.txt")


class PublishError(MatError, OSError):
    """The site cannot be written to that place."""

    code = "publish"


def publish(boards: Boards, where: Path | Database, out: Path) -> int:
    """Write the site of `boards`, whose store is at `where`, to the folder `out`; return how many games have a sheet.

    Files of an earlier publication are replaced. Raises `PublishError`, if `out` holds anything else, and `StoreError`.
    """
    if out.exists() and any(path.name not in {GAMES, STATIC, "index.html", "results.csv"} for path in _list_files(out)):
        raise PublishError(f"{out} is not empty and holds no published results", "name a new folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(out / GAMES, ignore_errors=True)
        counted = {str(row["journal"]) for row in boards.results()}
        sheets = dict(_write_games(where, out / GAMES, counted))
        (out / STATIC).mkdir(exist_ok=True)
        marks = boards.host.static_files() if boards.host else {}
        for name, (content, _) in {**static_files("hub"), **marks}.items():
            if name in _STYLES or name in marks or name.endswith(".woff2"):
                (out / STATIC / name).write_bytes(content)
        (out / "index.html").write_text(boards.results_page(sheets), "utf-8")
        (out / "results.csv").write_bytes(b"\xef\xbb\xbf" + boards.results_csv().encode())
    except OSError as error:
        raise PublishError(f"cannot write to {out}: {describe_error(error)}", "choose a writable folder") from error
    return len(sheets)


def publish_store(
    where: Path | Database,
    out: Path,
    clock: Callable[[], float],
    host: HostMarks | None = None,
    tr: Translator = ENGLISH,
) -> int:
    """Write the site of the store at `where` in the language of `tr`; `clock` returns s since 1970.

    Its hub may be running.
    """
    with Inbox(where) as inbox, TournamentLog(where) as tournament:
        return publish(Boards(Director(tournament, inbox), clock, tr, host=host), where, out)


def print_store(
    where: Path | Database,
    out: Path,
    clock: Callable[[], float],
    paper: Paper,
    host: HostMarks | None = None,
    tr: Translator = ENGLISH,
) -> list[Path]:
    """Print bracket, start list, results and all score sheets as PDF to the folder `out`; return the files.

    Arguments as of `publish_store`. Raises as `publish` and `write_pdf`.
    """
    with Inbox(where) as inbox, TournamentLog(where) as tournament, TemporaryDirectory() as folder:
        boards = Boards(Director(tournament, inbox), clock, tr, host=host)
        publish(boards, where, site := Path(folder) / "site")
        pages = {"bracket": boards.page("bracket"), "start-list": boards.start_list(), "results": boards.results_page()}
        pages |= {path.stem: path.read_text("utf-8") for path in sorted((site / GAMES).glob("*.html"))}
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PublishError(f"cannot write to {out}: {describe_error(error)}", "choose a writable folder") from error
        return [write_pdf(html, out / f"{name}.pdf", site, paper) for name, html in pages.items()]


def zip_results(boards: Boards, where: Path | Database) -> bytes:
    """Return the site as a ZIP. Raises as `publish`."""
    packed = io.BytesIO()
    with TemporaryDirectory() as folder:
        publish(boards, where, out := Path(folder) / "results")
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(out.rglob("*")):
                archive.write(path, path.relative_to(folder))
    return packed.getvalue()


def _list_files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else [folder]


def _write_games(where: Path | Database, folder: Path, counted: Collection[str]) -> Iterator[tuple[str, str]]:
    """Write each journal in `counted` in all formats; yield its epoch and its files' address without the ending."""
    with TemporaryDirectory() as kept:
        for path in write_journals(where, Path(kept), counted):
            try:
                with Journal(path, read_only=True) as journal:
                    sheet = sheet_of(journal)
                write_all(path, folder, sheet, print_sheet(sheet))
            except MatError as error:  # a game that this version cannot read must not hide the others
                log.warning("%s has no score sheet: %s", path.stem, error.message)
                continue
            yield sheet.epoch, f"{GAMES}/{path.stem}"

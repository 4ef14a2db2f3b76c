"""`moccasin-mat recover`: make a new journal from the readable parts of a damaged one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_controller.journal.recover import RecoveredJournal


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "recover",
        "Write a new journal from the readable parts of a damaged one. The old file is only read.",
        "0 records were saved, 1 no records were readable",
    )
    parser.add_argument("file", metavar="FILE", help="the damaged journal")
    parser.add_argument("-o", metavar="NEW", dest="new", required=True, help="the new journal, a new file")
    return parser


def main(argv: Sequence[str]) -> int:
    """Write the new journal; return 0 if it contains records, 1 if none were readable."""
    args = parser().parse_args(argv)
    from pi_controller.journal import file
    from pi_controller.journal.recover import recover
    from pi_controller.text import strip_controls

    path, new = Path(args.file), Path(args.new)
    if new.exists():
        raise UsageError(f"{new.name} is there already", "name a file that is not")
    kept = recover(path)
    if kept.rows:
        with file.journal_errors(new, "written"):
            file.put_in_place(file.write_new_journal(new, kept.about, kept.rows), new)
    print("\n".join(map(strip_controls, _lines(kept, new))))
    return 0 if kept.rows else 1


def _lines(kept: RecoveredJournal, new: Path) -> Iterator[str]:
    from pi_controller.journal import file
    from pi_controller.journal.file import SHORT_HASH_CHARS

    if not kept.rows:
        yield f"no record can be saved, {new.name} is not written: {kept.why}"
        return
    last = kept.rows[-1]
    yield f"kept: {last.seq} records, up to event {last.batch}"
    if kept.seen > last.seq or kept.why:
        lost = (
            f"records {last.seq + 1} to {kept.seen} are visible" if kept.seen > last.seq else "none is visible after it"
        )
        yield f"lost: the records after it; {lost}, {kept.readable} of them readable but not connected"
        if kept.why:
            yield f"it ends there because {kept.why}"
    else:
        yield "no visible record is lost"
    with closing(file.open_read_only(new)) as db:
        head = next(file.rows(db, file.SCHEMA_VERSION, last.seq, first=last.seq)).hash
    if kept.about.origin.endswith("record 1"):
        yield "the journal's epoch is lost: record 1 cannot be proved, and a new chain begins"
    yield f"head: {head[:SHORT_HASH_CHARS]} of the new journal {new.name}"
    yield "before you rename it, move the old journal and its -wal, -shm and .lock files away"

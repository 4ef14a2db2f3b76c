"""`moccasin-mat verify`: check that a journal is intact, or find its last good event and the fault."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_controller.journal.verify import Verdict


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "verify",
        "Check that a journal is complete and unaltered. The file is only read.",
        "0 the journal is intact, 1 it is not",
    )
    parser.add_argument("file", metavar="FILE", help="a journal; a copy is enough")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    return parser


def main(argv: Sequence[str]) -> int:
    """Print the result; return 0 if the journal is intact, else 1."""
    args = parser().parse_args(argv)
    import msgspec

    from pi_controller.journal.verify import verify_journal
    from pi_controller.text import strip_controls, strip_controls_deep

    found = verify_journal(Path(args.file))
    if args.json:
        print(msgspec.json.encode(strip_controls_deep({**asdict(found), "whole": found.whole})).decode())
    else:
        print("\n".join(map(strip_controls, _lines(found))))
    return 0 if found.whole else 1


def _lines(found: Verdict) -> Iterator[str]:
    from pi_controller.journal.file import SHORT_HASH_CHARS

    teams = f": {found.teams.get('A', 'A')} (A) and {found.teams.get('B', 'B')} (B)" if found.teams else ""
    yield f"{found.game} {found.version}{teams}" if found.game else "no game"
    if found.chained:
        made = f" from {found.origin}" if found.origin else ""
        yield f"journal {found.epoch}, made by version {found.made_by}{made}"
        yield f"head    {found.head[:SHORT_HASH_CHARS]}"
        yield f"        {found.head}"
    elif not found.wrong:
        yield "version 1: it has no hashes; the records are readable, but changes cannot be detected"
    yield f"records {found.records} in {found.batches} events"
    if found.torn:
        yield "its last event is incomplete and does not count"
    if found.whole and found.unwitnessed:
        yield "complete as far as it can be read. Its log was left by a killed table and its .lock file is"
        yield "missing, so records lost at the end cannot be detected: compare the head with a printed one"
    elif found.whole:
        yield "whole"
    else:
        yield f"complete up to event {found.batches} (record {found.records}); then: {found.wrong}"

"""`moccasin-mat verify`: whether a journal is whole, or up to which event it is and what is wrong there."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_controller.table.verify import Verdict


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "verify",
        "Check that a journal is whole and is what was written. The file is only read.",
        "0 the journal is whole, 1 it is not",
    )
    parser.add_argument("file", metavar="FILE", help="a journal; a copy will do")
    parser.add_argument("--json", action="store_true", help="what was found as one JSON object")
    return parser


def main(argv: Sequence[str]) -> int:
    """Print what was found; return 0 where the journal is whole, 1 where it is not."""
    args = parser().parse_args(argv)
    import msgspec

    from pi_controller.games.wording import all_printable, printable
    from pi_controller.table.verify import verdict

    found = verdict(Path(args.file))
    if args.json:
        print(msgspec.json.encode(all_printable({**asdict(found), "whole": found.whole})).decode())
    else:
        print("\n".join(map(printable, _lines(found))))
    return 0 if found.whole else 1


def _lines(found: Verdict) -> Iterator[str]:
    from pi_controller.table.chain import SHORT

    teams = f": {found.teams.get('A', 'A')} (A) and {found.teams.get('B', 'B')} (B)" if found.teams else ""
    yield f"{found.game} {found.version}{teams}" if found.game else "no game"
    if found.chained:
        made = f" from {found.origin}" if found.origin else ""
        yield f"journal {found.epoch}, made by version {found.made_by}{made}"
        yield f"head    {found.head[:SHORT]}"
        yield f"        {found.head}"
    elif not found.wrong:
        yield "version 1: it has no hashes; the records were looked at, and whether one was changed cannot be told"
    yield f"records {found.records} in {found.batches} events"
    if found.torn:
        yield "its log ends in an event that was not written to its end: that one does not count"
    if found.whole:
        yield "whole"
    else:
        yield f"whole up to event {found.batches} (record {found.records}); then: {found.wrong}"

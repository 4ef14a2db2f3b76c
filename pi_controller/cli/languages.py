"""`moccasin-mat languages`: which languages there are, how far each is filled, by whose word, and what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "languages",
        "List the languages and how far each is filled, or look at one catalogue.",
        "0 all is well, 1 a sentence cannot be used",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="a catalogue, named by its language: dak.po")
    parser.add_argument("--missing", action="store_true", help="list the sentences that are not filled")
    parser.add_argument("--template", action="store_true", help="print the empty list of all sentences, to be filled")
    return parser


def main(argv: Sequence[str]) -> int:
    """List the languages, or look at the catalogue given; return 1 where a sentence in it cannot be used."""
    args = parser().parse_args(argv)
    import polib

    from pi_controller.languages import SUFFIX
    from pi_controller.show.catalogue_file import read
    from pi_controller.show.extract import TEMPLATE
    from pi_controller.show.i18n import LOCALES

    if args.template:
        print(TEMPLATE.read_text("utf-8"), end="")
        return 0
    wanted = [entry.msgid for entry in polib.pofile(str(TEMPLATE), encoding="utf-8")]
    if args.file is None:
        print(f"en   {len(wanted)} of {len(wanted)} sentences")
    wrong = 0
    for path in [Path(args.file)] if args.file else sorted(LOCALES.glob(f"*{SUFFIX}")):
        found = read(path)
        filled = [sentence for sentence in wanted if sentence in found.filled]
        print(f"{path.stem:<4} {len(filled)} of {len(wanted)} sentences, {_whose(found.header)}")
        for fault in found.faults:
            print(f"  {fault}; English is shown there")
        wrong += len(found.faults)
        if args.missing:
            print("\n".join(f"  {sentence}" for sentence in wanted if sentence not in found.filled))
    return 1 if wrong else 0


def _whose(header: dict[str, str]) -> str:
    from pi_controller.show.catalogue_file import AUTHORITY

    authority = header.get(AUTHORITY, "").strip()
    return (
        f"by the word of {authority}"
        if authority
        else f"no speaker has vouched for it ({AUTHORITY} in the header is empty)"
    )

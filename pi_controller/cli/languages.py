"""`moccasin-mat languages`: list the languages with their completeness, their authority and their faults."""

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
        "List the languages and how complete each is, or check one catalogue.",
        "0 all sentences are usable, 1 a sentence cannot be used",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="a catalogue, named by its language: dak.po")
    parser.add_argument("--missing", action="store_true", help="list the sentences without a translation")
    parser.add_argument("--template", action="store_true", help="print an empty catalogue of all sentences")
    return parser


def main(argv: Sequence[str]) -> int:
    """List the languages, or check the given catalogue; return 1 if a sentence in it cannot be used."""
    args = parser().parse_args(argv)
    import polib

    from pi_controller.display.i18n import LOCALES, TEMPLATE, read_catalogue
    from pi_controller.text import SUFFIX

    if args.template:
        print(TEMPLATE.read_text("utf-8"), end="")
        return 0
    wanted = [entry.msgid for entry in polib.pofile(str(TEMPLATE), encoding="utf-8")]
    if args.file is None:
        print(f"en   {len(wanted)} of {len(wanted)} sentences")
    wrong = 0
    for path in [Path(args.file)] if args.file else sorted(LOCALES.glob(f"*{SUFFIX}")):
        found = read_catalogue(path)
        filled = [sentence for sentence in wanted if sentence in found.filled]
        print(f"{path.stem:<4} {len(filled)} of {len(wanted)} sentences, {_describe_authority(found.header)}")
        for fault in found.faults:
            print(f"  {fault}; English is shown there")
        wrong += len(found.faults)
        if args.missing:
            print("\n".join(f"  {sentence}" for sentence in wanted if sentence not in found.filled))
    return 1 if wrong else 0


def _describe_authority(header: dict[str, str]) -> str:
    from pi_controller.display.i18n import AUTHORITY

    authority = header.get(AUTHORITY, "").strip()
    return (
        f"approved by {authority}" if authority else f"not approved by a speaker ({AUTHORITY} in the header is empty)"
    )

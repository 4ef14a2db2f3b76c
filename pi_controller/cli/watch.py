"""`moccasin-mat watch`: print the event stream of a running table as JSON lines, for other programs."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from html import unescape

from pi_controller.cli.arguments import Parser
from pi_controller.host.place import LOCAL_TABLE

_TAG = re.compile(r"<[^>]*>")


def watch_parser() -> Parser:
    """Return the parser of `watch`."""
    parser = Parser(
        "watch",
        "Print what a running table's pages show, one JSON object a line, whenever it changes. "
        "Cut off, it says so on stderr and comes back by itself. Ctrl-C stops it.",
    )
    parser.add_argument(
        "--url", metavar="URL", default=LOCAL_TABLE, help=f"where the table's pages are ({LOCAL_TABLE})"
    )
    parser.add_argument("--once", action="store_true", help="print the table's present state, and end")
    return parser


def watch(argv: Sequence[str]) -> int:
    """Print the stream until it is stopped, or with `--once` its first line; return 0. Raises `MatError`."""
    args = watch_parser().parse_args(argv)
    import msgspec

    from pi_controller.client import Client

    with Client(args.url) as table:
        for event in table.events(reconnect=not args.once):
            event["regions"] = {name: _read_text(html) for name, html in event["regions"].items()}
            sys.stdout.buffer.write(msgspec.json.encode(event) + b"\n")
            sys.stdout.buffer.flush()
            if args.once:
                break
    return 0


def _read_text(html: str) -> str:
    """Return the text of a region."""
    return " ".join(unescape(_TAG.sub(" ", html)).split())

"""`moccasin-mat review JOURNAL`: plot the sensor levels around the hits for the judge, in the terminal or as SVG."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser("review", "Plot the sensor levels 200 ms around each hit, and the decision.")
    parser.add_argument("journal", metavar="JOURNAL", help="the table's journal; the hits are stored beside it")
    parser.add_argument("--hide", metavar="N", type=int, help="only this hide (default: the last one with a hit)")
    parser.add_argument("--all", action="store_true", help="every stored hit")
    parser.add_argument("--svg", metavar="FILE", help="write a picture; of several hits FILE-1.svg, FILE-2.svg ...")
    return parser


def main(argv: Sequence[str]) -> int:
    """Plot the hits; return 0. Raises `ReviewError` if none are stored."""
    args = parser().parse_args(argv)
    if args.hide is not None and args.all:
        raise UsageError("--hide and --all cannot be used together", "use one of the two")
    from pi_controller.display.hit_plot import hit_svg, hit_text
    from pi_controller.recording.hits import ReviewError, hits_path, strokes

    found = strokes(hits_path(args.journal), args.hide)
    if found and args.hide is None and not args.all:
        found = [stroke for stroke in found if stroke.hide == found[-1].hide]
    if not found:
        raise ReviewError(
            "no hit is stored" + (f" of hide {args.hide}" if args.hide is not None else " yet"),
            "hits are stored a moment after they are felt; hits entered by hand are not",
        )
    if args.svg is None:
        width = min(shutil.get_terminal_size().columns, 100)
        print("\n".join(hit_text(stroke, width) for stroke in found), end="")
        return 0
    for n, stroke in enumerate(found, 1):
        path = Path(args.svg)
        if len(found) > 1:
            path = path.with_name(f"{path.stem}-{n}{path.suffix or '.svg'}")
        try:
            path.write_text(hit_svg(stroke), "utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}", "choose another file") from error
        print(f"hide {stroke.hide}: {path}")
    return 0

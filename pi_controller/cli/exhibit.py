"""`moccasin-mat exhibit`: the installation that visitors use by themselves, on a mat, by eye, or on a screen alone.

With `--sim` simulated visitors play until somebody touches the page; they come back when that visitor has gone.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.table.settings import Settings


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "exhibit",
        "Run the installation that a cultural centre leaves running: visitors play with the mat, against each other, "
        "or are shown how, on the page at the address it prints.",
        "0 done, 1 --check found a fault in the host's texts",
    )
    add_settings(parser, "what [exhibit] and [web] say")
    parser.add_argument(
        "--sim", action="store_true", help="no mat: on the screen alone, with simulated visitors until somebody touches"
    )
    parser.add_argument("--port", metavar="N", type=int, help="the page's port (default: of the settings)")
    parser.add_argument("--seed", metavar="N", type=int, help="simulated visitors do the same again")
    parser.add_argument(
        "--check",
        metavar="FOLDER",
        nargs="?",
        const="",
        help="look at the host's texts and pictures, in [exhibit] folder or in another, and show them",
    )
    parser.add_argument("--usage", action="store_true", help="print the counts of sessions as CSV")
    return parser


def main(argv: Sequence[str]) -> int:
    """Run the installation until Ctrl-C; return the exit status."""
    args = parser().parse_args(argv)
    path = settings_path(args)
    settings = load_settings(path)
    if args.check is not None:
        return _check(args.check or settings.exhibit.folder)
    if args.usage:
        from pi_controller.exhibit.usage import Usage, usage_path

        print(Usage(usage_path(settings)).csv(), end="")
        return 0
    from pi_controller.run_exhibit import run_exhibit

    if args.sim:
        settings = _simulated(settings)
    if args.port is not None:
        settings = settings.model_copy(update={"web": settings.web.model_copy(update={"port": args.port})})
    visitors = None
    if args.sim:
        from pi_controller.sim.visitors import CIVIL, Visitors

        visitors = Visitors(random.Random(args.seed), CIVIL)  # noqa: S311 - it decides for simulated people alone
    run_exhibit(settings, (path or Path()).parent, time.sleep, visitors)
    return 0


def _simulated(settings: Settings) -> Settings:
    """Return the settings of an installation on the screen alone, at a free port unless a file names one."""
    web = settings.web if "port" in settings.web.model_fields_set else settings.web.model_copy(update={"port": 0})
    exhibit = settings.exhibit.model_copy(update={"mat": "screen", "opens": "", "closes": ""})
    return settings.model_copy(update={"web": web, "exhibit": exhibit})


def _check(folder: str) -> int:
    from pi_controller.errors import MatError
    from pi_controller.exhibit.host_files import TEXTS, read
    from pi_controller.exhibit.page import host_lines

    if not folder:
        print("[exhibit] folder names none: visitors see what is there by default")
        return 0
    try:
        texts, pictures = read(Path(folder))
    except MatError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(host_lines(texts)) or f"{TEXTS} is empty: visitors see what is there by default")
    print("".join(f"picture: {name}, {len(content)} bytes\n" for name, (content, _) in pictures.items()), end="")
    return 0

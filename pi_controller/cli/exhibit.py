"""`moccasin-mat exhibit`: run the unattended installation, with a mat, by eye, or on a screen only.

With `--sim` simulated visitors play until a real visitor touches the page; they return when that visitor has left.
"""

from __future__ import annotations

import random
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_controller.config import Settings


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "exhibit",
        "Run the unattended installation of a cultural centre: visitors play against the mat, against each other, "
        "or learn the game, on the page at the printed address.",
        "0 done, 1 --check found a fault in the host's texts",
    )
    add_settings(parser, "the settings [exhibit] and [web]")
    parser.add_argument(
        "--sim", action="store_true", help="no mat: only the screen, with simulated visitors until the first touch"
    )
    parser.add_argument("--port", metavar="N", type=int, help="the page's port (default: of the settings)")
    parser.add_argument("--seed", metavar="N", type=int, help="random seed of the simulated visitors")
    parser.add_argument(
        "--check",
        metavar="FOLDER",
        nargs="?",
        const="",
        help="check and print the host's texts and pictures, in [exhibit] folder or in another",
    )
    parser.add_argument("--usage", action="store_true", help="print the counts of sessions as CSV")
    return parser


def main(argv: Sequence[str]) -> int:
    """Run the installation until Ctrl-C; return the exit status."""
    args = parser().parse_args(argv)
    from pi_controller.system.status import own_channel, report_start_faults

    path = settings_path(args)
    with report_start_faults(own_channel()):
        settings = load_settings(path)
    if args.check is not None:
        return _check(args.check or settings.exhibit.folder)
    if args.usage:
        from pi_controller.exhibit.usage import Usage, usage_path

        print(Usage(usage_path(settings)).csv(), end="")
        return 0
    from pi_controller.runtime.run import run_exhibit

    if args.sim:
        settings = _screen_only_settings(settings)
    if args.port is not None:
        settings = settings.model_copy(update={"web": settings.web.model_copy(update={"port": args.port})})
    visitors = []
    if args.sim:
        from pi_controller.simulation.visitors import CIVIL, Visitors

        visitors = [Visitors(random.Random(args.seed), CIVIL)]  # noqa: S311 - it decides for simulated people alone
    with report_start_faults(own_channel()):
        run_exhibit(settings, (path or Path()).parent, visitors, partial(_report, path))
    return 0


def _report(path: Path | None, told: str) -> bytes:
    """Return the diagnostic report as a ZIP; `told` is the staff page's text."""
    from pi_controller.system import doctor, warning_log
    from pi_controller.system.doctor import examine_without_mat
    from pi_controller.system.place import make_place

    warnings = warning_log.read_log(make_place(system=True).state / warning_log.FILE)
    more = {"installation.txt": told, warning_log.FILE: warnings}
    # the service's full log contains the names of signed-in staff
    return doctor.pack_bundle(
        *examine_without_mat(path), f"only warnings are in this report, in {warning_log.FILE}\n", more
    )


def _screen_only_settings(settings: Settings) -> Settings:
    """Return the settings of an installation without a mat, at a free port unless the file names one."""
    web = settings.web if "port" in settings.web.model_fields_set else settings.web.model_copy(update={"port": 0})
    exhibit = settings.exhibit.model_copy(update={"mat": "screen", "opens": "", "closes": ""})
    return settings.model_copy(update={"web": web, "exhibit": exhibit})


def _check(folder: str) -> int:
    from pi_controller.errors import MatError
    from pi_controller.exhibit.host_files import TEXTS, read_host_texts
    from pi_controller.exhibit.pages import host_lines

    if not folder:
        print("[exhibit] folder is empty: visitors see the default texts")
        return 0
    try:
        texts, pictures = read_host_texts(Path(folder))
    except MatError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(host_lines(texts)) or f"{TEXTS} is empty: visitors see the default texts")
    print("".join(f"picture: {name}, {len(content)} bytes\n" for name, (content, _) in pictures.items()), end="")
    return 0

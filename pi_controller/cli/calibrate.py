"""`moccasin-mat calibrate`: the guided calibration, in the terminal or on a page; its result is kept as a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, settings_path

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "calibrate",
        "Measure the mat step by step and keep what was found. Ctrl-C changes nothing.",
        "0 all is well and kept, 1 something is wrong and nothing is kept",
    )
    add_settings(parser, "the table's settings; the profile is kept in their folder")
    parser.add_argument("--profile", metavar="NAME", help="its name (default: the settings' own, else mat)")
    parser.add_argument("--mat", choices=["a", "b"], default="a", help='which, where [mat] seats = "each" (default: a)')
    parser.add_argument("--web", action="store_true", help="also show the walk on a page, where the settings put it")
    parser.add_argument(
        "--sim", nargs="?", const="", metavar="FAULT", help="walk on a simulated mat, with somebody simulated beside it"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Walk through the calibration; return 0 when all is well and kept, 1 when something is wrong: nothing is kept."""
    args = parser().parse_args(argv)
    from pi_controller.calibrate import calibrate
    from pi_controller.sim.faulty import parse

    sim = None if args.sim is None else [parse(args.sim)] if args.sim else []
    return 0 if calibrate(settings_path(args), args.mat, args.profile, sim, web=args.web) else 1

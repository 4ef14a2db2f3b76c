"""`moccasin-mat calibrate`: run the guided calibration in the terminal or on a page, and save the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, settings_path

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "calibrate",
        "Measure the mat step by step and save the profile. Ctrl-C changes nothing.",
        "0 the profile is saved, 1 a check failed and no profile is saved",
    )
    add_settings(parser, "the table's settings; the profile is saved in their folder")
    parser.add_argument("--profile", metavar="NAME", help="name of the profile (default: the settings' own, else mat)")
    parser.add_argument(
        "--mat", choices=["a", "b"], default="a", help='which mat, if [mat] seats = "each" (default: a)'
    )
    parser.add_argument("--web", action="store_true", help="also show the calibration on a page, as the settings say")
    parser.add_argument(
        "--sim", nargs="?", const="", metavar="FAULT", help="calibrate a simulated mat, with a simulated person"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    """Run the calibration; return 0 after saving the profile, 1 if something is wrong and no profile was saved."""
    args = parser().parse_args(argv)
    from pi_controller.calibration.run import calibrate
    from pi_controller.simulation.faults import parse_fault

    sim = None if args.sim is None else [parse_fault(args.sim)] if args.sim else []
    return 0 if calibrate(settings_path(args), args.mat, args.profile, sim, web=args.web) else 1

"""`moccasin-mat mat check`, `calibrate`, `ports` and `flash`: the mat and its board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pi_controller.cli.arguments import Parser, add_json, add_settings, print_json, settings_path
from pi_controller.errors import UsageError
from pi_controller.host.platform import require_linux
from pi_controller.output import open_console


def mat_check_parser() -> Parser:
    """Return the parser of `mat check`."""
    parser = Parser(
        "mat check",
        "Check every sensor, the link, the pins and the disk. Take the bead off the mat first.",
        "0 all checks pass, 1 a check fails",
    )
    add_settings(parser, "the table's settings")
    add_json(parser)
    parser.add_argument("--noise", action="store_true", help="also describe the noise of the strike sensors at rest")
    parser.add_argument("--bundle", metavar="FILE.zip", help="also write diagnostic files, without any names")
    parser.add_argument("--sim", action="store_true", help="check a simulated mat")
    return parser


def mat_check(argv: Sequence[str]) -> int:
    """Run the checks and print the report; return 0 if none fails, else 1."""
    args = mat_check_parser().parse_args(argv)
    require_linux("mat check")
    if args.settings is not None:
        from pi_controller.config.load import read_text

        read_text(Path(args.settings))  # faults inside are the report's, a file that is not there is a wrong call
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from pi_controller.tools.doctor import examine
    from pi_controller.tools.support_bundle import write_bundle

    bar = Console(stderr=True)
    with Progress(
        TextColumn("checking the mat"),
        BarColumn(),
        console=bar,
        transient=True,
        disable=args.json or not bar.is_terminal,
    ) as progress:
        task = progress.add_task("", total=1.0)
        report, settings = examine(
            settings_path(args),
            lambda share: progress.update(task, completed=share),
            simulated=args.sim,
            noise=args.noise,
        )
    if args.json:
        print(report.json().decode())
    else:
        report.show(open_console())
    if args.bundle:
        write_bundle(Path(args.bundle), report, settings)
        if not args.json:
            print(f"diagnostic files to send to support: {args.bundle}")
    return 0 if report.ok else 1


def mat_calibrate_parser() -> Parser:
    """Return the parser of `mat calibrate`."""
    parser = Parser(
        "mat calibrate",
        "Measure the mat step by step and save the profile. Ctrl-C changes nothing.",
        "0 the profile is saved, 1 a check failed and no profile is saved",
    )
    add_settings(parser, "the table's settings; the profile is saved in their folder")
    parser.add_argument("--profile", metavar="NAME", help="name of the profile (default: the settings' own, else mat)")
    parser.add_argument(
        "--mat", choices=["a", "b"], default="a", help='which mat, if [mat] seats = "each" (default: a)'
    )
    parser.add_argument(
        "--only",
        choices=["bead"],
        help="only the empty mat and the bead, for modules just glued in; taps and hands stay as the profile has them",
    )
    parser.add_argument("--web", action="store_true", help="also show the calibration on a page, as the settings say")
    parser.add_argument("--sim", action="store_true", help="calibrate a simulated mat, with a simulated person")
    return parser


def mat_calibrate(argv: Sequence[str]) -> int:
    """Run the calibration; return 0 after saving the profile, 1 if something is wrong and no profile was saved."""
    args = mat_calibrate_parser().parse_args(argv)
    from pi_controller.tools.calibrate import calibrate

    passed = calibrate(settings_path(args), args.mat, args.profile, simulated=args.sim, web=args.web, only=args.only)
    return 0 if passed else 1


def mat_ports_parser() -> Parser:
    """Return the parser of `mat ports`."""
    parser = Parser(
        "mat ports",
        "List the serial ports. Boards that may be the mat's and are not in use are asked for their id.",
        '0 "auto" finds a usable board, 1 it does not',
    )
    add_json(parser)
    asks = parser.add_mutually_exclusive_group()
    asks.add_argument("--ask", action="store_true", default=True, help="ask the boards for their ids (the default)")
    asks.add_argument(
        "--no-ask", dest="ask", action="store_false", help="open no port: asking stops another program on such a board"
    )
    return parser


def mat_ports(argv: Sequence[str]) -> int:
    """List the ports; return 0 if "auto" finds a usable board, else 1."""
    args = mat_ports_parser().parse_args(argv)
    from pi_controller.board.port_list import list_serial_ports
    from pi_controller.board.serial_port import BY_ID
    from pi_controller.tools import port_report
    from pi_controller.tools.boot_drive import find_boot_drive

    ports = list_serial_ports(BY_ID)
    reports = port_report.check_ports(ports, asking=args.ask)
    drive = find_boot_drive()
    ok = any(report.port.auto and not report.hint for report in reports)
    if args.json:
        fault = {"message": ports.fault.message, "hint": ports.fault.hint} if ports.fault else None
        auto = next((report.port.path for report in reports if report.port.auto), None)
        body = {"ok": ok, "auto": auto, "fault": fault, "boot_loader": drive and drive.path, "ports": reports}
        print_json(body)
    else:
        port_report.show(open_console(), reports, ports.fault, drive)
    return 0 if ok else 1


def mat_flash_parser() -> Parser:
    """Return the parser of `mat flash`."""
    parser = Parser(
        "mat flash",
        "Copy the firmware to the mat board, which must run MicroPython (RP2040: 1.23, RP2350: 1.24 or newer).",
        "0 the board has the firmware, 1 --check finds another one or none",
    )
    parser.add_argument("--port", default="auto", help='the board\'s port; "auto", the default, takes the only board')
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--check", action="store_true", help="only compare: exit status 0 if it is there, else 1")
    only.add_argument("--dry-run", action="store_true", help="only show what would be done")
    add_json(parser)
    parser.add_argument("--force", action="store_true", help="overwrite another program on the board without asking")
    return parser


def mat_flash(argv: Sequence[str]) -> int:
    """Flash the board; return 0 if it has the firmware, 1 if --check finds another one. Raises `MatError`."""
    reads = mat_flash_parser()
    args = reads.parse_args(argv)
    if args.json and not args.check:
        reads.error("--json is for --check")
    if args.port != "auto" and not args.port.startswith("/"):
        raise UsageError(f"{args.port!r} is not a port", "'moccasin-mat mat ports' lists them")
    from pi_controller.board.serial_port import BY_ID
    from pi_controller.tools import find_board
    from pi_controller.tools.board_flasher import BoardFlasher
    from pi_controller.tools.flash import check_firmware, flash
    from pi_controller.tools.mpremote import require_mpremote

    require_mpremote()
    brought = find_board.load_shipped()
    work = BoardFlasher(find_board.find_board(args.port, BY_ID))
    if args.json:
        found = check_firmware(work, brought)
        print_json(found)
        return 0 if found["ok"] else 1
    mode = "check" if args.check else "dry-run" if args.dry_run else "write"
    return flash(work, brought, open_console(), mode, force=args.force)

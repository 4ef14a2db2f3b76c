"""`moccasin-mat record-sensors FILE`: every reading of a mat into one file, until it is stopped. For no game at all."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path
from pi_controller.drivers.gpio import PINS
from pi_controller.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.drivers.ports import Buttons
    from pi_controller.link.source import Source
    from pi_controller.recording.bench import Bench

IDLE_S = 0.01
CONTACT_SETTLES_S = 0.05
"""A contact that opens and closes again within this is still the same touch."""


def parser() -> Parser:
    """Return the parser."""
    parser = Parser("record-sensors", "Keep every reading of the mat in one file, without a game. Ctrl-C ends it.")
    parser.add_argument("file", metavar="FILE", help="the recording; must not be there yet")
    add_settings(parser, "the table's settings: its board and its strikes")
    parser.add_argument("--contact", metavar="PIN", type=int, help="the stick's contact is wired to this pin (BCM)")
    parser.add_argument("--seconds", metavar="S", type=float, help="end after this long")
    return parser


def main(argv: Sequence[str]) -> int:
    """Record until Ctrl-C or for `--seconds`; return 0. Raises `UsageError` where the file cannot be written."""
    args = parser().parse_args(argv)
    if args.contact is not None and args.contact not in PINS:
        todo = f"name a free BCM pin from {PINS[0]} to {PINS[-1]}"
        raise UsageError(f"there is no pin {args.contact} for a contact", todo)
    if args.seconds is not None and not args.seconds > 0:
        raise UsageError("nothing can be recorded in no time", "--seconds takes a number above 0")
    from pi_controller import __version__
    from pi_controller.assembly import board
    from pi_controller.recording.bench import Bench
    from pi_controller.recording.chunks import ChunkFile
    from pi_controller.recording.model import Header, settings_as_json

    settings = load_settings(settings_path(args))
    if settings.board.port == "none":
        raise UsageError("these settings are for a table without a board", 'set [board] port = "auto"')
    ahead = time.time() - time.monotonic()

    def clock() -> float:
        return time.monotonic() + ahead

    path, t = Path(args.file), clock()
    strikes = settings_as_json(settings.strikes.detector())
    try:
        file = ChunkFile(path, Header(t=t, program=__version__, table=settings.table.name, strikes=strikes))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "name a file that is not there yet") from error
    with closing(file):  # also where the contact's pin cannot be had
        bench = Bench(file, board(settings, clock), _contact(args.contact, clock))
        try:
            _drive(bench, clock, None if args.seconds is None else t + args.seconds)
        except OSError as error:
            raise UsageError(f"cannot go on with {path}: {error.strerror}", "make room on the disk") from error
        finally:
            bench.close()
    print(f"{path}: {bench.rows} samples of each pad, {bench.touches} touches of the stick")
    return 0


def _contact(pin: int | None, clock: Callable[[], float]) -> Buttons | None:
    if pin is None:
        return None
    from pi_controller.drivers.buttons import GpioButtons  # only a Pi has pins
    from pi_controller.recording.bench import CONTACT

    # a stick touches for a few milliseconds only: every closing counts
    return GpioButtons({CONTACT: pin}, clock, CONTACT_SETTLES_S, min_press_s=0.0)


def _why(source: Source) -> str:
    """Return why there is no link; whoever records at the terminal may know which port it is."""
    missing = source.missing
    return f"{missing.what}: {missing.todo}" if missing is not None else source.why


def _drive(bench: Bench, clock: Callable[[], float], until: float | None) -> None:
    printed = ""
    try:
        while until is None or clock() < until:
            bench.step(clock())
            why = _why(bench.source)
            if why and why != printed:
                print(f"moccasin-mat: {why}", file=sys.stderr)
            printed = why
            if bench.source.port is None:
                time.sleep(IDLE_S)
            else:
                bench.source.port.wait(IDLE_S)
    except KeyboardInterrupt:
        pass

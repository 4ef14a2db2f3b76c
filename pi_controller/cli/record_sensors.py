"""`moccasin-mat record-sensors FILE`: record every reading of a mat to a file until stopped, without a game."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from pi_controller.board.gpio import PINS
from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path
from pi_controller.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.board.connection import Source
    from pi_controller.board.interfaces import Buttons
    from pi_controller.recording.recorder import Bench

IDLE_S = 0.01
CONTACT_SETTLES_S = 0.05
"""A contact that opens and closes again within this time is still the same touch."""


def parser() -> Parser:
    """Return the parser."""
    parser = Parser("record-sensors", "Record every reading of the mat in one file, without a game. Ctrl-C ends it.")
    parser.add_argument("file", metavar="FILE", help="the recording, a new file")
    add_settings(parser, "the table's settings: its board and its strikes")
    parser.add_argument("--contact", metavar="PIN", type=int, help="the stick's contact is wired to this pin (BCM)")
    parser.add_argument("--seconds", metavar="S", type=float, help="stop after this time")
    return parser


def main(argv: Sequence[str]) -> int:
    """Record until Ctrl-C or for `--seconds`; return 0. Raises `UsageError` if the file cannot be written."""
    args = parser().parse_args(argv)
    if args.contact is not None and args.contact not in PINS:
        todo = f"name a free BCM pin from {PINS[0]} to {PINS[-1]}"
        raise UsageError(f"there is no pin {args.contact} for a contact", todo)
    if args.seconds is not None and not args.seconds > 0:
        raise UsageError("the recording time is not positive", "--seconds takes a number above 0")
    from pi_controller import __version__
    from pi_controller.recording.format import Header, settings_as_json
    from pi_controller.recording.recorder import Bench
    from pi_controller.recording.store import RecordingWriter
    from pi_controller.runtime.assembly import make_source

    settings = load_settings(settings_path(args))
    if settings.board.port == "none":
        raise UsageError("these settings are for a table without a board", 'set [board] port = "auto"')
    ahead = time.time() - time.monotonic()

    def clock() -> float:
        return time.monotonic() + ahead

    path, t = Path(args.file), clock()
    strikes = settings_as_json(settings.strikes.detector_settings())
    try:
        file = RecordingWriter(path, Header(t=t, program=__version__, table=settings.table.name, strikes=strikes))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "name a file that is not there yet") from error
    with closing(file):  # also if the contact's pin is unavailable
        bench = Bench(file, make_source(settings, clock), _contact(args.contact, clock))
        try:
            _drive(bench, clock, None if args.seconds is None else clock() + args.seconds)
        finally:
            bench.close()
    print(f"{path}: {bench.rows} samples of each pad, {bench.touches} touches of the stick")
    return 0


def _contact(pin: int | None, clock: Callable[[], float]) -> Buttons | None:
    if pin is None:
        return None
    from pi_controller.board.buttons import GpioButtons  # only a Pi has pins
    from pi_controller.recording.recorder import CONTACT

    # a stick touches for a few milliseconds only: every closing counts
    return GpioButtons({CONTACT: pin}, clock, CONTACT_SETTLES_S, min_press_s=0.0)


def _link_fault(source: Source) -> str:
    """Return why there is no link; unlike on a page, the message may name the port."""
    missing = source.missing
    return f"{missing.message}: {missing.hint}" if missing is not None else source.why


def _drive(bench: Bench, clock: Callable[[], float], until: float | None) -> None:
    printed = ""
    try:
        while until is None or clock() < until:
            bench.step(clock())
            why = _link_fault(bench.source)
            if why and why != printed:
                print(f"moccasin-mat: {why}", file=sys.stderr)
            printed = why
            if bench.source.port is None:
                time.sleep(IDLE_S)
            else:
                bench.source.port.wait(IDLE_S)
    except KeyboardInterrupt:
        pass

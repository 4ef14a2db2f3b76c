"""`moccasin-mat mat record`, `mat strikes` and `game review`: recorded sensor levels and their strikes.

recording/PROTOCOL.md describes how to measure a mat with them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pi_controller.board.gpio import PINS
from pi_controller.cli.arguments import Parser, add_settings, load_settings, settings_path
from pi_controller.errors import UsageError, describe_error
from pi_controller.sensing.strike_settings import SETTINGS_BY_SENSOR, StrikeSettings

if TYPE_CHECKING:
    from pi_controller.board.interfaces import Buttons
    from pi_controller.recording.bench import Bench
    from pi_controller.sensing.wav import WavReader


IDLE_S = 0.01
CONTACT_SETTLES_S = 0.05
"""A contact that opens and closes again within this time is still the same touch."""


def mat_record_parser() -> Parser:
    """Return the parser of `mat record`."""
    parser = Parser("mat record", "Record every reading of the mat in one file, without a game. Ctrl-C ends it.")
    parser.add_argument("file", metavar="FILE", help="the recording, a new file")
    add_settings(parser, "the table's settings: its board and its strikes")
    parser.add_argument("--contact", metavar="PIN", type=int, help="the stick's contact is wired to this pin (BCM)")
    parser.add_argument("--seconds", metavar="S", type=float, help="stop after this time")
    return parser


def mat_record(argv: Sequence[str]) -> int:
    """Record until Ctrl-C or for `--seconds`; return 0. Raises `UsageError` if the file cannot be written."""
    args = mat_record_parser().parse_args(argv)
    if args.contact is not None and args.contact not in PINS:
        hint = f"name a free BCM pin from {PINS[0]} to {PINS[-1]}"
        raise UsageError(f"there is no pin {args.contact} for a contact", hint)
    if args.seconds is not None and not args.seconds > 0:
        raise UsageError("the recording time is not positive", "--seconds takes a number above 0")
    from pi_controller import __version__
    from pi_controller.host.clock import SteadyClock
    from pi_controller.recording.bench import Bench
    from pi_controller.recording.entries import Header, settings_as_json
    from pi_controller.recording.store import create_recording
    from pi_controller.runtime.assembly import make_source

    settings = load_settings(settings_path(args))
    if settings.board.port == "none":
        raise UsageError("these settings are for a table without a board", 'set [board] port = "auto"')
    clock = SteadyClock()
    path, t = Path(args.file), clock()
    strikes = settings_as_json(settings.strikes.detector_settings())
    try:
        file = create_recording(path, Header(t=t, program=__version__, table=settings.table.name, strikes=strikes))
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {describe_error(error)}", "name a file that is not there yet"
        ) from error
    with closing(file):  # also if the contact's pin is unavailable
        bench = Bench(file, make_source(settings, clock), _contact(args.contact, clock))
        try:
            _drive(bench, clock, None if args.seconds is None else clock() + args.seconds)
        finally:
            bench.close()
    print(f"{path}: {bench.rows} samples of each pad, {bench.touches} touches of the stick")
    for name, text in bench.noise.lines():
        print(f"{name}: {text}")
    return 0


def _contact(pin: int | None, clock: Callable[[], float]) -> Buttons | None:
    if pin is None:
        return None
    from pi_controller.board.buttons import GpioButtons  # only a Pi has pins
    from pi_controller.recording.bench import CONTACT

    # a stick touches for a few milliseconds only: every closing counts
    return GpioButtons({CONTACT: pin}, clock, CONTACT_SETTLES_S, min_press_s=0.0)


def _drive(bench: Bench, clock: Callable[[], float], until: float | None) -> None:
    printed = ""
    try:
        while until is None or clock() < until:
            bench.step(clock())
            missing = bench.source.missing  # unlike on a page, the message may name the port
            why = f"{missing.message}: {missing.hint}" if missing is not None else bench.source.why
            if why and why != printed:
                print(f"moccasin-mat: {why}", file=sys.stderr)
            printed = why
            if bench.source.port is None:
                time.sleep(IDLE_S)
            else:
                bench.source.port.wait(IDLE_S)
    except KeyboardInterrupt:
        pass


def mat_strikes_parser() -> Parser:
    """Return the parser of `mat strikes`."""
    parser = Parser(
        "mat strikes",
        "Find the strikes in a WAV file of 1 to 8 channels, each a pad. One JSON a line.",
        "0 done; with --knocked 2 if a pad is felt as another",
    )
    parser.add_argument("file", metavar="FILE.wav", help="the recording, or - for standard input")
    parser.add_argument(
        "--sensor", choices=sorted(SETTINGS_BY_SENSOR), default="piezo", help="kind of the pads' sensors"
    )
    parser.add_argument("--reference", action="store_true", help="the last channel is a disc on the frame, not a pad")
    parser.add_argument("--knocked", metavar="1,2,...", help="pads knocked on in turn: report those felt as others")
    return parser


def mat_strikes(argv: Sequence[str]) -> int:
    """Print `{"pad", "t", "decided", "margin_db", "pads", "onsets", "sure"}` for each strike in the file; return 0.

    `t` is the start of the stroke and `onsets` the time of each pad's first touch; `decided` is the length of the
    stream in seconds at the decision: a file cut there gives the same line. With `--knocked` the status is 2 if a
    pad is felt as another. Raises `UsageError` for unusable arguments or files.
    """
    args = mat_strikes_parser().parse_args(argv)
    name: str = args.file
    knocked = _knocked_pads(args.knocked) if args.knocked is not None else None
    settings = replace(SETTINGS_BY_SENSOR[args.sensor], reference=args.reference)
    from pi_controller.sensing.faults import compare_knocks
    from pi_controller.sensing.wav import WavReader

    printed: set[str] = set()

    def warn(line: str) -> None:
        if line not in printed:
            printed.add(line)
            print(line, file=sys.stderr)

    def read(file: BinaryIO, name: str) -> int:
        felt = _print_strikes(WavReader(file, name, warn), settings, warn)
        faults = compare_knocks(knocked, felt) if knocked is not None else {}
        for pad, why in faults.items():
            warn(f"{name}: pad {pad}: {why}.")
        return 2 if faults else 0

    if name == "-":
        return read(sys.stdin.buffer, "standard input")
    try:
        file = Path(name).open("rb")  # noqa: SIM115 - only opening may fail here
    except (OSError, ValueError) as error:
        raise UsageError(f"{name}: {describe_error(error)}.", "Name a WAV file that can be read.") from error
    with file:
        return read(file, name)


def _knocked_pads(text: str) -> list[int]:
    try:
        pads = [int(pad) for pad in text.split(",")]
    except ValueError:
        pads = [0]
    if not all(1 <= pad <= 8 for pad in pads):
        raise UsageError(f"--knocked {text}: these are not pads.", "Name them in turn: --knocked 1,2,3,4.")
    return pads


def _print_strikes(reader: WavReader, settings: StrikeSettings, warn: Callable[[str], None]) -> list[int]:
    """Print the strikes; return the pads struck first."""
    from pi_controller.sensing.wav import detect_strikes

    felt: list[int] = []
    for d, onsets, decided in detect_strikes(reader, settings, warn):
        line = {
            "pad": d.pad,
            "t": round(onsets[0], 6),
            "decided": round(decided, 6),
            "margin_db": round(d.margin_db, 1),
            "pads": list(d.pads),
            "onsets": [round(t, 6) for t in onsets],
            "sure": d.sure,
        }
        print(json.dumps(line), flush=True)
        felt.append(d.pad)
    return felt


def game_review_parser() -> Parser:
    """Return the parser of `game review`."""
    parser = Parser("game review", "Draw the sensor levels 200 ms around each hit, and the decision.")
    parser.add_argument("journal", metavar="JOURNAL", help="the table's journal; the hits are stored beside it")
    parser.add_argument("--hide", metavar="N", type=int, help="only this hide (default: the last one with a hit)")
    parser.add_argument("--all", action="store_true", help="every stored hit")
    parser.add_argument(
        "--svg", metavar="FILE", default="hit.svg", help="the picture (default hit.svg); of several hits hit-1.svg ..."
    )
    return parser


def game_review(argv: Sequence[str]) -> int:
    """Draw the hits; return 0. Raises `RecordingError` if none are stored."""
    args = game_review_parser().parse_args(argv)
    if args.hide is not None and args.all:
        raise UsageError("--hide and --all cannot be used together", "use one of the two")
    from pi_controller.display.hit_plot import hit_svg
    from pi_controller.recording.entries import RecordingError
    from pi_controller.recording.hits import hits_path, strokes

    found = strokes(hits_path(args.journal), args.hide)
    if found and args.hide is None and not args.all:
        found = [stroke for stroke in found if stroke.hide == found[-1].hide]
    if not found:
        raise RecordingError(
            "no hit is stored" + (f" of hide {args.hide}" if args.hide is not None else " yet"),
            "hits are stored a moment after they are felt; hits entered by hand are not",
        )
    for n, stroke in enumerate(found, 1):
        path = Path(args.svg)
        if len(found) > 1:
            path = path.with_name(f"{path.stem}-{n}{path.suffix or '.svg'}")
        try:
            path.write_text(hit_svg(stroke), "utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {describe_error(error)}", "choose another file") from error
        print(f"hide {stroke.hide}: {path}")
    return 0

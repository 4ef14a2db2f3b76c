"""`moccasin-mat strikes FILE.wav`: print the strikes in a recording as JSON lines, each as soon as it is detected."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pi_controller.cli.arguments import Parser
from pi_controller.errors import UsageError
from pi_controller.sensing.strike_settings import SETTINGS_BY_SENSOR, StrikeSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_controller.sensing.wav import WavReader


def parser() -> Parser:
    """Return the parser."""
    parser = Parser(
        "strikes",
        "Find the strikes in a WAV file of 1 to 8 channels, each a pad. One JSON a line.",
        "0 done; with --knocked 2 if pads are swapped",
    )
    parser.add_argument("file", metavar="FILE.wav", help="the recording, or - for standard input")
    parser.add_argument(
        "--sensor", choices=sorted(SETTINGS_BY_SENSOR), default="piezo", help="kind of the pads' sensors"
    )
    parser.add_argument("--reference", action="store_true", help="the last channel is a disc on the frame, not a pad")
    parser.add_argument("--knocked", metavar="1,2,...", help="pads knocked on in turn: report swapped ones")
    return parser


def main(argv: Sequence[str]) -> int:
    """Print `{"pad", "t", "decided", "margin_db", "pads", "onsets", "sure"}` for each strike in the file; return 0.

    `t` is the start of the stroke and `onsets` the time of each pad's first touch; `decided` is the length of the
    stream in seconds at the decision: a file cut there gives the same line. With `--knocked` the status is 2 if pads
    are swapped. Raises `UsageError` for unusable arguments or files.
    """
    args = parser().parse_args(argv)
    name: str = args.file
    knocked = _parse_pads(args.knocked) if args.knocked is not None else None
    settings = replace(SETTINGS_BY_SENSOR[args.sensor], reference=args.reference)
    from pi_controller.sensing.faults import find_swapped_pads
    from pi_controller.sensing.wav import WavReader

    printed: set[str] = set()

    def warn(line: str) -> None:
        if line not in printed:
            printed.add(line)
            print(line, file=sys.stderr)

    def read(file: BinaryIO, name: str) -> int:
        felt = _print(WavReader(file, name, warn), settings, warn)
        faults = find_swapped_pads(knocked, felt) if knocked is not None else {}
        for pad, why in faults.items():
            warn(f"{name}: pad {pad}: {why}.")
        return 2 if faults else 0

    if name == "-":
        return read(sys.stdin.buffer, "standard input")
    try:
        file = Path(name).open("rb")  # noqa: SIM115 - only opening may fail here
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{name}: {why}.", "Name a WAV file that can be read.") from error
    with file:
        return read(file, name)


def _parse_pads(text: str) -> list[int]:
    try:
        pads = [int(pad) for pad in text.split(",")]
    except ValueError:
        pads = [0]
    if not all(1 <= pad <= 8 for pad in pads):
        raise UsageError(f"--knocked {text}: these are not pads.", "Name them in turn: --knocked 1,2,3,4.")
    return pads


def _print(reader: WavReader, settings: StrikeSettings, warn: Callable[[str], None]) -> list[int]:
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
